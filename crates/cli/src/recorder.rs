//! The recorder that this binary carries inside, so that there is nothing else to install.

use runner::{Recorder, RecorderImages};

const IMAGES: RecorderImages = RecorderImages {
    shared: include_bytes!(concat!(env!("OUT_DIR"), "/libtsan.so.2")),
    archive: include_bytes!(concat!(env!("OUT_DIR"), "/libunsnarl_runtime.a")),
    agent: include_bytes!(concat!(env!("OUT_DIR"), "/libunsnarl_jvm_agent.so")),
};

/// Unpacks the recorder, unless it is there already.
pub fn unpack() -> runner::Result<Recorder> {
    Recorder::unpack(IMAGES)
}
