//! `present`: fields that may be absent, null or have a value.

use serde::{Deserialize, Deserializer};

/// Deserializes an optional field that is present, also as null, to `Some`.
///
/// Where a schema says `nullable`, servers keep a null, and it may mean something else than an
/// absent field. serde alone reads both as `None`.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// #[derive(Serialize, Deserialize)]
/// struct Limits {
///     #[serde(
///         default,
///         deserialize_with = "kubist_custom_resource::present",
///         skip_serializing_if = "Option::is_none"
///     )]
///     depth: Option<Option<u8>>,
/// }
///
/// for text in ["{}", r#"{"depth":null}"#, r#"{"depth":3}"#] {
///     let limits: Limits = serde_json::from_str(text)?;
///     assert_eq!(serde_json::to_string(&limits)?, text);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The value does not fit.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
