//! `Refusal`: why a credential names nobody.

use kubist_apimachinery::Status;

/// Why a credential names nobody.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is not good; the text is for the log and for token reviews.
    NotGood(String),
    /// It cannot be judged now, which says nothing about it.
    Unknown(Box<Status>),
}

impl Refusal {
    pub(crate) fn not_good(why: impl Into<String>) -> Self {
        Self::NotGood(why.into())
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Unknown(Box::new(status))
    }
}
