//! `Algorithm`: the signature algorithms of RFC 7518 with public keys.

use std::fmt;
use std::str::FromStr;

/// A signature algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "RFC 7518 has these with public keys"
)]
#[expect(missing_docs, reason = "the names are those of RFC 7518")]
pub enum Algorithm {
    Es256,
    Es384,
    Es512,
    Ps256,
    Ps384,
    Ps512,
    Rs256,
    Rs384,
    Rs512,
}

/// It is not an algorithm with public keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no details")]
pub struct UnknownAlgorithm;

impl Algorithm {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 9] = [
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
    ];

    /// Returns the name in the header of a token.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        found.ok_or(UnknownAlgorithm)
    }
}
