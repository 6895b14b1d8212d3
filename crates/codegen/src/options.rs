//! `Options`: how types are generated.

/// How types are generated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "built with `..Options::default()`"
)]
pub struct Options {
    /// The path of `kubist-custom-resource`; with the facade, `kubist::custom_resource`. Default:
    /// [`Options::KRATE`].
    pub krate: String,
    /// Derives of all types, beside those that they need. Default: none.
    pub derives: Vec<String>,
    /// Whether times stay strings. `Time` has no fractions of a second, as Go's `metav1.Time`; a
    /// kind whose times have them needs strings. Default: false.
    pub times_as_strings: bool,
}

impl Options {
    /// The path of `kubist-custom-resource`.
    pub const KRATE: &'static str = "kubist_custom_resource";
}

impl Default for Options {
    fn default() -> Self {
        Self {
            krate: Self::KRATE.to_owned(),
            derives: Vec::new(),
            times_as_strings: false,
        }
    }
}
