//! The part of the C++ library that programs usually find ready-made in it.
//!
//! gcc's library has `std::string` compiled already and its headers tell compilers to rely on that, so that what threads do to a
//! string would go unseen. A switch in the library's own configuration, there for checks that need the same, has strings
//! compiled along with what uses them.
//!
//! Rejected: `-D`, since the library sets the switch itself; including the configuration ahead of everything, since a program may
//! set it up differently in its first lines; `-D_GLIBCXX_ASSERTIONS`, which sets the switch, but adds the checks too.

/// Where compilers look for headers first, in the recorder's folder.
pub(super) const HEADERS: &str = "cxx";

/// Stands before the library's configuration of the same name.
pub(crate) const CONFIGURATION: (&str, &str) = (
    "cxx/bits/c++config.h",
    "#include_next <bits/c++config.h>\n\
     #if _GLIBCXX_EXTERN_TEMPLATE > 0\n\
     #undef _GLIBCXX_EXTERN_TEMPLATE\n\
     #define _GLIBCXX_EXTERN_TEMPLATE -1\n\
     #endif\n",
);
