//! `StrOption`: comparisons of a map look-up result with text.
//!
//! `Option<&Str>` and `Option<&str>` cannot be compared with `==`.

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
    /// The type that is compared with the text.
    fn text(self) -> Option<&'a str>;

    /// Reports whether there is a text, and it equals `text`.
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
