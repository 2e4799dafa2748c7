//! Paths in JSON: as text, or as bytes where they are none. Linux's are any bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(PathBuf),
    Bytes(Vec<u8>),
}

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => text.serialize(serializer),
        None => path.as_os_str().as_bytes().serialize(serializer),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(deserializer)? {
        Form::Text(path) => path,
        Form::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Binary;

    #[test]
    fn a_path_comes_back_whatever_its_bytes_are() {
        for (bytes, json) in
            [(&b"/x/test"[..], r#""path":"/x/test""#), (b"na\xffme", r#""path":[110,97,255,"#)]
        {
            let binary = Binary { path: OsString::from_vec(bytes.to_vec()).into(), build_id: None };
            let text = serde_json::to_string(&binary).unwrap();
            assert!(text.contains(json), "{text}");
            assert_eq!(serde_json::from_str::<Binary>(&text).unwrap(), binary);
        }
    }
}
