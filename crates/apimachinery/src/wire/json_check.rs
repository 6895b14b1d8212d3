//! Whether a text is JSON, without reading it into values.

use super::json_text::plain_run;
use serde::de::IgnoredAny;

/// The depth up to which the JSON parser reads, as everywhere.
const DEPTH_MAX: usize = 127;

/// Reports whether a text is one JSON value. The form of `FieldsV1`, by far the commonest raw JSON
/// in objects, is recognized without the JSON parser.
pub fn is_json(text: &str) -> bool {
    is_nested_objects(text.as_bytes()) || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Reports whether a text is made of objects whose members are such objects, without white space.
/// `false` means that it may still be JSON.
fn is_nested_objects(text: &[u8]) -> bool {
    nested_objects_end(text, 0, DEPTH_MAX) == Some(text.len())
}

/// Returns the end of an object that begins at a position and whose members are such objects,
/// without white space. `None` means that there may still be an object.
pub(super) fn nested_objects_end(text: &[u8], start: usize, depth_max: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0);
    loop {
        if text.get(at) != Some(&b'{') || depth == depth_max {
            return None;
        }
        (at, depth) = (at + 1, depth + 1);
        if text.get(at) == Some(&b'}') {
            while text.get(at) == Some(&b'}') {
                (at, depth) = (at + 1, depth - 1);
                if depth == 0 {
                    return Some(at);
                }
            }
            if text.get(at) != Some(&b',') {
                return None;
            }
            at += 1;
        }
        at = name_end(text, at)?;
        if text.get(at) != Some(&b':') {
            return None;
        }
        at += 1;
    }
}

/// Returns the end of the string that begins at a position; none if it has rare escapes.
#[inline]
fn name_end(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        at += plain_run(text.get(at..)?);
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\\')) => at += 2,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn managed_fields_are_recognized_without_the_parser() {
        let texts = [
            "{}",
            r#"{"f:a":{}}"#,
            r#"{"f:a":{".":{},"k:{\"name\":\"x\\\\\"}":{"f:b":{}}},"v:1":{}}"#,
        ];
        for text in texts {
            assert!(is_nested_objects(text.as_bytes()), "{text}");
        }
        let deep = |depth: usize| format!("{}{{}}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        for depth in [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1] {
            let text = deep(depth);
            let parsed = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            assert_eq!(is_json(&text), parsed, "{depth}");
        }
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_the_parser(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "{}", "\"a\":", "\"", ":", ",", "\\\"", "\\", "\\u0041", "\t", " ",
                    "1", "[", "]", "é", "\"b\":{}", ",\"c\":{\"d\":{}}",
                ]),
                0..12,
            ),
        ) {
            let text = pieces.concat();
            let parsed = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(is_json(&text), parsed);
            if is_nested_objects(text.as_bytes()) {
                prop_assert!(parsed, "{}", text);
            }
        }
    }
}
