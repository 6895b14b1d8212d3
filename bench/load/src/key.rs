//! A key for the tokens of service accounts, which kube-apiserver does not start without.

use crate::Failure;

/// Prints a key of P-256 as PEM, its private half to sign with and its public half to check with:
/// kube-apiserver takes public keys from private ones of RSA only, where these are PKCS #8.
pub fn print() -> Result<(), Failure> {
    let key = rcgen::KeyPair::generate()?;
    print!("{}{}", key.serialize_pem(), key.public_key_pem());
    Ok(())
}
