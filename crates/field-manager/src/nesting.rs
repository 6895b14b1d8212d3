//! The nesting of field sets in `metadata.managedFields`.

use kubist_apimachinery::ManagedFieldsEntry;

/// The maximum depth of objects in FieldsV1. Field sets are read, compared and dropped recursively,
/// and trees of JSON have the same limit. Upstream's limit is that of Go's JSON decoder, 10,000.
pub const FIELDS_DEPTH_MAX: usize = 127;

/// The fewest bytes of a level: `{"f:":}`.
const LEVEL_BYTES_MIN: usize = 7;

/// Reports whether a field set is nested so deeply that it could not be read again.
pub fn is_too_deep(entry: &ManagedFieldsEntry) -> bool {
    let Some(fields) = &entry.fields_v1 else {
        return false;
    };
    let text = &*fields.raw;
    // Most sets are too short to be deep.
    text.len() > FIELDS_DEPTH_MAX * LEVEL_BYTES_MIN && depth(text) > FIELDS_DEPTH_MAX
}

/// Returns the depth of arrays and objects in JSON text.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldSet;
    use kubist_apimachinery::FieldsV1;

    #[test]
    fn a_set_of_the_maximum_depth_can_be_read_and_a_deeper_one_cannot() {
        for depth in [
            1,
            FIELDS_DEPTH_MAX - 1,
            FIELDS_DEPTH_MAX,
            FIELDS_DEPTH_MAX + 1,
            100_000,
        ] {
            let text = r#"{"f:a}\"{":"#.repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
            let entry = ManagedFieldsEntry {
                fields_v1: Some(FieldsV1 {
                    raw: text.as_str().into(),
                }),
                ..ManagedFieldsEntry::default()
            };
            assert_eq!(is_too_deep(&entry), depth > FIELDS_DEPTH_MAX, "{depth}");
            assert_eq!(
                FieldSet::from_json(&text).is_err(),
                depth > FIELDS_DEPTH_MAX,
                "{depth}"
            );
        }
        assert!(!is_too_deep(&ManagedFieldsEntry::default()));
    }
}
