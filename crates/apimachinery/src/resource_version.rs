//! `ResourceVersion`: the version of an object or list in its server's history.
//!
//! It is opaque text, except that decimal versions can be compared, as upstream guarantees for
//! objects of one resource. It does no arithmetic; servers use their own integers.

use crate::go_text::parse_uint;
use crate::{FieldError, FieldPath, Str};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A resource version. Empty means "not set", `0` means "any".
///
/// ```
/// use kubist_apimachinery::ResourceVersion;
/// use std::cmp::Ordering;
/// let (old, new) = (ResourceVersion::from("99"), ResourceVersion::from("100"));
/// assert_eq!(old.compare(&new), Some(Ordering::Less));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceVersion(Str);

impl ResourceVersion {
    /// `0`: any version that the server has cached.
    pub fn any() -> Self {
        Self("0".into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text for sharing.
    pub fn text(&self) -> &Str {
        &self.0
    }

    /// Reports whether it is unset, which requests the most recent version.
    pub fn is_unset(&self) -> bool {
        self.0.is_empty()
    }

    /// Reports whether any version is accepted (`0`).
    pub fn is_any(&self) -> bool {
        self.0 == "0"
    }

    /// Compares two versions of one resource. Returns none unless both are decimal numbers, not 0,
    /// without leading zeros; they may be of any length.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if !is_number(self.as_str()) || !is_number(other.as_str()) {
            return None;
        }
        let by_length = self.0.len().cmp(&other.0.len());
        Some(by_length.then_with(|| self.0.cmp(&other.0)))
    }

    /// Parses the version of a request to a server with 64-bit revisions: 0 if unset. The error is
    /// upstream's for the field `resourceVersion`.
    pub fn to_revision(&self) -> Result<u64, FieldError> {
        if self.is_unset() {
            return Ok(0);
        }
        parse_uint(self.as_str()).map_err(|error| {
            let path = FieldPath::new("resourceVersion");
            FieldError::invalid(&path, self.as_str(), error.to_string())
        })
    }

    /// Returns the version as a 64-bit number, if it is one; 0 for `0`.
    pub fn to_u64(&self) -> Option<u64> {
        if self.is_any() || is_number(self.as_str()) {
            self.0.parse().ok()
        } else {
            None
        }
    }
}

/// Reports whether the text is decimal digits without a leading 0.
fn is_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Str> for ResourceVersion {
    fn from(text: Str) -> Self {
        Self(text)
    }
}

impl From<&Str> for ResourceVersion {
    fn from(text: &Str) -> Self {
        Self(text.clone())
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for ResourceVersion {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<u64> for ResourceVersion {
    fn from(version: u64) -> Self {
        Self(version.to_string().into())
    }
}

impl From<ResourceVersion> for Str {
    fn from(version: ResourceVersion) -> Self {
        version.0
    }
}

impl PartialEq<str> for ResourceVersion {
    fn eq(&self, other: &str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<&str> for ResourceVersion {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_numbers_compare() {
        use Ordering::{Equal, Greater, Less};
        for (left, right, expected) in [
            ("1", "2", Some(Less)),
            ("9", "10", Some(Less)),
            ("10", "9", Some(Greater)),
            ("100", "100", Some(Equal)),
            (
                "100000000000000000000000000000000000000000",
                "99999999999999999999999999999999999999999",
                Some(Greater),
            ),
            ("", "1", None),
            ("1", "", None),
            ("0", "1", None),
            ("1", "0", None),
            ("01", "1", None),
            ("1a", "1", None),
            ("-1", "1", None),
            ("+1", "1", None),
            ("1", "1.0", None),
        ] {
            let order = ResourceVersion::from(left).compare(&right.into());
            assert_eq!(order, expected, "{left} {right}");
        }
    }

    #[test]
    fn the_special_versions_are_distinct() {
        assert!(ResourceVersion::default().is_unset());
        assert!(ResourceVersion::any().is_any() && !ResourceVersion::any().is_unset());
        assert_eq!(ResourceVersion::any().to_u64(), Some(0));
        assert_eq!(ResourceVersion::default().to_u64(), None);
        assert_eq!(ResourceVersion::from("007").to_u64(), None);
        assert_eq!(ResourceVersion::from("18446744073709551616").to_u64(), None);
        assert_eq!(ResourceVersion::from(7).to_u64(), Some(7));
    }

    #[test]
    fn servers_parse_numbers_and_refuse_others() {
        for (text, expected) in [
            ("", 0),
            ("0", 0),
            ("007", 7),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(ResourceVersion::from(text).to_revision(), Ok(expected));
        }
        for (text, reason) in [
            ("x", "invalid syntax"),
            ("-1", "invalid syntax"),
            ("18446744073709551616", "value out of range"),
        ] {
            let error = ResourceVersion::from(text).to_revision().expect_err(text);
            let expected = format!(
                "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \
                 \"{text}\": {reason}"
            );
            assert_eq!(error.to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn numbers_compare_as_numbers(left in 1..u64::MAX, right in 1..u64::MAX) {
            let order = ResourceVersion::from(left).compare(&ResourceVersion::from(right));
            prop_assert_eq!(order, Some(left.cmp(&right)));
        }
    }
}
