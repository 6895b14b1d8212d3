//! Fields that may be absent, null or have a value, as `Option<Option<T>>`.
//!
//! Where a schema says `nullable`, servers keep a null, and it may mean something else than an
//! absent field. serde alone reads both as `None`.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! #[derive(Serialize, Deserialize)]
//! struct Limits {
//!     #[serde(
//!         default,
//!         with = "kubist_custom_resource::nullable",
//!         skip_serializing_if = "Option::is_none"
//!     )]
//!     depth: Option<Option<u8>>,
//! }
//!
//! for text in ["{}", r#"{"depth":null}"#, r#"{"depth":3}"#] {
//!     let limits: Limits = serde_json::from_str(text)?;
//!     assert_eq!(serde_json::to_string(&limits)?, text);
//! }
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Deserializes a field that is present.
///
/// # Errors
/// The value does not fit.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Serializes a field that is present.
///
/// # Errors
/// The value cannot be serialized.
pub fn serialize<T: Serialize, S: Serializer>(
    value: &Option<Option<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.serialize(serializer)
}
