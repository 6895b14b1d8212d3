//! `StrOption`: what a look-up in a map of `Str` found, compared with text.
//!
//! The language does not let `Option<&Str>` and `Option<&str>` be compared by `==`.

use crate::Str;

/// Comparisons of a text that may be missing.
///
/// ```
/// use kubist_apimachinery::{ObjectMeta, StrOption as _};
/// let mut metadata = ObjectMeta::default();
/// metadata.labels.insert("app".into(), "web".into());
/// assert!(metadata.labels.get("app").is("web") && !metadata.labels.get("tier").is("web"));
/// assert_eq!(metadata.labels.get("app").text(), Some("web"));
/// ```
pub trait StrOption<'a>: Sized {
    /// The text, as it is compared with other text.
    fn text(self) -> Option<&'a str>;

    /// Whether there is one, and it is this.
    fn is(self, text: &str) -> bool {
        self.text() == Some(text)
    }
}

impl<'a> StrOption<'a> for Option<&'a Str> {
    fn text(self) -> Option<&'a str> {
        self.map(|it| &**it)
    }
}

impl<'a> StrOption<'a> for &'a Option<Str> {
    fn text(self) -> Option<&'a str> {
        self.as_deref()
    }
}
