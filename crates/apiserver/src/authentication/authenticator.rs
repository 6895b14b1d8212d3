//! `Authenticator`: who sent a request.
//!
//! A client certificate that the server's authority signed (common name is the user, organisations
//! are the groups), a static bearer token, or the token of a service account. One of them that is
//! right is enough. Whoever has none gets 401 as a Status, as does one whose credentials are all
//! wrong. It does not decide what a user may do.

use crate::authentication::certificates::valid_within;
use crate::authentication::token_issuer::{Claims, ISSUER, TokenIssuer};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use kubist_apimachinery::{Status, Str};
use kubist_registry::User;
use ring::digest;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The group of everybody who is authenticated.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// The user of requests without credentials, where those are allowed.
pub const ANONYMOUS_USER: &str = "system:anonymous";
/// The group of [`ANONYMOUS_USER`].
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// The group whose members may do anything.
pub const MASTERS_GROUP: &str = "system:masters";

/// In the extras of a user: which credential was used.
pub(crate) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// A bearer token and whom it belongs to.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct StaticToken {
    /// The token, which is a secret.
    pub token: String,
    /// The user; `system:authenticated` is added to the groups.
    pub user: User,
}

/// Without the token.
impl fmt::Debug for StaticToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticToken")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// What a connection says about its client.
#[derive(Clone, Debug, Default)]
pub(crate) enum Peer {
    /// TLS without client certificate, or no TLS.
    #[default]
    Unknown,
    /// The certificate chain that the client proved to own the key of.
    Certificates(Arc<Chain>),
    /// An in-process connection of this user.
    Trusted(Arc<User>),
}

impl Peer {
    /// Whether a request says who sends it, rightly or wrongly.
    pub(crate) fn has_credentials(&self, headers: &HeaderMap) -> bool {
        let header = headers.get(AUTHORIZATION);
        let token = header.and_then(|header| bearer(header.to_str().ok()?));
        token.is_some() || !matches!(self, Self::Unknown)
    }
}

/// The certificate chain of a connection. It is verified with the first request, which costs more
/// than a small request does, and after that only its time is looked at.
#[derive(Debug)]
pub(crate) struct Chain {
    certificates: Vec<CertificateDer<'static>>,
    verified: OnceLock<Verified>,
}

#[derive(Debug)]
struct Verified {
    user: User,
    /// Seconds since the Unix epoch in which each certificate of the chain is valid.
    valid: RangeInclusive<u64>,
}

impl Chain {
    /// A chain that nobody has verified.
    pub(crate) fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        Self {
            certificates,
            verified: OnceLock::new(),
        }
    }
}

/// Finds out who sent a request.
#[derive(Debug)]
pub(crate) struct Authenticator {
    tokens: Vec<StaticToken>,
    verifier: Arc<dyn ClientCertVerifier>,
    issuer: TokenIssuer,
}

impl Authenticator {
    pub(crate) fn new(
        tokens: Vec<StaticToken>,
        verifier: Arc<dyn ClientCertVerifier>,
        issuer: TokenIssuer,
    ) -> Self {
        Self {
            tokens,
            verifier,
            issuer,
        }
    }

    /// Signs and verifies the tokens of service accounts.
    pub(crate) fn issuer(&self) -> &TokenIssuer {
        &self.issuer
    }

    /// What the token of a service account says that a request has, if it is for this server.
    pub(crate) fn service_account(&self, headers: &HeaderMap, now: Duration) -> Option<Claims> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok().and_then(bearer)?;
        let claims = self.issuer.verify(token, now)?;
        claims
            .audiences
            .iter()
            .any(|it| it == ISSUER)
            .then_some(claims)
    }

    /// The user, or 401. `now` is the time since the Unix epoch. Of tokens it knows the static
    /// ones.
    pub(crate) fn authenticate(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
        now: Duration,
    ) -> Result<User, Status> {
        // One credential that is right is enough, as upstream: beside a token a certificate of an
        // authority that nobody knows here does not matter.
        if let Ok(Some(user)) = self.by_certificate(peer, now) {
            return Ok(user);
        }
        let Some(header) = headers.get(AUTHORIZATION) else {
            return match peer {
                Peer::Trusted(user) => Ok(User::clone(user)),
                _ => Err(Status::unauthorized()),
            };
        };
        let token = header.to_str().ok().and_then(bearer);
        let token = token.ok_or_else(Status::unauthorized)?;
        self.by_token(token).ok_or_else(Status::unauthorized)
    }

    /// The user of a static token.
    pub(crate) fn by_token(&self, token: &str) -> Option<User> {
        // All tokens are compared in full, so that the time says nothing about them.
        let matching = self.tokens.iter().fold(None, |found, it| {
            if constant_time_eq(it.token.as_bytes(), token.as_bytes()) {
                Some(&it.user)
            } else {
                found
            }
        })?;
        Some(authenticated(matching.clone()))
    }

    fn by_certificate(&self, peer: &Peer, now: Duration) -> Result<Option<User>, Status> {
        let Peer::Certificates(chain) = peer else {
            return Ok(None);
        };
        let known = chain.verified.get();
        if let Some(known) = known.filter(|it| it.valid.contains(&now.as_secs())) {
            return Ok(Some(known.user.clone()));
        }
        let Some((end_entity, intermediates)) = chain.certificates.split_first() else {
            return Ok(None);
        };
        self.verifier
            .verify_client_cert(end_entity, intermediates, UnixTime::since_unix_epoch(now))
            .map_err(|_| Status::unauthorized())?;
        let user = certificate_user(end_entity).ok_or_else(Status::unauthorized)?;
        if let Some(valid) = valid_within(&chain.certificates) {
            let user = user.clone();
            // Another request may have been faster; it has found the same.
            drop(chain.verified.set(Verified { user, valid }));
        }
        Ok(Some(user))
    }
}

/// The token of a header; what follows behind it does not matter, as upstream.
fn bearer(header: &str) -> Option<&str> {
    let mut words = header.trim().split(' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whether a header has no token because there is another space before it.
pub(crate) fn has_extra_space(headers: &HeaderMap) -> bool {
    let header = headers.get(AUTHORIZATION).map(|it| it.to_str());
    let Some(Ok(header)) = header else {
        return false;
    };
    let mut words = header.trim().split(' ');
    let scheme = words.next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("bearer") && words.next() == Some("") && words.next().is_some()
}

/// Compares without stopping at the first difference.
fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .fold(0, |difference, (left, right)| difference | (left ^ right))
            == 0
}

fn authenticated(mut user: User) -> User {
    let group = Str::from(AUTHENTICATED_GROUP);
    if !user.groups.contains(&group) {
        user.groups.push(group);
    }
    user
}

/// The user that a certificate names.
fn certificate_user(certificate: &CertificateDer<'_>) -> Option<User> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let subject = parsed.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?;
    if name.is_empty() {
        return None;
    }
    let groups = subject.iter_organization();
    let groups = groups.filter_map(|group| group.as_str().ok().map(Str::from));
    let fingerprint = digest::digest(&digest::SHA256, certificate);
    let mut credential = "X509SHA256=".to_owned();
    for byte in fingerprint.as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(credential, "{byte:02x}");
    }
    Some(authenticated(User {
        name: name.into(),
        uid: Str::default(),
        groups: groups.collect(),
        extra: BTreeMap::from([(CREDENTIAL_ID.into(), vec![credential.into()])]),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::certificates::CertificateAuthority;
    use crate::authentication::client_certificates::chain_verifier;
    use crate::authentication::token_keys::TokenKeys;

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn authenticator(authority: &CertificateAuthority) -> Authenticator {
        let user = User {
            name: "alice".into(),
            groups: vec!["admins".into()],
            ..User::default()
        };
        let token = StaticToken {
            token: "secret".to_owned(),
            user,
        };
        let verifier = chain_verifier([authority.certificate()]).expect("it is a certificate");
        let keys = TokenKeys::new().expect("keys can be made");
        let issuer = TokenIssuer::new(Arc::new(keys));
        Authenticator::new(vec![token], verifier, issuer)
    }

    fn header(value: &'static str) -> HeaderMap {
        let value = http::HeaderValue::from_static(value);
        HeaderMap::from_iter([(AUTHORIZATION, value)])
    }

    #[test]
    fn tokens_name_their_user_and_anything_else_is_unauthorized() {
        let authority = CertificateAuthority::new("test").expect("keys can be made");
        let it = authenticator(&authority);
        let ask = |value| {
            it.authenticate(&Peer::Unknown, &header(value), NOW)
                .map_err(|status| status.code)
        };
        let user = ask("Bearer secret").expect("it is alice's token");
        assert_eq!(user.name, "alice");
        assert_eq!(user.groups, ["admins", AUTHENTICATED_GROUP]);
        for wrong in ["Bearer secre", "Bearer secret2", "Basic eDp5", "Bearer", ""] {
            assert_eq!(ask(wrong), Err(401), "{wrong:?}");
        }
        let none = it.authenticate(&Peer::Unknown, &HeaderMap::new(), NOW);
        assert_eq!(none, Err(Status::unauthorized()));
    }

    #[test]
    fn certificates_of_the_own_authority_name_user_and_group() {
        let authority = CertificateAuthority::new("test").expect("keys can be made");
        let it = authenticator(&authority);
        let ask = |authority: &CertificateAuthority| {
            let identity = authority
                .client_identity("admin", Some(MASTERS_GROUP))
                .expect("keys can be made");
            let chain = Chain::new(vec![identity.certificate()]);
            it.authenticate(&Peer::Certificates(Arc::new(chain)), &HeaderMap::new(), NOW)
        };
        let user = ask(&authority).expect("it is signed by the authority");
        assert_eq!(user.name, "admin");
        assert_eq!(user.groups, [MASTERS_GROUP, AUTHENTICATED_GROUP]);
        let credential = user.extra[CREDENTIAL_ID][0].strip_prefix("X509SHA256=");
        assert_eq!(credential.map(str::len), Some(64));
        let stranger = CertificateAuthority::new("test").expect("keys can be made");
        assert_eq!(ask(&stranger), Err(Status::unauthorized()));
    }

    #[test]
    fn a_right_token_is_enough_beside_a_wrong_certificate() {
        let authority = CertificateAuthority::new("test").expect("keys can be made");
        let it = authenticator(&authority);
        let stranger = CertificateAuthority::new("test").expect("keys can be made");
        let ask = |authority: &CertificateAuthority, token| {
            let identity = authority
                .client_identity("admin", None)
                .expect("keys can be made");
            let chain = Chain::new(vec![identity.certificate()]);
            let user = it.authenticate(&Peer::Certificates(Arc::new(chain)), &header(token), NOW);
            user.map(|user| user.name).map_err(|status| status.code)
        };
        assert_eq!(ask(&stranger, "Bearer secret"), Ok("alice".into()));
        assert_eq!(ask(&stranger, "Bearer wrong"), Err(401));
        assert_eq!(ask(&authority, "Bearer wrong"), Ok("admin".into()));
    }

    #[test]
    fn a_space_too_many_is_told() {
        for (value, told) in [
            ("Bearer  secret", true),
            ("bearer   secret", true),
            ("Bearer secret", false),
            ("Bearer secret ", false),
            ("Bearer ", false),
            ("Basic  x", false),
            ("", false),
        ] {
            assert_eq!(has_extra_space(&header(value)), told, "{value:?}");
        }
    }

    #[test]
    fn a_verified_chain_is_not_verified_again_until_it_runs_out() {
        let authority = CertificateAuthority::new("test").expect("keys can be made");
        let identity = authority
            .client_identity("admin", None)
            .expect("keys can be made");
        let chain = Arc::new(Chain::new(vec![identity.certificate()]));
        let peer = Peer::Certificates(Arc::clone(&chain));
        let ask = |it: &Authenticator, now| {
            let user = it.authenticate(&peer, &HeaderMap::new(), now);
            user.map(|user| user.name).map_err(|status| status.code)
        };
        let stranger = CertificateAuthority::new("test").expect("keys can be made");
        let (it, stranger) = (authenticator(&authority), authenticator(&stranger));
        assert_eq!(ask(&stranger, NOW), Err(401), "nothing is remembered yet");
        assert_eq!(ask(&it, NOW), Ok("admin".into()));
        // One that would refuse it shows that it is not asked.
        assert_eq!(ask(&stranger, NOW), Ok("admin".into()));
        let valid = &chain.verified.get().expect("it was verified").valid;
        let (last, after) = (*valid.end(), valid.end() + 1);
        assert_eq!(
            ask(&stranger, Duration::from_secs(last)),
            Ok("admin".into())
        );
        assert_eq!(ask(&it, Duration::from_secs(after)), Err(401));
        let before = Duration::from_secs(valid.start() - 1);
        assert_eq!(ask(&it, before), Err(401));
    }
}
