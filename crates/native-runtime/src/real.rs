//! The functions that the recorder stands in front of.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// One intercepted function; looked up at its first use.
pub struct Real {
    name: &'static CStr,
    /// Symbol version to ask for first: the C library keeps an older, incompatible one under the same name.
    version: Option<&'static CStr>,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, version: None, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Real {
        Real { name, version: Some(version), address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Null if nobody else defines it.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: names end in zero.
        let address = unsafe {
            let versioned = match self.version {
                Some(version) => libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()),
                None => core::ptr::null_mut(),
            };
            if versioned.is_null() { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } else { versioned }
        };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Calls the real function: `real!(pthread_join(thread: usize, out: usize) -> i32)(thread, out)` gives a function pointer.
macro_rules! real {
    ($name:ident($($argument:ty),*) $(-> $result:ty)?) => {{
        static REAL: $crate::real::Real = {
            // SAFETY: the literal ends in its only zero.
            let name = unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) };
            $crate::real::Real::new(name)
        };
        core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(REAL.address())
    }};
    ($name:ident($($argument:ty),*) $(-> $result:ty)?, $version:literal) => {{
        static REAL: $crate::real::Real = {
            // SAFETY: the literal ends in its only zero.
            let name = unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) };
            $crate::real::Real::versioned(name, $version)
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

pub(crate) use {caller_to, frame_after, jump, place_to, real, with_caller, with_place};
