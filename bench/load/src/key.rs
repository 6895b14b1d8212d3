//! A private key for the tokens of service accounts, which kube-apiserver does not start without.

use crate::Failure;

/// Prints a key of P-256 as PEM.
pub fn print() -> Result<(), Failure> {
    print!("{}", rcgen::KeyPair::generate()?.serialize_pem());
    Ok(())
}
