//! Which instructions are the inside of a lock: what the runner found in the program's debug info.

use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use recording::{LockCode, LockModule, LockRole};

use crate::thread::Thread;
use crate::{context, modules, whole_file};

/// Modules with lock code; a Rust program is one, seldom more.
const MODULES: usize = 8;
/// Calls between an atomic operation and the lock that it belongs to, in code that is not optimized.
const DEPTH: usize = 16;
/// Entries of a thread's direct-mapped cache of roles.
pub const CACHED_ROLES: usize = 256;

struct Module {
    bias: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    codes: AtomicPtr<LockCode>,
    count: AtomicU32,
}

static LOADED: [Module; MODULES] = [const {
    Module {
        bias: AtomicU64::new(0),
        start: AtomicU64::new(0),
        end: AtomicU64::new(0),
        codes: AtomicPtr::new(core::ptr::null_mut()),
        count: AtomicU32::new(0),
    }
}; MODULES];
static LOADED_COUNT: AtomicU32 = AtomicU32::new(0);

/// The role of an instruction in a context, found before.
#[derive(Clone, Copy)]
pub struct CachedRole {
    address: usize,
    context: u32,
    /// As a number; zero if it has none.
    role: u32,
}

/// Reads the runner's file. The mapping stays for good.
pub unsafe fn start(path: &CStr) {
    let Some((content, bytes)) = whole_file::map(path.as_ptr()) else { return };
    let mut at = 0;
    while at + size_of::<LockModule>() <= bytes {
        let module = content.add(at).cast::<LockModule>();
        at += size_of::<LockModule>();
        let length = (*module).count as usize * size_of::<LockCode>();
        if length > bytes - at {
            break;
        }
        if let Some(image) = modules::with_build_id(&(*module).build_id) {
            add(image, content.add(at).cast(), (*module).count);
        }
        at += length;
    }
}

unsafe fn add(image: modules::Place, codes: *mut LockCode, count: u32) {
    let index = LOADED_COUNT.load(Ordering::Relaxed) as usize;
    let Some(module) = LOADED.get(index) else { return };
    module.bias.store(image.bias, Ordering::Relaxed);
    module.start.store(image.start, Ordering::Relaxed);
    module.end.store(image.end, Ordering::Relaxed);
    module.codes.store(codes, Ordering::Relaxed);
    module.count.store(count, Ordering::Relaxed);
    LOADED_COUNT.store(index as u32 + 1, Ordering::Release);
}

/// Is there any lock code?
#[inline]
pub fn is_present() -> bool {
    LOADED_COUNT.load(Ordering::Relaxed) != 0
}

/// The role of the instruction before this address, by itself.
unsafe fn role_at(address: u64) -> Option<LockRole> {
    let count = LOADED_COUNT.load(Ordering::Acquire) as usize;
    let module = LOADED[..count].iter().find(|module| {
        (module.start.load(Ordering::Relaxed)..module.end.load(Ordering::Relaxed)).contains(&address)
    })?;
    let codes = core::slice::from_raw_parts(
        module.codes.load(Ordering::Relaxed),
        module.count.load(Ordering::Relaxed) as usize,
    );
    let address = (address - 1 - module.bias.load(Ordering::Relaxed)) as u32;
    let code = codes.get(codes.partition_point(|code| code.start <= address).checked_sub(1)?)?;
    if address < code.end { LockRole::from_number(code.role) } else { None }
}

/// The role of the operation that returns to `address` in the thread's current context; none if it has nothing to do with a lock.
#[inline]
pub unsafe fn role(thread: &mut Thread, address: usize) -> Option<LockRole> {
    if !is_present() {
        return None;
    }
    let context = context::current(thread.tls);
    let cached = &mut thread.lock_roles[(address ^ (context as usize) << 3) % CACHED_ROLES];
    if cached.address != address || cached.context != context {
        let role = find(context, address as u64).map_or(0, |role| role as u32);
        *cached = CachedRole { address, context, role };
    }
    LockRole::from_number(cached.role)
}

/// Was the operation on a lock that this address is part of to give it back? Looks through the lock's insides.
#[cold]
pub unsafe fn gives_back(thread: &Thread, address: usize) -> bool {
    let context = context::current(thread.tls);
    let (role, _) = walk(context, address as u64, |role| role > LockRole::Inside);
    matches!(role, Some(LockRole::Unlock | LockRole::UnlockEither))
}

#[cold]
unsafe fn find(context: u32, address: u64) -> Option<LockRole> {
    let (role, above) = walk(context, address, |role| role != LockRole::Callers);
    if role != Some(LockRole::Unlock) {
        return role;
    }
    // Only the insides of a condition variable give back a lock that the program did not.
    let (context, address) = above;
    let caller = walk(context, address, |role| !matches!(role, LockRole::Callers | LockRole::Unlock));
    if caller.0 == Some(LockRole::Inside) { Some(LockRole::UnlockToWait) } else { role }
}

/// The first role up the stack that `tells` something, none where code begins that has no role; and where it was
/// called from.
unsafe fn walk(
    context: u32,
    address: u64,
    tells: impl Fn(LockRole) -> bool,
) -> (Option<LockRole>, (u32, u64)) {
    let (mut context, mut address) = (context, address);
    for _ in 0..DEPTH {
        let role = if address == 0 { None } else { role_at(address) };
        let here = context::table().add(context as usize);
        (context, address) = ((*here).parent, (*here).call);
        if role.is_none_or(&tells) {
            return (role, (context, address));
        }
    }
    (None, (context, address))
}
