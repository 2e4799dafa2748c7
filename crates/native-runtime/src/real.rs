//! The functions that the recorder stands in front of.
//!
//! Usually the loader knows them. A wholly static program has none: it is linked with copies of the libraries in which each of
//! these functions has a name of its own, [`linked`](linked!), which is defined in no other program.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// One intercepted function; looked up at its first use.
pub struct Real {
    name: &'static CStr,
    /// Symbol version to ask for first: the C library keeps an older, incompatible one under the same name.
    version: Option<&'static CStr>,
    /// Where it is in a wholly static program.
    linked: fn() -> *mut c_void,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(name: &'static CStr, linked: fn() -> *mut c_void) -> Real {
        Real { name, version: None, linked, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    pub const fn versioned(name: &'static CStr, version: &'static CStr, linked: fn() -> *mut c_void) -> Real {
        Real { name, version: Some(version), linked, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Null if nobody else defines it.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let mut address = (self.linked)();
        if address.is_null() && !is_static() {
            address = self.ask_loader();
        }
        self.address.store(address, Ordering::Relaxed);
        address
    }

    fn ask_loader(&self) -> *mut c_void {
        // SAFETY: names end in zero.
        unsafe {
            let versioned = match self.version {
                Some(version) => libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()),
                None => core::ptr::null_mut(),
            };
            if versioned.is_null() { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } else { versioned }
        }
    }
}

/// A function that tells where this function of a library's is in a wholly static program; null in any other. The name under
/// which it is linked there is known to the linker alone: a weak reference that no loader is asked about.
#[cfg(target_arch = "x86_64")]
macro_rules! linked {
    ($name:ident) => {{
        fn linked() -> *mut core::ffi::c_void {
            let address: *mut core::ffi::c_void;
            // SAFETY: reads a link-time constant.
            unsafe {
                core::arch::asm!(
                    concat!(".weak __unsnarl_real_", stringify!($name)),
                    concat!(".hidden __unsnarl_real_", stringify!($name)),
                    concat!("mov {0}, qword ptr [rip + __unsnarl_real_", stringify!($name), "@GOTPCREL]"),
                    out(reg) address,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            address
        }
        linked
    }};
}

#[cfg(target_arch = "aarch64")]
macro_rules! linked {
    ($name:ident) => {{
        fn linked() -> *mut core::ffi::c_void {
            let address: *mut core::ffi::c_void;
            // SAFETY: reads a link-time constant.
            unsafe {
                core::arch::asm!(
                    concat!(".weak __unsnarl_real_", stringify!($name)),
                    concat!(".hidden __unsnarl_real_", stringify!($name)),
                    concat!("adrp {0}, :got:__unsnarl_real_", stringify!($name)),
                    concat!("ldr {0}, [{0}, :got_lo12:__unsnarl_real_", stringify!($name), "]"),
                    out(reg) address,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            address
        }
        linked
    }};
}

/// Is this a wholly static program? `dlsym` must not be called there.
fn is_static() -> bool {
    !linked!(malloc)().is_null()
}

/// Calls the real function: `real!(pthread_join(thread: usize, out: usize) -> i32)(thread, out)` gives a function pointer.
macro_rules! real {
    ($name:ident($($argument:ty),*) $(-> $result:ty)?) => {{
        static REAL: $crate::real::Real = {
            // SAFETY: the literal ends in its only zero.
            let name = unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) };
            $crate::real::Real::new(name, $crate::real::linked!($name))
        };
        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(REAL.address())
    }};
    ($name:ident($($argument:ty),*) $(-> $result:ty)?, $version:literal) => {{
        static REAL: $crate::real::Real = {
            // SAFETY: the literal ends in its only zero.
            let name = unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) };
            $crate::real::Real::versioned(name, $version, $crate::real::linked!($name))
        };
        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(REAL.address())
    }};
}

/// Exports a function that passes on its caller's address as one more argument, the one with number `$argument`, and
/// where its caller's frame ends and its frame pointer as the next two, if told so.
macro_rules! with_caller {
    ($name:ident => $argument:tt with frame, $target:path;) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::real::frame_after!($argument),
                $crate::real::caller_to!($argument),
                $crate::real::jump!(),
                sym $target
            )
        }
    };
    ($($name:ident => $argument:tt, $target:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!($crate::real::caller_to!($argument), $crate::real::jump!(), sym $target)
            }
        )*
    };
}

/// Exports a function that passes on, as two more arguments beginning with the one of this number, what
/// [`Place::of_call`](crate::unwind::Place::of_call) makes its caller's place of.
macro_rules! with_place {
    ($($name:ident => $argument:tt, $target:path;)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!($crate::real::place_to!($argument), $crate::real::jump!(), sym $target)
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! place_to {
    (1) => {
        "lea rsi, [rsp + 8]
        mov rdx, rbp"
    };
    (2) => {
        "lea rdx, [rsp + 8]
        mov rcx, rbp"
    };
    (4) => {
        "lea r8, [rsp + 8]
        mov r9, rbp"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! place_to {
    (1) => {
        "mov x1, x30
        mov x2, x29"
    };
    (2) => {
        "mov x2, x30
        mov x3, x29"
    };
    (4) => {
        "mov x4, x30
        mov x5, x29"
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! caller_to {
    (0) => {
        "mov rdi, [rsp]"
    };
    (1) => {
        "mov rsi, [rsp]"
    };
    (2) => {
        "mov rdx, [rsp]"
    };
    (3) => {
        "mov rcx, [rsp]"
    };
    (4) => {
        "mov r8, [rsp]"
    };
    (5) => {
        "mov r9, [rsp]"
    };
}

/// The lowest address of the caller's frame and its frame pointer, to the arguments after this one.
#[cfg(target_arch = "x86_64")]
macro_rules! frame_after {
    (1) => {
        "lea rdx, [rsp + 8]
        mov rcx, rbp"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! frame_after {
    (1) => {
        "mov x2, x29
        mov x3, x29"
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    () => {
        "jmp {}"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! caller_to {
    (0) => {
        "mov x0, x30"
    };
    (1) => {
        "mov x1, x30"
    };
    (2) => {
        "mov x2, x30"
    };
    (3) => {
        "mov x3, x30"
    };
    (4) => {
        "mov x4, x30"
    };
    (5) => {
        "mov x5, x30"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    () => {
        "b {}"
    };
}

pub(crate) use {caller_to, frame_after, jump, linked, place_to, real, with_caller, with_place};
