//! The errors of bodies that cannot be decoded, in upstream's words.

use kubist_api::Kind;
use kubist_apimachinery::Status;
use std::fmt::Write;

/// Bytes of a malformed body shown in an error.
const SHOWN_BYTES_MAX: usize = 30;

pub(super) fn refused(kind: &'static Kind, why: &str) -> Status {
    refused_as(kind, kind.facts().version, why)
}

/// Refuses an object of this kind in another version.
pub(super) fn refused_as(kind: &'static Kind, version: &str, why: &str) -> Status {
    let kind = kind.facts().kind;
    Status::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {why}"
    ))
}

pub(crate) fn unrecognized(kind: &'static Kind, why: &str, body: &[u8]) -> Status {
    let kind = kind.facts().kind;
    let shown = shown(body);
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({shown})"
    ))
}

/// Returns the beginning of a body: as text if it may be JSON, otherwise in hexadecimal.
fn shown(body: &[u8]) -> String {
    let (start, dots) = match body.get(..SHOWN_BYTES_MAX) {
        Some(start) if body.len() > SHOWN_BYTES_MAX => (start, " ..."),
        _ => (body, ""),
    };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(start)),
        Some(_) => {
            let hex = start.iter().fold(String::new(), |mut hex, byte| {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            format!("{hex}{dots}")
        }
    }
}
