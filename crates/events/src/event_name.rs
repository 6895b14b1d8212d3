//! The names of events, and the lengths of their texts.

use kubist_apimachinery::{Str, validate_name};
use kubist_client::Ambient;

/// The longest note that servers accept, in bytes.
pub(crate) const NOTE_BYTES_MAX: usize = 1_024;
/// The longest reason, action and instance that servers accept, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 128;
/// The namespace of events about cluster-scoped objects.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// Returns the object's name and a time in nanoseconds, in hexadecimal, as client-go; or a random
/// UUID, if that would not be the name of an object.
pub(crate) fn event_name(object: &str, nanoseconds: i128, ambient: &Ambient) -> Str {
    let name = format!("{object}.{nanoseconds:x}");
    if validate_name::dns1123_subdomain(&name).is_empty() {
        return name.into();
    }
    ambient.uuid().into()
}

/// Returns at most `bytes_max` bytes of a text, cut between characters.
pub(crate) fn cut(text: impl Into<Str>, bytes_max: usize) -> Str {
    let text = text.into();
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|&it| text.is_char_boundary(it));
    text[..end.unwrap_or_default()].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_whatever_the_object_is_called() {
        let ambient = Ambient::default();
        let event_name = |object: &str, nanoseconds| event_name(object, nanoseconds, &ambient);
        assert_eq!(event_name("web", 0x17a2), "web.17a2");
        for object in ["system:node", "Web", &"x".repeat(250), ""] {
            let name = event_name(object, 0x17a2);
            assert_eq!(name.len(), 36, "{object}: {name}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("aaaéé", 4), "aaa");
        assert_eq!(cut("aaaéé", 5), "aaaé");
        assert_eq!(cut("é", 1), "");
        assert_eq!(cut("x".repeat(2_000), NOTE_BYTES_MAX).len(), 1_024);
    }
}
