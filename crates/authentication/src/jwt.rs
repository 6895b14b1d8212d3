//! JSON Web Tokens of other issuers: their form, and the keys that verify them.

mod algorithm;
mod compact;
mod key_set;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use compact::{CompactJwt, JwtError, TOKEN_BYTES_MAX, untrusted_issuer};
pub use key_set::{KEYS_MAX, KeySet, KeySetError};
