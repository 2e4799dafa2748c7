//! Functions of which the C library keeps old versions that behave differently.
//!
//! A program that was linked to the compiler's runtime asks for them without a version, since that runtime offers
//! them, and from the C library it would get the oldest: conditions of another size, a `realpath` that does not
//! allocate, a `sched_getaffinity` that takes no size. So the recorder offers them too, and passes on to the version
//! that programs are written for.
//!
//! Wholly static programs have one version of everything and do without: the section tells which functions these are. What the
//! recorder calls by itself stays.

macro_rules! pass_on {
    ($section:literal: $($name:ident, $version:literal;)*) => {
        $(
            /// All arguments are passed on in the registers they came in, and so is the result.
            #[unsafe(no_mangle)]
            #[unsafe(link_section = $section)]
            pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize {
                $crate::real::real!($name(usize, usize, usize, usize, usize, usize) -> usize, $version)(a, b, c, d, e, f)
            }
        )*
    };
}

pass_on! {
    ".text.unsnarl_versions":
    pthread_cond_init, c"GLIBC_2.3.2";
    pthread_cond_destroy, c"GLIBC_2.3.2";
    pthread_attr_getaffinity_np, c"GLIBC_2.3.4";
    sched_getaffinity, c"GLIBC_2.3.4";
    regexec, c"GLIBC_2.3.4";
    posix_spawn, c"GLIBC_2.15";
    posix_spawnp, c"GLIBC_2.15";
    fmemopen, c"GLIBC_2.22";
    glob, c"GLIBC_2.27";
    glob64, c"GLIBC_2.27";
}

pass_on! {
    ".text":
    realpath, c"GLIBC_2.3";
}
