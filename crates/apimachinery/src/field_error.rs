//! `FieldError`: one validation error of one field.
//!
//! Its text is upstream's exactly, because clients show it and tests compare it;
//! [`Status::invalid`](crate::Status::invalid) turns a list of errors into the causes of a 422. It
//! says what is wrong, not which rule found it.

use crate::go_text::{escape_html, quote};
use crate::{CauseType, FieldPath, Str};
use serde::Serialize;
use std::fmt;

/// A validation error of a field.
///
/// ```
/// use kubist_apimachinery::{FieldError, FieldPath};
/// let error = FieldError::invalid(&FieldPath::new("spec").child("x"), "a", "must be b");
/// assert_eq!(error.to_string(), "spec.x: Invalid value: \"a\": must be b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The kind of the error.
    pub kind: FieldErrorKind,
    /// The path of the field.
    pub field: Str,
    /// The bad value, where the kind shows it.
    pub bad_value: BadValue,
    /// What is expected; may be empty.
    pub detail: Str,
}

/// The kind of a [`FieldError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// The field must not be set.
    Forbidden,
    /// The value must be unique and is not.
    Duplicate,
    /// The validation itself failed.
    Internal,
    /// The value is malformed.
    Invalid,
    /// The referenced object does not exist.
    NotFound,
    /// The value is not supported.
    NotSupported,
    /// A required value is missing.
    Required,
    /// There are too few items.
    TooFew,
    /// The value has too many bytes or characters.
    TooLong,
    /// There are too many items.
    TooMany,
    /// The value has too few characters.
    TooShort,
    /// The value has the wrong type.
    TypeInvalid,
}

/// A value as shown in messages. It is made from strings (shown in quotes), numbers, booleans and,
/// with [`BadValue::json`], anything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadValue {
    /// `None` if the message shows no value.
    text: Option<Str>,
}

impl FieldErrorKind {
    /// Returns the reason of the cause that this error becomes.
    pub fn cause_type(self) -> CauseType {
        match self {
            Self::Forbidden => CauseType::FieldValueForbidden,
            Self::Duplicate => CauseType::FieldValueDuplicate,
            Self::Internal => CauseType::InternalError,
            Self::Invalid => CauseType::FieldValueInvalid,
            Self::NotFound => CauseType::FieldValueNotFound,
            Self::NotSupported => CauseType::FieldValueNotSupported,
            Self::Required => CauseType::FieldValueRequired,
            Self::TooFew => CauseType::FieldValueTooFew,
            Self::TooLong => CauseType::FieldValueTooLong,
            Self::TooMany => CauseType::FieldValueTooMany,
            Self::TooShort => CauseType::FieldValueTooShort,
            Self::TypeInvalid => CauseType::FieldValueTypeInvalid,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::Internal => "Internal error",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotFound => "Not found",
            Self::NotSupported => "Unsupported value",
            Self::Required => "Required value",
            Self::TooFew => "Too few",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::TooShort => "Too short",
        }
    }

    fn shows_value(self) -> bool {
        !matches!(
            self,
            Self::Required | Self::Forbidden | Self::TooLong | Self::TooShort | Self::Internal
        )
    }
}

impl FieldError {
    /// Returns the messages of errors as one text, each once, as upstream aggregates them: several
    /// are in brackets. It is empty for none, and is cut where it becomes too long for a client.
    pub fn aggregate(errors: &[Self]) -> String {
        aggregate(errors)
    }

    /// Returns the approximate length of its message in bytes.
    fn length(&self) -> usize {
        let value = self.bad_value.text.as_ref().map_or(0, |text| text.len());
        self.field.len() + value + self.detail.len()
    }

    /// Creates an error for a missing value. `detail` may be empty.
    pub fn required(path: &FieldPath, detail: impl Into<Str>) -> Self {
        Self::new(FieldErrorKind::Required, path, BadValue::omitted(), detail)
    }

    /// Creates an error for a malformed value.
    pub fn invalid(path: &FieldPath, value: impl Into<BadValue>, detail: impl Into<Str>) -> Self {
        Self::new(FieldErrorKind::Invalid, path, value, detail)
    }

    /// Creates an error for a value of the wrong type.
    pub fn type_invalid(
        path: &FieldPath,
        value: impl Into<BadValue>,
        detail: impl Into<Str>,
    ) -> Self {
        Self::new(FieldErrorKind::TypeInvalid, path, value, detail)
    }

    /// Creates an error for a value that is not one of `supported`. Upstream has types for such
    /// values, so they are shown as JSON and not as quoted strings.
    pub fn not_supported(
        path: &FieldPath,
        value: impl Into<BadValue>,
        supported: &[impl AsRef<str>],
    ) -> Self {
        let mut value: BadValue = value.into();
        value.text = value.text.map(|it| escape_html(&it).into());
        Self::no_support(path, value, supported)
    }

    /// Same as [`Self::not_supported`], for a value that is a string upstream.
    pub fn not_supported_text(
        path: &FieldPath,
        value: &str,
        supported: &[impl AsRef<str>],
    ) -> Self {
        Self::no_support(path, BadValue::from(value), supported)
    }

    fn no_support(path: &FieldPath, value: BadValue, supported: &[impl AsRef<str>]) -> Self {
        let quoted: Vec<String> = supported
            .iter()
            .map(|value| quote(value.as_ref()))
            .collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(FieldErrorKind::NotSupported, path, value, detail)
    }

    /// Creates an error for a repeated value.
    pub fn duplicate(path: &FieldPath, value: impl Into<BadValue>) -> Self {
        Self::new(FieldErrorKind::Duplicate, path, value, "")
    }

    /// Creates an error for a value that names something that does not exist.
    pub fn not_found(path: &FieldPath, value: impl Into<BadValue>) -> Self {
        Self::new(FieldErrorKind::NotFound, path, value, "")
    }

    /// Creates an error for a field that must not be set.
    pub fn forbidden(path: &FieldPath, detail: impl Into<Str>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, BadValue::omitted(), detail)
    }

    /// Creates an error for a value of more than `max` bytes.
    pub fn too_long(path: &FieldPath, max: usize) -> Self {
        let detail = format!(
            "may not be more than {max} {}",
            counted(max, "byte", "bytes")
        );
        Self::new(FieldErrorKind::TooLong, path, BadValue::omitted(), detail)
    }

    /// Creates an error for a value of more than `max` characters.
    pub fn too_long_characters(path: &FieldPath, max: usize) -> Self {
        let unit = counted(max, "character", "characters");
        let detail = format!("may not be more than {max} {unit}");
        Self::new(FieldErrorKind::TooLong, path, BadValue::omitted(), detail)
    }

    /// Creates an error for a value of fewer than `min` characters.
    pub fn too_short(path: &FieldPath, min: usize) -> Self {
        let detail = format!(
            "must be at least {min} {}",
            counted(min, "character", "characters")
        );
        Self::new(FieldErrorKind::TooShort, path, BadValue::omitted(), detail)
    }

    /// Creates an error for a list of more than `max` items. `actual` is shown if given.
    pub fn too_many(path: &FieldPath, actual: Option<usize>, max: usize) -> Self {
        let value = actual.map_or_else(BadValue::omitted, |it| BadValue::from(it as u64));
        let detail = format!("must have at most {max} {}", counted(max, "item", "items"));
        Self::new(FieldErrorKind::TooMany, path, value, detail)
    }

    /// Creates an error for a validation that failed itself.
    pub fn internal(path: &FieldPath, detail: impl Into<Str>) -> Self {
        Self::new(FieldErrorKind::Internal, path, BadValue::omitted(), detail)
    }

    /// Returns everything but the path: the message of a cause.
    pub fn body(&self) -> String {
        let mut body = self.kind.words().to_owned();
        if let Some(value) = &self.bad_value.text
            && self.kind.shows_value()
        {
            body.extend([": ", value]);
        }
        if !self.detail.is_empty() {
            body.extend([": ", &*self.detail]);
        }
        body
    }

    fn new(
        kind: FieldErrorKind,
        path: &FieldPath,
        bad_value: impl Into<BadValue>,
        detail: impl Into<Str>,
    ) -> Self {
        Self {
            kind,
            field: path.into(),
            bad_value: bad_value.into(),
            detail: detail.into(),
        }
    }
}

/// `path: words: value: detail`.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for FieldError {}

fn counted(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

impl BadValue {
    /// A value that is not shown.
    pub fn omitted() -> Self {
        Self::default()
    }

    /// `null`.
    pub fn null() -> Self {
        Self {
            text: Some("null".into()),
        }
    }

    /// A value shown as JSON in Go's form (which escapes `<`, `>` and `&`).
    pub fn json(value: &(impl Serialize + ?Sized)) -> Self {
        let json = serde_json::to_string(value).unwrap_or_else(|error| quote(&error.to_string()));
        Self {
            text: Some(escape_html(&json).into()),
        }
    }
}

impl From<&str> for BadValue {
    fn from(value: &str) -> Self {
        Self {
            text: Some(quote(value).into()),
        }
    }
}

impl From<&Str> for BadValue {
    fn from(value: &Str) -> Self {
        Self::from(value.as_str())
    }
}

impl From<&String> for BadValue {
    fn from(value: &String) -> Self {
        Self::from(value.as_str())
    }
}

macro_rules! shown_plainly {
    ($($type:ty),*) => {$(
        impl From<$type> for BadValue {
            fn from(value: $type) -> Self {
                Self { text: Some(value.to_string().into()) }
            }
        }
    )*};
}

shown_plainly!(bool, i32, i64, u32, u64);

/// The most bytes of messages reported for one object. A message may show a whole list, and there
/// may be one for each of its items.
const REPORTED_BYTES_MAX: usize = 1 << 20;

/// Returns the errors that are reported: as many as fit, at least one if there is any.
pub(crate) fn reported(errors: &[FieldError]) -> &[FieldError] {
    let mut bytes = 0_usize;
    let fits = |error: &&FieldError| {
        let before = bytes;
        bytes = bytes.saturating_add(error.length());
        before == 0 || bytes <= REPORTED_BYTES_MAX
    };
    &errors[..errors.iter().take_while(fits).count()]
}

/// Joins all messages, each once; several are in brackets. Empty for none.
pub(crate) fn aggregate(errors: &[FieldError]) -> String {
    let mut messages: Vec<String> = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for error in reported(errors) {
        let message = error.to_string();
        if seen.insert(message.clone()) {
            messages.push(message);
        }
    }
    match messages.len() {
        0 | 1 => messages.pop().unwrap_or_default(),
        _ => format!("[{}]", messages.join(", ")),
    }
}

#[cfg(test)]
mod tests;
