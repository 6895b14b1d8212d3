//! Configuration files of servers, such as `AuthenticationConfiguration`: YAML or JSON with a kind
//! and a version, decoded strictly.
//!
//! A field that is not known is refused by its path, and a repeated key too: what is written and
//! not obeyed is a trap. `null` is the same as absent, as in upstream. It reads no files and knows
//! no kind.

use crate::yaml;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum bytes of a configuration file: 1 MiB.
pub const CONFIG_FILE_BYTES_MAX: usize = 1 << 20;
/// The fields that every file has.
const TYPE_META: [&str; 2] = ["apiVersion", "kind"];

/// The fields of an object in a configuration file, with the fields of the objects in them. The
/// fields of the items of a list are those of the list.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Fields(pub &'static [(&'static str, Option<&'static Self>)]);

/// Why a text is not the configuration file that is expected. The texts are upstream's where it has
/// some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFileError {
    /// It is empty.
    #[error("empty config data")]
    Empty,
    /// It is too long.
    #[error("it has more than {CONFIG_FILE_BYTES_MAX} bytes")]
    TooLong,
    /// It is not YAML, or has several documents.
    #[error("{reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// It has no kind or no version.
    #[error("Object '{field}' is missing")]
    NoType {
        /// `Kind` or `apiVersion`.
        field: &'static str,
    },
    /// It is another kind or version.
    #[error("no kind {kind:?} is registered for version {version:?}; expected {expected}")]
    OtherKind {
        /// The kind in the file.
        kind: String,
        /// The version in the file.
        version: String,
        /// What is expected.
        expected: String,
    },
    /// It has unknown or repeated fields.
    #[error("strict decoding error: {}", problems.join(", "))]
    Strict {
        /// What is wrong with which field.
        problems: Vec<String>,
    },
    /// A field has another type.
    #[error("{reason}")]
    Type {
        /// What was found, and what is expected.
        reason: String,
    },
}

/// Parses a file of this kind in one of these versions.
///
/// # Errors
/// It is something else, or has fields that are unknown, repeated or of another type.
pub fn parse<T: DeserializeOwned>(
    text: &[u8],
    kind: &str,
    versions: &[&str],
    fields: &Fields,
) -> Result<T, ConfigFileError> {
    let mut value = document(text)?;
    check_type(&value, kind, versions)?;
    let mut problems = Vec::new();
    unknown(&value, Some(fields), "", &mut problems);
    if !problems.is_empty() {
        return Err(ConfigFileError::Strict { problems });
    }
    drop_nulls(&mut value);
    serde_json::from_value(value).map_err(|error| ConfigFileError::Type {
        reason: format!("json: {error}"),
    })
}

fn document(text: &[u8]) -> Result<Value, ConfigFileError> {
    if text.len() > CONFIG_FILE_BYTES_MAX {
        return Err(ConfigFileError::TooLong);
    }
    let malformed = |reason: String| ConfigFileError::Malformed { reason };
    let documents = yaml::parse_all(text).map_err(|error| malformed(error.to_string()))?;
    let mut documents = documents.into_iter();
    let document = documents.next().ok_or(ConfigFileError::Empty)?;
    if documents.next().is_some() {
        return Err(malformed("expected one document".to_owned()));
    }
    if !document.duplicates.is_empty() {
        let problems = document.duplicates.iter().map(ToString::to_string);
        return Err(ConfigFileError::Strict {
            problems: problems.collect(),
        });
    }
    Ok(document.value)
}

fn check_type(value: &Value, kind: &str, versions: &[&str]) -> Result<(), ConfigFileError> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (found, version) = (text("kind"), text("apiVersion"));
    for (said, field) in [(found, "Kind"), (version, "apiVersion")] {
        if said.is_empty() {
            return Err(ConfigFileError::NoType { field });
        }
    }
    if found == kind && versions.contains(&version) {
        return Ok(());
    }
    Err(ConfigFileError::OtherKind {
        kind: found.to_owned(),
        version: version.to_owned(),
        expected: format!("{kind} of {}", versions.join(" or ")),
    })
}

/// Collects the fields that are not known. Where a value has another type, decoding says so later.
fn unknown(value: &Value, fields: Option<&Fields>, path: &str, problems: &mut Vec<String>) {
    let Some(fields) = fields else { return };
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                unknown(item, Some(fields), &format!("{path}[{at}]"), problems);
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                if path.is_empty() && TYPE_META.contains(&&**name) {
                    continue;
                }
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{name}");
                match fields.0.iter().find(|it| it.0 == name) {
                    Some((_, fields)) => unknown(value, *fields, &path, problems),
                    None => problems.push(format!("unknown field {path:?}")),
                }
            }
        }
        _ => {}
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct File {
        items: Vec<Item>,
        name: String,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Item {
        size: i64,
    }

    const ITEM: Fields = Fields(&[("size", None)]);
    const FILE: Fields = Fields(&[("items", Some(&ITEM)), ("name", None)]);

    fn read(body: &str) -> Result<File, String> {
        let text = format!("apiVersion: a/v1\nkind: File\n{body}");
        parse(text.as_bytes(), "File", &["a/v1", "a/v1beta1"], &FILE).map_err(|it| it.to_string())
    }

    #[test]
    fn known_fields_are_read_and_null_is_absent() {
        let file = read("items: [{size: 2}, {}]\nname: null\n").expect("it is fine");
        let sizes: Vec<i64> = file.items.iter().map(|it| it.size).collect();
        assert_eq!((sizes, &*file.name), (vec![2, 0], ""));
    }

    #[test]
    fn everything_else_is_refused_by_its_path() {
        let refused = |body| read(body).expect_err("it is wrong");
        assert_eq!(
            refused("items: [{}, {Size: 1, more: 2}]\nother: 1\n"),
            "strict decoding error: unknown field \"items[1].Size\", unknown field \
             \"items[1].more\", unknown field \"other\""
        );
        assert!(refused("name: a\nname: b\n").contains("key \"name\" already set in map"));
        assert!(refused("name: [1]\n").starts_with("json: "));
        assert!(refused("---\nx: 1\n").contains("one document"));
    }

    #[test]
    fn other_kinds_and_versions_are_refused_by_their_names() {
        let refused = |text: &str| {
            let parsed: Result<File, _> = parse(text.as_bytes(), "File", &["a/v1"], &FILE);
            parsed.expect_err("it is wrong").to_string()
        };
        assert_eq!(refused(""), "empty config data");
        assert_eq!(refused("kind: File"), "Object 'apiVersion' is missing");
        assert_eq!(
            refused("kind: Other\napiVersion: a/v2"),
            "no kind \"Other\" is registered for version \"a/v2\"; expected File of a/v1"
        );
        assert!(refused(&"x".repeat(CONFIG_FILE_BYTES_MAX + 1)).contains("bytes"));
    }
}
