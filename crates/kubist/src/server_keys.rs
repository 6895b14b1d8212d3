//! `ServerKeys`: the certificates and keys of a server, stored in a directory or given as files.
//!
//! The directory has `ca.pem`, the authority with its key, and `service-account.pem`, the key that
//! signs tokens, so that clients and tokens stay valid across restarts. Both are created once,
//! atomically, and are readable by their owner only. The serving and the administrator's
//! certificates are issued at each start. Nothing here is ever replaced or removed.

use crate::regular_file::read_regular_file;
use kubist_apimachinery::Time;
use kubist_apiserver::{
    CertificateAuthority, CertificateError, Config, Identity, PemError, TokenKeyError, TokenKeys,
    read_certificates,
};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Subdirectory of the data directory.
const FOLDER: &str = "pki";
const AUTHORITY_FILE: &str = "ca.pem";
const TOKEN_KEY_FILE: &str = "service-account.pem";
const AUTHORITY_NAME: &str = "kubist-ca";
/// Validity of a stored authority, as with upstream's installers: ten years.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(24 * 3650 * 3600);
/// A warning is logged at each start when an authority expires within this time.
const WARNED_BEFORE: Duration = Duration::from_secs(24 * 180 * 3600);
/// Maximum bytes of a key file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The certificate and key files of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct ServerKeys {
    /// The directory of the authority and the token key; created if it does not exist. Servers may
    /// share it. Default: `pki` in the data directory; without one nothing is stored.
    pub folder: Option<PathBuf>,
    /// The serving certificate and its intermediate certificates, as PEM. Default: one issued by
    /// the server's authority.
    pub tls_cert_file: Option<PathBuf>,
    /// Its key, as PEM.
    pub tls_private_key_file: Option<PathBuf>,
    /// Additional authorities of client certificates, as PEM. Default: none.
    pub client_ca_file: Option<PathBuf>,
    /// Additional keys that verify service account tokens, private or public, as PEM.
    pub service_account_key_files: Vec<PathBuf>,
    /// The key that signs service account tokens, as PEM. Default: the stored one.
    pub service_account_signing_key_file: Option<PathBuf>,
}

/// Why the certificates and keys of a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerKeysError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or its directory cannot be created.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has no usable certificate or key.
    #[error("cannot use {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: PemError,
    },
    /// A file has no usable token key.
    #[error("cannot use {}", path.display())]
    TokenKey {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: TokenKeyError,
    },
    /// The clock is outside the validity of a certificate.
    #[error(
        "the certificate in {} is valid from {from} to {until}, and it is {now}",
        path.display()
    )]
    Time {
        /// The file.
        path: PathBuf,
        /// Start of its validity.
        from: Time,
        /// End of its validity.
        until: Time,
        /// The current time.
        now: Time,
    },
    /// An authority cannot be created.
    #[error(transparent)]
    Made(#[from] CertificateError),
    /// A certificate without its key, or a key without its certificate.
    #[error("a serving certificate and its key must be given together")]
    HalfAnIdentity,
}

impl ServerKeys {
    /// Sets the certificates and keys in `http`. Reads files, and creates those of the directory.
    pub(crate) fn fill(
        &self,
        http: &mut Config,
        data_dir: Option<&Path>,
        now: Duration,
    ) -> Result<(), ServerKeysError> {
        let folder = self.folder.clone();
        let folder = folder.or_else(|| data_dir.map(|dir| dir.join(FOLDER)));
        if let Some(folder) = &folder {
            http.authority = Some(Arc::new(kept_authority(folder, now)?));
        }
        http.serving = self.serving(now)?;
        if let Some(path) = &self.client_ca_file {
            let authorities = read_certificates(&read(path)?);
            http.client_authorities = authorities.map_err(unusable(path))?;
        }
        http.token_keys = self.token_keys(folder.as_deref())?.map(Arc::new);
        Ok(())
    }

    fn serving(&self, now: Duration) -> Result<Option<Identity>, ServerKeysError> {
        let (certificate, key) = match (&self.tls_cert_file, &self.tls_private_key_file) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => (certificate, key),
            _ => return Err(ServerKeysError::HalfAnIdentity),
        };
        let identity = Identity::from_pem(&read(certificate)?, &read(key)?);
        let identity = identity.map_err(|source| {
            let of_key = matches!(source, PemError::NoKey | PemError::KeyMismatch);
            let path = if of_key { key } else { certificate };
            unusable(path)(source)
        })?;
        check_time(certificate, &identity.valid(), now)?;
        Ok(Some(identity))
    }

    fn token_keys(&self, folder: Option<&Path>) -> Result<Option<TokenKeys>, ServerKeysError> {
        let mut verifying = Vec::new();
        for path in &self.service_account_key_files {
            let text = read(path)?;
            TokenKeys::check_verifying(&text).map_err(no_token_key(path))?;
            verifying.push(text);
        }
        let (path, signing) = match (&self.service_account_signing_key_file, folder) {
            (Some(path), _) => (path.clone(), read(path)?),
            (None, Some(folder)) => {
                let path = folder.join(TOKEN_KEY_FILE);
                let made = || TokenKeys::generate_pem().map_err(no_token_key(&path));
                let text = kept(&path, made)?;
                (path, text)
            }
            (None, None) if verifying.is_empty() => return Ok(None),
            (None, None) => {
                let path = PathBuf::from(TOKEN_KEY_FILE);
                let text = TokenKeys::generate_pem().map_err(no_token_key(&path))?;
                (path, text)
            }
        };
        let keys = TokenKeys::from_pem(&signing, &verifying);
        keys.map(Some).map_err(no_token_key(&path))
    }
}

fn kept_authority(folder: &Path, now: Duration) -> Result<CertificateAuthority, ServerKeysError> {
    let path = folder.join(AUTHORITY_FILE);
    let text = kept(&path, || {
        let end = now.saturating_add(AUTHORITY_LIFETIME);
        Ok(CertificateAuthority::until(AUTHORITY_NAME, now, end)?.to_pem())
    })?;
    let authority = CertificateAuthority::from_pem(&text).map_err(unusable(&path))?;
    check_time(&path, &authority.valid(), now)?;
    let left = authority.valid().end().saturating_sub(now.as_secs());
    if left < WARNED_BEFORE.as_secs() {
        let days = left / (24 * 3600);
        tracing::warn!(
            "the certificate authority in {} expires in {days} days: remove it to have the next \
             start create another one; clients then need new kubeconfigs",
            path.display()
        );
    }
    Ok(authority)
}

fn check_time(
    path: &Path,
    valid: &std::ops::RangeInclusive<u64>,
    now: Duration,
) -> Result<(), ServerKeysError> {
    if valid.contains(&now.as_secs()) {
        return Ok(());
    }
    let time = |seconds: u64| Time::from_unix(i64::try_from(seconds).unwrap_or(i64::MAX));
    Err(ServerKeysError::Time {
        path: path.to_path_buf(),
        from: time(*valid.start()),
        until: time(*valid.end()),
        now: time(now.as_secs()),
    })
}

/// Returns the contents of a file; creates it first if it does not exist.
fn kept(
    path: &Path,
    make: impl FnOnce() -> Result<String, ServerKeysError>,
) -> Result<String, ServerKeysError> {
    match read(path) {
        Err(ServerKeysError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let text = make()?;
    write_new(path, &text).map_err(|source| ServerKeysError::Write {
        path: path.to_path_buf(),
        source,
    })?;
    // Another server may have created it first; that file is then used.
    read(path)
}

/// Creates a durable file that only its owner can read, atomically. An existing one is kept.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut folders = std::fs::DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.error),
    }
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    Ok(())
}

fn read(path: &Path) -> Result<String, ServerKeysError> {
    let fail = |source| ServerKeysError::Read {
        path: path.to_path_buf(),
        source,
    };
    let bytes = read_regular_file(path, FILE_BYTES_MAX).map_err(fail)?;
    String::from_utf8(bytes).map_err(|_| fail(io::Error::other("it is not text")))
}

fn unusable(path: &Path) -> impl Fn(PemError) -> ServerKeysError + use<> {
    let path = path.to_path_buf();
    move |source| ServerKeysError::Unusable {
        path: path.clone(),
        source,
    }
}

fn no_token_key(path: &Path) -> impl Fn(TokenKeyError) -> ServerKeysError + use<> {
    let path = path.to_path_buf();
    move |source| ServerKeysError::TokenKey {
        path: path.clone(),
        source,
    }
}
