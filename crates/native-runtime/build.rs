//! gcc's programs ask the loader for `libtsan.so.2`; under that name the recorder takes their place.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtsan.so.2");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
