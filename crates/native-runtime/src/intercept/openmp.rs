//! OpenMP as gcc and clang compile it: their runtimes, libgomp and libomp, have no hooks and wait by themselves, so
//! critical sections, locks and barriers are seen where the program calls for them.
//!
//! Threads of a team meet at the same barrier in the code, so that its call stands for it. What teams do to begin and to
//! end, tasks and reductions are not followed: nothing is claimed about their order.

use core::ffi::c_int;
use core::sync::atomic::AtomicU32;

use recording::EventKind;

use crate::real::{real, with_caller};
use crate::sync;

with_caller! {
    GOMP_critical_start => 0, critical_start;
    GOMP_critical_end => 0, critical_end;
    GOMP_critical_name_start => 1, named_critical_start;
    GOMP_critical_name_end => 1, named_critical_end;
    GOMP_atomic_start => 0, atomic_start;
    GOMP_atomic_end => 0, atomic_end;
    omp_set_lock => 1, set_lock;
    omp_test_lock => 1, test_lock;
    omp_unset_lock => 1, unset_lock;
    omp_set_nest_lock => 1, set_nest_lock;
    omp_test_nest_lock => 1, test_nest_lock;
    omp_unset_nest_lock => 1, unset_nest_lock;
    GOMP_barrier => 0, barrier;
    GOMP_loop_end => 0, loop_end;
    GOMP_sections_end => 0, sections_end;
    __kmpc_critical => 3, clangs_critical_start;
    __kmpc_critical_with_hint => 4, clangs_critical_start_with_hint;
    __kmpc_end_critical => 3, clangs_critical_end;
    __kmpc_barrier => 2, clangs_barrier;
}

/// These have no address of their own. The report knows them by their symbols.
#[unsafe(export_name = "unsnarl_omp_critical")]
static UNNAMED_CRITICAL: AtomicU32 = AtomicU32::new(0);
#[unsafe(export_name = "unsnarl_omp_atomic")]
static ATOMIC: AtomicU32 = AtomicU32::new(0);

fn address(of: &'static AtomicU32) -> usize {
    of.as_ptr() as usize
}

unsafe fn take(lock: usize, pc: usize, wait: impl FnOnce()) {
    sync::before_waiting(EventKind::Acquire, lock, pc);
    wait();
    sync::after_waiting();
    sync::acquired(lock, pc);
}

unsafe fn give_back(lock: usize, pc: usize, release: impl FnOnce()) {
    sync::releasing(lock, pc);
    release();
    sync::released(lock, pc);
}

unsafe extern "C" fn critical_start(pc: usize) {
    take(address(&UNNAMED_CRITICAL), pc, || real!(GOMP_critical_start())());
}

unsafe extern "C" fn critical_end(pc: usize) {
    give_back(address(&UNNAMED_CRITICAL), pc, || real!(GOMP_critical_end())());
}

unsafe extern "C" fn named_critical_start(name: usize, pc: usize) {
    take(name, pc, || real!(GOMP_critical_name_start(usize))(name));
}

unsafe extern "C" fn named_critical_end(name: usize, pc: usize) {
    give_back(name, pc, || real!(GOMP_critical_name_end(usize))(name));
}

unsafe extern "C" fn atomic_start(pc: usize) {
    take(address(&ATOMIC), pc, || real!(GOMP_atomic_start())());
}

unsafe extern "C" fn atomic_end(pc: usize) {
    give_back(address(&ATOMIC), pc, || real!(GOMP_atomic_end())());
}

unsafe extern "C" fn set_lock(lock: usize, pc: usize) {
    take(lock, pc, || real!(omp_set_lock(usize))(lock));
}

unsafe extern "C" fn unset_lock(lock: usize, pc: usize) {
    give_back(lock, pc, || real!(omp_unset_lock(usize))(lock));
}

unsafe extern "C" fn set_nest_lock(lock: usize, pc: usize) {
    take(lock, pc, || real!(omp_set_nest_lock(usize))(lock));
}

unsafe extern "C" fn unset_nest_lock(lock: usize, pc: usize) {
    give_back(lock, pc, || real!(omp_unset_nest_lock(usize))(lock));
}

/// The result is how often the lock is held now.
unsafe fn tested(lock: usize, result: c_int, pc: usize) -> c_int {
    if result != 0 {
        sync::acquired(lock, pc);
    }
    result
}

unsafe extern "C" fn test_lock(lock: usize, pc: usize) -> c_int {
    sync::disturb(lock, pc);
    tested(lock, real!(omp_test_lock(usize) -> c_int)(lock), pc)
}

unsafe extern "C" fn test_nest_lock(lock: usize, pc: usize) -> c_int {
    sync::disturb(lock, pc);
    tested(lock, real!(omp_test_nest_lock(usize) -> c_int)(lock), pc)
}

unsafe fn meet(pc: usize, wait: impl FnOnce()) {
    sync::happened(EventKind::BarrierEnter, pc, 0, pc);
    sync::before_waiting(EventKind::BarrierEnter, pc, pc);
    wait();
    sync::after_waiting();
    sync::happened(EventKind::BarrierLeave, pc, 0, pc);
}

unsafe extern "C" fn barrier(pc: usize) {
    meet(pc, || real!(GOMP_barrier())());
}

unsafe extern "C" fn loop_end(pc: usize) {
    meet(pc, || real!(GOMP_loop_end())());
}

unsafe extern "C" fn sections_end(pc: usize) {
    meet(pc, || real!(GOMP_sections_end())());
}

unsafe extern "C" fn clangs_critical_start(place: usize, thread: c_int, name: usize, pc: usize) {
    take(name, pc, || real!(__kmpc_critical(usize, c_int, usize))(place, thread, name));
}

unsafe extern "C" fn clangs_critical_start_with_hint(
    place: usize,
    thread: c_int,
    name: usize,
    hint: u32,
    pc: usize,
) {
    take(name, pc, || real!(__kmpc_critical_with_hint(usize, c_int, usize, u32))(place, thread, name, hint));
}

unsafe extern "C" fn clangs_critical_end(place: usize, thread: c_int, name: usize, pc: usize) {
    give_back(name, pc, || real!(__kmpc_end_critical(usize, c_int, usize))(place, thread, name));
}

unsafe extern "C" fn clangs_barrier(place: usize, thread: c_int, pc: usize) {
    meet(pc, || real!(__kmpc_barrier(usize, c_int))(place, thread));
}
