//! Atomics. The operation itself is done here, at the moment that the record says: their order is the true one.
//!
//! All but stores are sequentially consistent, whatever the program asked for: that makes no difference to the processor
//! here, or the recorder's own lock around them is a full barrier already.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use recording::flag;

use crate::atomic_locks::{self, Operation};
use crate::cells::{self, Kind};
use crate::real::with_caller;
use crate::{context, control, in_turn, lock_code, sampling, thread};

/// Does the operation, recorded if the thread is. `operate` is called exactly once, and says what came of it and what kind
/// it turned out to be. `exchange` is what it replaces by what, if it does so only if it finds the former.
#[inline(always)]
unsafe fn recorded<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    exchange: Option<(u64, u64)>,
    mut operate: impl FnMut() -> (Result, Kind),
) -> Result {
    match in_turn::operate::<SIZE, Result>(address, pc, &mut operate) {
        Some(result) => result,
        None => recorded_apart::<SIZE, Result>(address, pc, exchange, operate),
    }
}

/// Apart, so that what `operate` refers to need not be in memory elsewhere.
#[inline(never)]
unsafe fn recorded_apart<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    exchange: Option<(u64, u64)>,
    mut operate: impl FnMut() -> (Result, Kind),
) -> Result {
    if let Some(result) = in_turn::operate_contested::<SIZE, Result>(address, pc, &mut operate) {
        return result;
    }
    let mut result = MaybeUninit::uninit();
    recorded_in_any_case(address, SIZE, pc, exchange, &mut || {
        let (value, kind) = operate();
        result.write(value);
        kind
    });
    result.assume_init()
}

#[inline(never)]
pub unsafe fn recorded_in_any_case(
    address: usize,
    size: usize,
    pc: usize,
    exchange: Option<(u64, u64)>,
    operate: &mut dyn FnMut() -> Kind,
) {
    let left_out = sampling::leaves_out();
    match if left_out && !lock_code::is_present() { None } else { thread::enter() } {
        Some(thread) => {
            if let Some(role) = lock_code::role(thread, pc) {
                let operation = Operation { address, size, pc, exchange };
                atomic_locks::operate(thread, role, &operation, operate);
            } else if left_out || !sampling::enter(thread, address, size) {
                operate();
            } else {
                atomic_locks::settle(thread);
                let leaf = context::leaf(thread.tls, pc);
                let word = size.min(8);
                control::before_atomic(thread, address, Kind::Update, leaf, pc);
                cells::touch_atomically(thread, address, word, flag::ATOMIC, leaf, operate);
                sampling::leave(thread);
            }
            thread::leave(thread);
        }
        None => {
            operate();
        }
    }
}

/// A read: unlike other operations it may be done twice.
#[inline(always)]
unsafe fn recorded_read<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    read: impl Fn() -> Result,
) -> Result {
    match in_turn::read::<SIZE, Result>(address, pc, &read) {
        Some(result) => result,
        None => read_apart::<SIZE, Result>(address, pc, read),
    }
}

#[inline(never)]
unsafe fn read_apart<const SIZE: usize, Result>(
    address: usize,
    pc: usize,
    read: impl Fn() -> Result,
) -> Result {
    if let Some(result) = in_turn::read_contested::<SIZE, Result>(address, pc, &read) {
        return result;
    }
    let mut result = MaybeUninit::uninit();
    read_in_any_case(address, SIZE, pc, &mut || {
        result.write(read());
        Kind::Read
    });
    result.assume_init()
}

#[inline(never)]
unsafe fn read_in_any_case(address: usize, size: usize, pc: usize, read: &mut dyn FnMut() -> Kind) {
    let left_out = sampling::leaves_out();
    match if left_out && !lock_code::is_present() { None } else { thread::enter() } {
        Some(thread) => {
            if let Some(role) = lock_code::role(thread, pc) {
                let operation = Operation { address, size, pc, exchange: None };
                atomic_locks::operate(thread, role, &operation, read);
            } else if left_out || !sampling::enter(thread, address, size) {
                read();
            } else {
                atomic_locks::settle(thread);
                let leaf = context::leaf(thread.tls, pc);
                control::before_atomic(thread, address, Kind::Read, leaf, pc);
                if !cells::read_again(thread, address, size, leaf, read) {
                    cells::touch_atomically(thread, address, size, flag::ATOMIC, leaf, read);
                }
                sampling::leave(thread);
            }
            thread::leave(thread);
        }
        None => {
            read();
        }
    }
}

/// A barrier behind a store costs as much as the recorder's lock before it, and few programs ask for it.
fn order_of_store(asked: c_int) -> Ordering {
    const RELAXED: c_int = 0;
    const RELEASE: c_int = 3;
    if matches!(asked, RELAXED | RELEASE) { Ordering::Release } else { Ordering::SeqCst }
}

macro_rules! atomic {
    ($value:ty, $atomic:ty,
     $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident
     $strong:ident $weak:ident $val:ident, $module:ident) => {
        with_caller! {
            $load => 2, $module::load;
            $store => 3, $module::store;
            $exchange => 3, $module::exchange;
            $add => 3, $module::fetch_add;
            $sub => 3, $module::fetch_sub;
            $and => 3, $module::fetch_and;
            $or => 3, $module::fetch_or;
            $xor => 3, $module::fetch_xor;
            $nand => 3, $module::fetch_nand;
            $strong => 5, $module::compare_exchange;
            $weak => 5, $module::compare_exchange;
            $val => 5, $module::compare_exchange_value;
        }

        mod $module {
            use super::*;
            const SIZE: usize = size_of::<$value>();

            unsafe fn at(address: usize) -> &'static $atomic {
                <$atomic>::from_ptr(address as *mut $value)
            }

            pub unsafe extern "C" fn load(address: usize, _: c_int, pc: usize) -> $value {
                recorded_read::<SIZE, _>(address, pc, || at(address).load(Ordering::SeqCst))
            }

            pub unsafe extern "C" fn store(address: usize, value: $value, order: c_int, pc: usize) {
                recorded::<SIZE, _>(address, pc, None, || {
                    (at(address).store(value, order_of_store(order)), Kind::Write)
                });
            }

            unsafe fn update(address: usize, pc: usize, change: impl Fn(&$atomic) -> $value) -> $value {
                recorded::<SIZE, _>(address, pc, None, || (change(at(address)), Kind::Update))
            }

            pub unsafe extern "C" fn exchange(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.swap(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_add(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.fetch_add(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_sub(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.fetch_sub(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_and(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.fetch_and(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_or(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.fetch_or(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_xor(address: usize, value: $value, _: c_int, pc: usize) -> $value {
                update(address, pc, |at| at.fetch_xor(value, Ordering::SeqCst))
            }

            pub unsafe extern "C" fn fetch_nand(
                address: usize,
                value: $value,
                _: c_int,
                pc: usize,
            ) -> $value {
                update(address, pc, |at| at.fetch_nand(value, Ordering::SeqCst))
            }

            unsafe fn exchange_if(
                address: usize,
                expected: $value,
                new: $value,
                pc: usize,
            ) -> Result<$value, $value> {
                let exchange = Some((expected as u64, new as u64));
                recorded::<SIZE, _>(address, pc, exchange, || {
                    let result =
                        at(address).compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                    // One that fails has only looked.
                    (result, if result.is_ok() { Kind::Update } else { Kind::Read })
                })
            }

            pub unsafe extern "C" fn compare_exchange(
                address: usize,
                expected: *mut $value,
                new: $value,
                _: c_int,
                _: c_int,
                pc: usize,
            ) -> c_int {
                match exchange_if(address, *expected, new, pc) {
                    Ok(_) => 1,
                    Err(found) => {
                        *expected = found;
                        0
                    }
                }
            }

            pub unsafe extern "C" fn compare_exchange_value(
                address: usize,
                expected: $value,
                new: $value,
                _: c_int,
                _: c_int,
                pc: usize,
            ) -> $value {
                exchange_if(address, expected, new, pc).unwrap_or_else(|found| found)
            }
        }
    };
}

atomic!(u8, AtomicU8,
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
    __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
    __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_compare_exchange_val, bits8);
atomic!(u16, AtomicU16,
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
    __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
    __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_compare_exchange_val, bits16);
atomic!(u32, AtomicU32,
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
    __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
    __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_compare_exchange_val, bits32);
atomic!(u64, AtomicU64,
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
    __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
    __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_compare_exchange_val, bits64);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_thread_fence(_: c_int) {
    core::sync::atomic::fence(Ordering::SeqCst);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_signal_fence(_: c_int) {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Sixteen bytes: values travel in two registers.
#[cfg(target_arch = "x86_64")]
mod bits128 {
    use super::*;

    #[repr(C)]
    pub struct Pair {
        low: u64,
        high: u64,
    }

    impl Pair {
        fn of(value: u128) -> Pair {
            Pair { low: value as u64, high: (value >> 64) as u64 }
        }

        fn value(self) -> u128 {
            self.low as u128 | (self.high as u128) << 64
        }
    }

    /// In assembly, since the intrinsic becomes a call of libatomic wherever the feature is not enabled. Every
    /// x86-64 processor since 2006 has the instruction, and compilers emit it for these operations anyway.
    unsafe fn exchange_if(address: *mut u128, expected: u128, new: u128) -> u128 {
        let Pair { low: new_low, high: new_high } = Pair::of(new);
        let Pair { mut low, mut high } = Pair::of(expected);
        // rbx is the compiler's own: borrowed for the one instruction that wants it.
        core::arch::asm!(
            "xchg {new_low}, rbx",
            "lock cmpxchg16b xmmword ptr [{address}]",
            "mov rbx, {new_low}",
            address = in(reg) address,
            new_low = inout(reg) new_low => _,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") new_high,
            options(nostack),
        );
        Pair { low, high }.value()
    }

    /// Replaces the value by what `change` makes of it, and returns the old one.
    unsafe fn update(address: usize, change: impl Fn(u128) -> u128) -> u128 {
        let address = address as *mut u128;
        let mut old = 0;
        loop {
            let found = exchange_if(address, old, change(old));
            if found == old {
                return old;
            }
            old = found;
        }
    }

    /// Both halves are one operation but two words of shadow: the second word is noted after the first.
    unsafe fn recorded_pair(address: usize, pc: usize, operate: &mut dyn FnMut() -> Kind) {
        let kind = recorded::<8, _>(address, pc, None, || {
            let kind = operate();
            (kind, kind)
        });
        recorded::<8, _>(address + 8, pc, None, || ((), kind));
    }

    pub unsafe extern "C" fn load(address: usize, _: c_int, pc: usize) -> Pair {
        let mut result = 0;
        recorded_pair(address, pc, &mut || {
            result = exchange_if(address as *mut u128, 0, 0);
            Kind::Read
        });
        Pair::of(result)
    }

    unsafe fn recorded_update(address: usize, pc: usize, kind: Kind, change: impl Fn(u128) -> u128) -> Pair {
        let mut result = 0;
        recorded_pair(address, pc, &mut || {
            result = update(address, &change);
            kind
        });
        Pair::of(result)
    }

    pub unsafe extern "C" fn store(address: usize, value: Pair, _: c_int, pc: usize) {
        let value = value.value();
        recorded_update(address, pc, Kind::Write, |_| value);
    }

    macro_rules! updates {
        ($($name:ident: $change:expr;)*) => {
            $(
                pub unsafe extern "C" fn $name(address: usize, value: Pair, _: c_int, pc: usize) -> Pair {
                    let value = value.value();
                    let change: fn(u128, u128) -> u128 = $change;
                    recorded_update(address, pc, Kind::Update, |old| change(old, value))
                }
            )*
        };
    }

    updates! {
        exchange: |_, value| value;
        fetch_add: |old, value| old.wrapping_add(value);
        fetch_sub: |old, value| old.wrapping_sub(value);
        fetch_and: |old, value| old & value;
        fetch_or: |old, value| old | value;
        fetch_xor: |old, value| old ^ value;
        fetch_nand: |old, value| !(old & value);
    }

    unsafe fn recorded_exchange_if(address: usize, expected: u128, new: u128, pc: usize) -> u128 {
        let mut found = 0;
        recorded_pair(address, pc, &mut || {
            found = exchange_if(address as *mut u128, expected, new);
            if found == expected { Kind::Update } else { Kind::Read }
        });
        found
    }

    pub unsafe extern "C" fn compare_exchange(
        address: usize,
        expected: *mut u128,
        new: Pair,
        _: c_int,
        _: c_int,
        pc: usize,
    ) -> c_int {
        let wanted = expected.read_unaligned();
        let found = recorded_exchange_if(address, wanted, new.value(), pc);
        expected.write_unaligned(found);
        (found == wanted) as c_int
    }

    pub unsafe extern "C" fn compare_exchange_value(
        address: usize,
        expected: Pair,
        new: Pair,
        _: c_int,
        _: c_int,
        pc: usize,
    ) -> Pair {
        Pair::of(recorded_exchange_if(address, expected.value(), new.value(), pc))
    }

    with_caller! {
        __tsan_atomic128_load => 2, load;
        __tsan_atomic128_store => 4, store;
        __tsan_atomic128_exchange => 4, exchange;
        __tsan_atomic128_fetch_add => 4, fetch_add;
        __tsan_atomic128_fetch_sub => 4, fetch_sub;
        __tsan_atomic128_fetch_and => 4, fetch_and;
        __tsan_atomic128_fetch_or => 4, fetch_or;
        __tsan_atomic128_fetch_xor => 4, fetch_xor;
        __tsan_atomic128_fetch_nand => 4, fetch_nand;
    }

    /// These have no register left for the caller's address: it goes onto the stack. (The value form has six
    /// arguments in registers and one of its own on the stack, after which ours follows.)
    macro_rules! with_caller_on_stack {
        ($($name:ident, $target:path;)*) => {
            $(
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn $name() {
                    core::arch::naked_asm!("push [rsp]", "call {}", "add rsp, 8", "ret", sym $target)
                }
            )*
        };
    }

    with_caller_on_stack! {
        __tsan_atomic128_compare_exchange_strong, compare_exchange;
        __tsan_atomic128_compare_exchange_weak, compare_exchange;
    }

    #[unsafe(naked)]
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_val() {
        core::arch::naked_asm!(
            "mov rax, [rsp]",
            "mov r10, [rsp + 8]",
            "sub rsp, 8",
            "push rax",
            "push r10",
            "call {}",
            "add rsp, 24",
            "ret",
            sym compare_exchange_value
        )
    }
}
