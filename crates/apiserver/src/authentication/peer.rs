//! `Peer`: the identity that a connection provides, and its certificates as users.

use crate::authentication::authenticator::CREDENTIAL_ID;
use crate::certificates::valid_within;
use crate::webhook::connect_errors::certificate_error;
use kubist_apimachinery::Str;
use kubist_registry::User;
use parking_lot::Mutex;
use ring::digest;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The attribute of a subject that is the uid of its user, as upstream.
const UID_ATTRIBUTE: &str = "1.3.6.1.4.1.57683.2";

/// The identity that a connection provides.
#[derive(Clone, Debug, Default)]
pub(crate) enum Peer {
    /// TLS without a client certificate, or no TLS.
    #[default]
    Unknown,
    /// The client's certificate chain; the client has proved that it owns the key.
    Certificates(Arc<Chain>),
    /// An in-process connection of this user.
    Trusted(Arc<User>),
}

impl Peer {
    /// Returns the client's certificates, its own first.
    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        match self {
            Self::Certificates(chain) => &chain.certificates,
            _ => &[],
        }
    }
}

/// The certificate chain of a connection. It is verified with the first request, which is
/// expensive; afterwards only its validity period is checked. A chain that is refused is verified
/// at most once a second: that of a user is refused as a proxy's.
#[derive(Debug)]
pub(crate) struct Chain {
    certificates: Vec<CertificateDer<'static>>,
    /// As that of a user.
    user: Verdict<User>,
    /// As that of a proxy, with its common name.
    proxy: Verdict<Str>,
}

/// What a verifier has said.
#[derive(Debug)]
struct Verdict<T> {
    verified: OnceLock<Verified<T>>,
    /// The last refusal, and the second of it: another second may have another.
    refused: Mutex<Option<(u64, String)>>,
}

impl<T> Verdict<T> {
    const fn none() -> Self {
        Self {
            verified: OnceLock::new(),
            refused: Mutex::new(None),
        }
    }
}

#[derive(Debug)]
struct Verified<T> {
    of: T,
    /// The validity of the whole chain, in seconds since the Unix epoch.
    valid: RangeInclusive<u64>,
}

impl Chain {
    /// A chain that is not verified yet.
    pub(crate) fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        Self {
            certificates,
            user: Verdict::none(),
            proxy: Verdict::none(),
        }
    }

    /// Returns the user of the chain at `now`, since the Unix epoch; `None` if it names none.
    ///
    /// # Errors
    /// It is not trusted.
    pub(crate) fn user(
        &self,
        verifier: &dyn ClientCertVerifier,
        now: Duration,
    ) -> Result<Option<User>, String> {
        self.verified(&self.user, verifier, now, user_of)
    }

    /// Returns the common name of a proxy that has the chain.
    ///
    /// # Errors
    /// It is not trusted as a proxy.
    pub(crate) fn proxy(
        &self,
        verifier: &dyn ClientCertVerifier,
        now: Duration,
    ) -> Result<Str, String> {
        let name = |it: &CertificateDer<'_>| Ok(Some(common_name(it).unwrap_or_default()));
        let name = self.verified(&self.proxy, verifier, now, name)?;
        Ok(name.unwrap_or_default())
    }

    fn verified<T: Clone>(
        &self,
        known: &Verdict<T>,
        verifier: &dyn ClientCertVerifier,
        now: Duration,
        read: impl FnOnce(&CertificateDer<'_>) -> Result<Option<T>, String>,
    ) -> Result<Option<T>, String> {
        let second = now.as_secs();
        let found = known.verified.get();
        if let Some(found) = found.filter(|it| it.valid.contains(&second)) {
            return Ok(Some(found.of.clone()));
        }
        if let Some((at, why)) = &*known.refused.lock()
            && *at == second
        {
            return Err(why.clone());
        }
        let Some((end_entity, intermediates)) = self.certificates.split_first() else {
            return Ok(None);
        };
        let verified =
            verifier.verify_client_cert(end_entity, intermediates, UnixTime::since_unix_epoch(now));
        if let Err(error) = verified {
            let why = format!("verifying certificate failed: {}", said(&error));
            *known.refused.lock() = Some((second, why.clone()));
            return Err(why);
        }
        let Some(of) = read(end_entity)? else {
            return Ok(None);
        };
        if let Some(valid) = valid_within(&self.certificates) {
            let of = of.clone();
            // A concurrent request may have stored the same result.
            drop(known.verified.set(Verified { of, valid }));
        }
        Ok(Some(of))
    }
}

fn said(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => {
            format!("invalid peer certificate: {}", certificate_error(why))
        }
        other => other.to_string(),
    }
}

fn common_name(certificate: &CertificateDer<'_>) -> Option<Str> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let name = parsed.subject().iter_common_name().next()?;
    Some(name.as_str().ok()?.into())
}

/// Returns the user that a certificate names.
fn user_of(certificate: &CertificateDer<'_>) -> Result<Option<User>, String> {
    let name = common_name(certificate).filter(|it| !it.is_empty());
    let (Some(name), Ok((_, parsed))) = (name, X509Certificate::from_der(certificate)) else {
        return Ok(None);
    };
    let subject = parsed.subject();
    let groups = subject.iter_organization();
    let groups = groups.filter_map(|group| group.as_str().ok().map(Str::from));
    let mut uids = subject
        .iter_attributes()
        .filter(|it| it.attr_type().to_id_string() == UID_ATTRIBUTE);
    let uid = match (uids.next(), uids.next()) {
        (None, _) => Str::default(),
        (Some(uid), None) => match uid.as_str() {
            Ok(uid) if !uid.is_empty() => uid.into(),
            _ => return Err("unable to parse UID into a string".to_owned()),
        },
        _ => return Err("expected 1 UID, but found multiple".to_owned()),
    };
    let fingerprint = digest::digest(&digest::SHA256, certificate);
    let mut credential = "X509SHA256=".to_owned();
    for byte in fingerprint.as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(credential, "{byte:02x}");
    }
    Ok(Some(User {
        name,
        uid,
        groups: groups.collect(),
        extra: BTreeMap::from([(CREDENTIAL_ID.into(), vec![credential.into()])]),
    }))
}
