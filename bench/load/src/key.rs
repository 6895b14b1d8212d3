//! A key for service account tokens, which kube-apiserver needs to start.

use crate::Failure;

/// Prints a P-256 key as PEM, its private half for signing and its public half for verification:
/// kube-apiserver derives public keys only from RSA private keys, and these are PKCS #8.
pub fn print() -> Result<(), Failure> {
    let key = rcgen::KeyPair::generate()?;
    print!("{}{}", key.serialize_pem(), key.public_key_pem());
    Ok(())
}
