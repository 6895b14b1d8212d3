//! What etcd's gateway tells of a watch, as JSON.

use super::history::{Event, Kind};
use kubist_test_support::process::Outcome;
use serde::Deserialize;

/// A line of etcd's watch.
#[derive(Deserialize)]
pub(super) struct Told {
    pub(super) result: Changes,
}

#[derive(Deserialize)]
pub(super) struct Changes {
    #[serde(default)]
    pub(super) canceled: bool,
    #[serde(default)]
    pub(super) events: Vec<Change>,
}

#[derive(Deserialize)]
pub(super) struct Change {
    #[serde(rename = "type")]
    kind: Option<String>,
    kv: Pair,
}

#[derive(Deserialize)]
struct Pair {
    key: String,
    #[serde(default)]
    create_revision: String,
    mod_revision: String,
}

impl Change {
    pub(super) fn event(self) -> Outcome<Event> {
        let kind = if self.kind.as_deref() == Some("DELETE") {
            Kind::Deleted
        } else if self.kv.create_revision == self.kv.mod_revision {
            Kind::Added
        } else {
            Kind::Modified
        };
        Ok(Event {
            version: version(&self.kv.mod_revision)?,
            kind,
            key: self.kv.key,
        })
    }
}

/// Reads a version.
pub(super) fn version(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no version"))
}

/// Encodes bytes, as etcd's gateway has keys.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| {
            bits << 8 | usize::from(group.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * at) & 63];
            text.push(if at > group.len() {
                '='
            } else {
                char::from(digit)
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_encoded_as_the_gateway_encodes_them() {
        let texts = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("~~?~", "fn4/fg=="),
        ];
        for (text, encoded) in texts {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn what_etcd_tells_is_an_event_of_the_right_kind() {
        let kinds = [
            (
                r#"{"kv":{"key":"YQ==","create_revision":"5","mod_revision":"5"}}"#,
                Kind::Added,
            ),
            (
                r#"{"kv":{"key":"YQ==","create_revision":"4","mod_revision":"5"}}"#,
                Kind::Modified,
            ),
            (
                r#"{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"5"}}"#,
                Kind::Deleted,
            ),
        ];
        for (text, kind) in kinds {
            let event = serde_json::from_str::<Change>(text)
                .unwrap()
                .event()
                .unwrap();
            let key = base64(b"a");
            assert_eq!(
                event,
                Event {
                    version: 5,
                    kind,
                    key
                }
            );
        }
    }
}
