//! gcc, which learns by *spec files* what to do when it compiles and when it links:
//! - its compilers proper get `-fsanitize=thread` (and `-g`), while the driver does not, since it would link
//!   gcc's own thread sanitizer;
//! - programs are linked with the static recorder, whole, and export its functions to the instrumented
//!   libraries that they load. Shared libraries get nothing: their hooks are found in the program.
//!
//! Rejected: telling the modes of gcc apart by its arguments. That is what spec files are written in, with
//! response files, `-x`, `-###`, `@file` and all.

use std::ffi::OsString;
use std::path::Path;

use super::{EXPORTED, Sanitizers, cxx_library, joined};
use crate::takeover::Recorder;

const COMPILE_SPECS: &str = "compile.specs";
const LINK_SPECS: &str = "link.specs";
/// For wholly static programs.
const STATIC_LINK_SPECS: &str = "static-link.specs";

/// Announcements; and no jumps through tables, parts of functions elsewhere, or iterations unrolled.
pub(super) const FLAGS_FOR_LOOPS: [&str; 6] = [
    "-fsanitize-coverage=trace-pc",
    "-fno-jump-tables",
    "-fno-reorder-blocks-and-partition",
    "-fno-unroll-loops",
    "-fno-peel-loops",
    "--param=max-completely-peel-times=0",
];

/// Files that gcc needs beside the recorder.
pub(crate) const SUPPORT_FILES: &[(&str, &str)] = &[
    // `cpp_unique_options` is for `-E`, which defines __SANITIZE_THREAD__ then just as a compilation does.
    (
        COMPILE_SPECS,
        "*cpp_unique_options:\n\
         + -fsanitize=thread\n\
         \n\
         *cc1_options:\n\
         + -fsanitize=thread %{!g*:-g}\n\
         \n",
    ),
    // `link_ssp` stands right before the system's libraries and is left out where those are. `%s` looks a
    // file up in the folder given by -B, whatever characters its path has.
    (
        LINK_SPECS,
        "%rename link_ssp unsnarl_link_ssp\n\
         \n\
         *link_ssp:\n\
         %(unsnarl_link_ssp) \
         %{shared:-z undefs} \
         %{!shared:%{static|static-pie:%eunsnarl records a statically linked program only if -static or \
         -static-pie is among its arguments} \
         --build-id --dynamic-list exported.list%s \
         --whole-archive libunsnarl_runtime.a%s --no-whole-archive \
         --push-state --as-needed -ldl -lpthread -lm --pop-state}\n\
         \n",
    ),
    // gcc does not have linkers make the index of unwind tables for these, in which the recorder looks functions up.
    (
        STATIC_LINK_SPECS,
        "*link:\n\
         + %{static:--eh-frame-hdr}\n\
         \n\
         %rename link_ssp unsnarl_link_ssp\n\
         \n\
         *link_ssp:\n\
         %(unsnarl_link_ssp) --build-id --whole-archive libunsnarl_runtime.a%s --no-whole-archive \
         -lpthread -lm\n\
         \n",
    ),
    ("exported.list", EXPORTED),
];

/// The whole command line for the user's arguments.
pub(super) fn command_line(
    words: &[OsString],
    recorder: &Recorder,
    wholly_static: Option<&Path>,
    sanitizers: &Sanitizers,
    arguments: &[OsString],
) -> Vec<OsString> {
    let folder = recorder.folder();
    let mut line = words.to_vec();
    if *sanitizers != Sanitizers::ThreadOptedOut {
        line.push(joined("-specs=", &folder.join(COMPILE_SPECS)));
        line.extend(["-isystem".into(), folder.join(cxx_library::HEADERS).into()]);
    }
    let link_specs = if wholly_static.is_some() { STATIC_LINK_SPECS } else { LINK_SPECS };
    line.push(joined("-specs=", &folder.join(link_specs)));
    if let Some(folder) = wholly_static {
        // Its recorder comes before the usual one, and its libraries before those in folders that the user names.
        line.push(joined("-B", &folder.join("")));
        line.push(joined("-L", folder));
    }
    // The slash makes it a folder to gcc, which otherwise takes it for the beginning of file names.
    line.push(joined("-B", &folder.join("")));
    line.extend_from_slice(arguments);
    if *sanitizers == Sanitizers::MayAskForThread {
        // Keeps the driver from linking libtsan; the compilers proper are told otherwise later in their line.
        line.push("-fno-sanitize=thread".into());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::takeover::ARCHIVE;

    #[test]
    fn the_link_specs_name_the_archive() {
        assert!(SUPPORT_FILES.iter().any(|(name, text)| *name == LINK_SPECS && text.contains(ARCHIVE)));
    }
}
