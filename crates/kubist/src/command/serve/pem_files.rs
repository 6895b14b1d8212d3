//! Files of certificates and keys, as options name them.

use kubist::apiserver::Identity;
use kubist::read_regular_file;
use std::error::Error;
use std::path::Path;

/// Maximum bytes of a file of certificates or a key.
const BYTES_MAX: u64 = 1 << 20;

/// Reads a file.
///
/// # Errors
/// It cannot be read, is too large, or is no text.
pub(super) fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    let shown = path.display();
    let bytes = read_regular_file(path, BYTES_MAX)
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    Ok(String::from_utf8(bytes).map_err(|_| format!("{shown} is not text"))?)
}

/// Reads a certificate and its key.
///
/// # Errors
/// A file cannot be read, or they are no certificate and its key.
pub(super) fn identity(certificate: &Path, key: &Path) -> Result<Identity, Box<dyn Error>> {
    let identity = Identity::from_pem(&read(certificate)?, &read(key)?);
    let shown = certificate.display();
    Ok(identity.map_err(|error| format!("{shown}: {error}"))?)
}
