//! Threads that take turns under locks of every kind. The first argument says which; the addresses of the value and of
//! the lock go to the file `addresses`.

use std::sync::mpsc;
use std::sync::{Condvar, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

static mut VALUE: u64 = 0;

#[inline(never)]
fn change() {
    unsafe { VALUE += 1 }
}

#[inline(never)]
fn look() -> u64 {
    unsafe { VALUE }
}

fn tell<T>(lock: &T) {
    let value = &raw const VALUE;
    let (start, size) = (lock as *const T as usize, size_of::<T>());
    std::fs::write("addresses", format!("{} {start} {size}", value as usize)).unwrap();
}

const A_LONG_TIME: Duration = Duration::from_secs(600);
const A_SHORT_TIME: Duration = Duration::from_millis(5);

/// Long enough for another thread to begin to wait. Should it not, the test just sees less.
fn let_wait() {
    thread::sleep(Duration::from_millis(20));
}

/// The other thread comes while the lock is held; then both take it again and again.
fn contend(with_lock: impl Fn(&dyn Fn()) + Sync) {
    thread::scope(|scope| {
        with_lock(&|| {
            scope.spawn(|| {
                for _ in 0..20 {
                    with_lock(&change);
                }
            });
            let_wait();
            change();
        });
        for _ in 0..20 {
            with_lock(&change);
        }
    });
}

/// The same for a lock that readers share.
fn contend_with_readers(write: impl Fn(&dyn Fn()) + Sync, read: impl Fn(&dyn Fn()) + Sync) {
    contend(|work| {
        write(work);
        read(&|| {
            std::hint::black_box(look());
        });
    });
}

fn main() {
    let scenario = std::env::args().nth(1).unwrap();
    match &*scenario {
        "mutex" => {
            static LOCK: Mutex<()> = Mutex::new(());
            tell(&LOCK);
            contend(|work| {
                let _guard = LOCK.lock().unwrap();
                work();
            });
        }
        "try_lock" => {
            static LOCK: Mutex<()> = Mutex::new(());
            tell(&LOCK);
            contend(|work| {
                let _guard = loop {
                    match LOCK.try_lock() {
                        Ok(guard) => break guard,
                        Err(_) => thread::yield_now(),
                    }
                };
                work();
            });
        }
        "rwlock" => {
            static LOCK: RwLock<()> = RwLock::new(());
            tell(&LOCK);
            contend_with_readers(
                |work| {
                    let _guard = LOCK.write().unwrap();
                    work();
                },
                |work| {
                    let _guard = LOCK.read().unwrap();
                    work();
                },
            );
        }
        "condvar" => {
            static CHANGED: (Condvar, Mutex<bool>) = (Condvar::new(), Mutex::new(false));
            tell(&CHANGED.0);
            let changer = thread::spawn(|| {
                let_wait();
                let mut is_changed = CHANGED.1.lock().unwrap();
                change();
                *is_changed = true;
                CHANGED.0.notify_one();
            });
            let mut is_changed = CHANGED.1.lock().unwrap();
            while !*is_changed {
                is_changed = CHANGED.0.wait(is_changed).unwrap();
            }
            change();
            drop(is_changed);
            changer.join().unwrap();
        }
        "once" => {
            static ONCE: OnceLock<u64> = OnceLock::new();
            tell(&ONCE);
            let initialize = || {
                ONCE.get_or_init(|| {
                    let_wait();
                    change();
                    look()
                });
                look()
            };
            let other = thread::spawn(initialize);
            initialize();
            other.join().unwrap();
        }
        "park" => {
            tell(&());
            let sleeper = thread::Builder::new().name("sleeper".to_owned()).spawn(|| {
                while look() == 0 {
                    thread::park();
                }
            });
            let sleeper = sleeper.unwrap();
            let_wait();
            change();
            sleeper.thread().unpark();
            sleeper.join().unwrap();
        }
        "channel" => {
            tell(&());
            let (sender, receiver) = mpsc::channel();
            let other = thread::spawn(move || {
                let_wait();
                change();
                sender.send(()).unwrap();
            });
            receiver.recv().unwrap();
            change();
            other.join().unwrap();
        }
        "parking_lot_mutex" => {
            static LOCK: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
            tell(&LOCK);
            contend(|work| {
                let _guard = LOCK.lock();
                work();
            });
        }
        "parking_lot_rwlock" => {
            static LOCK: parking_lot::RwLock<()> = parking_lot::RwLock::new(());
            tell(&LOCK);
            contend_with_readers(
                |work| {
                    let _guard = LOCK.write();
                    work();
                },
                |work| {
                    let _guard = LOCK.read();
                    work();
                },
            );
        }
        "parking_lot_timed_mutex" => {
            static LOCK: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
            tell(&LOCK);
            contend(|work| {
                let guard = LOCK.try_lock_for(A_LONG_TIME).unwrap();
                work();
                // Handed over, if somebody waits.
                parking_lot::MutexGuard::unlock_fair(guard);
            });
        }
        "parking_lot_timed_rwlock" => {
            static LOCK: parking_lot::RwLock<()> = parking_lot::RwLock::new(());
            tell(&LOCK);
            contend_with_readers(
                |work| {
                    let guard = LOCK.try_write_for(A_LONG_TIME).unwrap();
                    work();
                    parking_lot::RwLockWriteGuard::unlock_fair(guard);
                },
                |work| {
                    let guard = LOCK.try_read_for(A_LONG_TIME).unwrap();
                    work();
                    parking_lot::RwLockReadGuard::unlock_fair(guard);
                },
            );
        }
        "parking_lot_given_up" => {
            static MUTEX: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
            static LOCK: parking_lot::RwLock<()> = parking_lot::RwLock::new(());
            tell(&());
            change();
            let (held, read) = (MUTEX.lock(), LOCK.read());
            let other = thread::spawn(|| {
                assert!(MUTEX.try_lock_for(A_SHORT_TIME).is_none());
                change();
                // No other writer can come meanwhile, but the reader does not leave.
                assert!(LOCK.try_write_for(A_SHORT_TIME).is_none());
                change();
            });
            other.join().unwrap();
            drop((held, read));
            change();
        }
        "parking_lot_condvar" => {
            static LOCK: parking_lot::Mutex<bool> = parking_lot::Mutex::new(false);
            static CHANGED: parking_lot::Condvar = parking_lot::Condvar::new();
            tell(&LOCK);
            let changer = thread::spawn(|| {
                let_wait();
                let mut is_changed = LOCK.lock();
                change();
                *is_changed = true;
                CHANGED.notify_one();
            });
            let mut is_changed = LOCK.lock();
            while !*is_changed {
                CHANGED.wait(&mut is_changed);
            }
            change();
            drop(is_changed);
            changer.join().unwrap();
        }
        other => panic!("no scenario {other}"),
    }
}
