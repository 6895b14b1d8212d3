//! Strict validation of a patch's text: repeated members, and unknown members of JSON patch
//! operations.

use crate::negotiate::PatchType;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// The most problems that are reported.
const PROBLEMS_MAX: usize = 100;
/// The members of a JSON patch operation.
const OPERATION: [&str; 4] = ["op", "path", "from", "value"];

/// Returns the problems of a patch in upstream's words, each once, at most 100. Text that is not
/// JSON has none here; applying it reports that.
///
/// ```
/// use kubist_codec::negotiate::PatchType;
/// let patch = br#"{"metadata":{"labels":{"a":"b","a":"c"}}}"#;
/// assert_eq!(
///     kubist_codec::patch::strict_problems(PatchType::Merge, patch),
///     ["duplicate field \"metadata.labels.a\""]
/// );
/// ```
pub fn strict_problems(patch_type: PatchType, patch: &[u8]) -> Vec<String> {
    let mut found = Found {
        operations: patch_type == PatchType::Json,
        ..Found::default()
    };
    let mut deserializer = serde_json::Deserializer::from_slice(patch);
    if Any(&mut found).deserialize(&mut deserializer).is_err() {
        return Vec::new();
    }
    found.problems
}

#[derive(Default)]
struct Found {
    /// Whether the patch is a list of operations.
    operations: bool,
    depth: usize,
    path: String,
    problems: Vec<String>,
}

impl Found {
    fn note(&mut self, what: &str, key: &str) {
        if self.problems.len() >= PROBLEMS_MAX {
            return;
        }
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{key}", self.path);
        let patch = if self.operations { "json patch " } else { "" };
        let problem = format!("{patch}{what} field {path:?}");
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// Any JSON value.
struct Any<'a>(&'a mut Found);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let found = self.0;
        let length = found.path.len();
        let mut index = 0_usize;
        loop {
            let _ = write!(found.path, "[{index}]");
            found.depth += 1;
            let more = seq.next_element_seed(Any(&mut *found))?;
            found.depth -= 1;
            found.path.truncate(length);
            if more.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let found = self.0;
        let length = found.path.len();
        let operation = found.operations && found.depth == 1;
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if operation && !OPERATION.contains(&key.as_str()) {
                found.note("unknown", &key);
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if seen.contains(&key) {
                found.note("duplicate", &key);
            }
            if length > 0 {
                found.path.push('.');
            }
            found.path.push_str(&key);
            found.depth += 1;
            map.next_value_seed(Any(&mut *found))?;
            found.depth -= 1;
            found.path.truncate(length);
            seen.insert(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_given_twice_are_named_by_their_place() {
        for (patch_type, patch, problems) in [
            (
                PatchType::Strategic,
                r#"{"metadata":{"labels":{"a":"b","a":"c","a":"d"}},"metadata":{}}"#,
                vec![
                    "duplicate field \"metadata.labels.a\"",
                    "duplicate field \"metadata\"",
                ],
            ),
            (
                PatchType::Merge,
                r#"{"spec":{"list":[{},{"x":1,"x":[]}]}}"#,
                vec!["duplicate field \"spec.list[1].x\""],
            ),
            (
                PatchType::Json,
                r#"[{"op":"add","op":"add","foo":{"y":1,"y":1},"value":{"a":1,"a":2}}]"#,
                vec![
                    "json patch duplicate field \"[0].op\"",
                    "json patch unknown field \"[0].foo\"",
                    "json patch duplicate field \"[0].value.a\"",
                ],
            ),
            (PatchType::Merge, r#"{"a":{"x":1},"b":{"x":1}}"#, vec![]),
            (PatchType::Merge, r#"{"a":1,"a":1"#, vec![]),
        ] {
            let found = strict_problems(patch_type, patch.as_bytes());
            assert_eq!(found, problems, "{patch}");
        }
    }

    #[test]
    fn at_most_a_hundred_problems_are_reported() {
        let members: Vec<String> = (0..300)
            .map(|it| format!("\"{it}\":1,\"{it}\":2"))
            .collect();
        let patch = format!("{{{}}}", members.join(","));
        let found = strict_problems(PatchType::Merge, patch.as_bytes());
        assert_eq!(found.len(), PROBLEMS_MAX);
    }
}
