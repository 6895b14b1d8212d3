//! `ServerKeys`: what a server proves itself with, kept in a folder or brought as files.
//!
//! In the folder are `ca.pem`, the authority with its key, and `service-account.pem`, the key that
//! signs tokens: who trusted the server and whom it let in is so after the next start too. Both are
//! made once, for their owner only, each in one step. The serving and the administrator's
//! certificates are signed anew at each start. Nothing here is ever replaced or removed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kubist_apimachinery::Time;
use kubist_apiserver::{
    CertificateAuthority, CertificateError, Config, Identity, PemError, TokenKeyError, TokenKeys,
    read_certificates,
};

use crate::regular_file::read_regular_file;

/// Within a folder of data.
const FOLDER: &str = "pki";
const AUTHORITY_FILE: &str = "ca.pem";
const TOKEN_KEY_FILE: &str = "service-account.pem";
const AUTHORITY_NAME: &str = "kubist-ca";
/// How long a kept authority is valid, as those of upstream's installers: ten years.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(24 * 3650 * 3600);
/// When an authority ends within this, the log says so at each start.
const WARNED_BEFORE: Duration = Duration::from_secs(24 * 180 * 3600);
/// Bytes of a file; longer ones are none of keys.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Files with which a server proves itself, and with which its clients do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct ServerKeys {
    /// The folder in which the authority and the key of tokens are kept; made if it is not there.
    /// Servers may share it. Default: `pki` in the folder of data; without one nothing is kept.
    pub folder: Option<PathBuf>,
    /// The certificate to show to clients and those between it and its authority, in PEM. Default:
    /// one that the own authority signs.
    pub tls_cert_file: Option<PathBuf>,
    /// Its key, in PEM.
    pub tls_private_key_file: Option<PathBuf>,
    /// Authorities of client certificates beside the own one, in PEM. Default: none.
    pub client_ca_file: Option<PathBuf>,
    /// Further keys that verify tokens of service accounts, private or public ones, in PEM.
    pub service_account_key_files: Vec<PathBuf>,
    /// The key that signs tokens of service accounts, in PEM. Default: the one that is kept.
    pub service_account_signing_key_file: Option<PathBuf>,
}

/// Why a server has nothing to prove itself with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerKeysError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or its folder cannot be made.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("cannot use {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PemError,
    },
    /// A file is not what it should be.
    #[error("cannot use {}", path.display())]
    TokenKey {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TokenKeyError,
    },
    /// The clock is outside of the time of a certificate.
    #[error(
        "the certificate in {} is valid from {from} to {until}, and it is {now}",
        path.display()
    )]
    Time {
        /// The file.
        path: PathBuf,
        /// Its beginning.
        from: Time,
        /// Its end.
        until: Time,
        /// What time it is.
        now: Time,
    },
    /// An authority cannot be made.
    #[error(transparent)]
    Made(#[from] CertificateError),
    /// A certificate without a key, or the other way round.
    #[error("a serving certificate goes with its key")]
    HalfAnIdentity,
}

impl ServerKeys {
    /// Fills in what `http` proves itself with. Reads files, and makes those of the folder.
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
            "the authority in {} ends in {days} days: once it is removed, the next start makes \
             another, and clients need new kubeconfigs",
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

/// What stands in a file; if there is none, it is made first.
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
    // Another server may have been faster; then this is what it made.
    read(path)
}

/// Makes a file that its owner only can read, durable, in one step: it is there whole or not at
/// all. One that is there already stays.
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
