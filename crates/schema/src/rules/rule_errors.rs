//! `RuleErrors`: what the rules of an object report.

use kubist_apimachinery::FieldError;

/// The errors of an object's rules.
#[derive(Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "there are errors that count, and others"
)]
pub struct RuleErrors {
    /// Those for which the object is refused.
    pub errors: Vec<FieldError>,
    /// Those of values that an update does not change, of which upstream only warns.
    pub passed: Vec<FieldError>,
}

impl From<Vec<FieldError>> for RuleErrors {
    fn from(errors: Vec<FieldError>) -> Self {
        Self {
            errors,
            passed: Vec::new(),
        }
    }
}
