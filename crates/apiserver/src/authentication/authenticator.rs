//! `Authenticator`: identifies the user of a request.
//!
//! By client certificate of a trusted authority (the common name is the user, the organizations are
//! the groups), by static bearer token, or by service account token. One valid credential is
//! sufficient. A request with none gets 401. It does not decide what a user may do. The order in
//! which credentials are tried is that of `Service::user` in `server/service/authenticate.rs`.

use crate::authentication::certificates::valid_within;
use crate::authentication::token_issuer::{Claims, ISSUER, TokenIssuer};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use kubist_apimachinery::{Status, Str};
pub use kubist_authorization::MASTERS_GROUP;
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

/// The group of all authenticated users.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// The user of anonymous requests, where they are allowed.
pub const ANONYMOUS_USER: &str = "system:anonymous";
/// The group of [`ANONYMOUS_USER`].
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";

/// The key in the user's extra fields that identifies the credential.
pub(crate) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// A static bearer token and its user.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct StaticToken {
    /// The token. This is a secret.
    pub token: String,
    /// The user; `system:authenticated` is added to its groups.
    pub user: User,
}

/// Omits the token.
impl fmt::Debug for StaticToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticToken")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

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
    /// Reports whether a request has credentials, valid or not.
    pub(crate) fn has_credentials(&self, headers: &HeaderMap) -> bool {
        let header = headers.get(AUTHORIZATION);
        let token = header.and_then(|header| bearer(header.to_str().ok()?));
        token.is_some() || !matches!(self, Self::Unknown)
    }
}

/// The certificate chain of a connection. It is verified with the first request, which is
/// expensive; afterwards only its validity period is checked.
#[derive(Debug)]
pub(crate) struct Chain {
    certificates: Vec<CertificateDer<'static>>,
    verified: OnceLock<Verified>,
}

#[derive(Debug)]
struct Verified {
    user: User,
    /// The validity of the whole chain, in seconds since the Unix epoch.
    valid: RangeInclusive<u64>,
}

impl Chain {
    /// A chain that is not verified yet.
    pub(crate) fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        Self {
            certificates,
            verified: OnceLock::new(),
        }
    }
}

/// Authenticates requests.
#[derive(Debug)]
pub(crate) struct Authenticator {
    tokens: Vec<StaticToken>,
    /// `None` if no connection has certificates.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    issuer: TokenIssuer,
}

impl Authenticator {
    pub(crate) fn new(
        tokens: Vec<StaticToken>,
        verifier: Option<Arc<dyn ClientCertVerifier>>,
        issuer: TokenIssuer,
    ) -> Self {
        Self {
            tokens,
            verifier,
            issuer,
        }
    }

    /// Returns the issuer of service account tokens.
    pub(crate) fn issuer(&self) -> &TokenIssuer {
        &self.issuer
    }

    /// Returns the claims of a service account token that is valid for this server.
    pub(crate) fn service_account(&self, headers: &HeaderMap, now: Duration) -> Option<Claims> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok().and_then(bearer)?;
        let claims = self.issuer.verify(token, now)?;
        claims
            .audiences
            .iter()
            .any(|it| it == ISSUER)
            .then_some(claims)
    }

    /// Returns the user of the client certificate, of the static token or, without an
    /// `Authorization` header, of the in-process stream; otherwise 401. These are the first three
    /// steps of `Service::user`. `now` is the time since the Unix epoch.
    pub(crate) fn authenticate(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
        now: Duration,
    ) -> Result<User, Status> {
        // As upstream, one valid credential is sufficient: a certificate of an unknown authority
        // does not invalidate a token.
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

    /// Returns the user of a static token.
    pub(crate) fn by_token(&self, token: &str) -> Option<User> {
        // All tokens are compared in full, so that the timing reveals nothing about them.
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
        let verifier = self.verifier.as_ref().ok_or_else(Status::unauthorized)?;
        verifier
            .verify_client_cert(end_entity, intermediates, UnixTime::since_unix_epoch(now))
            .map_err(|_| Status::unauthorized())?;
        let user = certificate_user(end_entity).ok_or_else(Status::unauthorized)?;
        if let Some(valid) = valid_within(&chain.certificates) {
            let user = user.clone();
            // A concurrent request may have stored the same result.
            drop(chain.verified.set(Verified { user, valid }));
        }
        Ok(Some(user))
    }
}

/// Returns the token of a header; what follows it is ignored, as upstream.
fn bearer(header: &str) -> Option<&str> {
    let mut words = header.trim().split(' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Reports whether extra spaces before the token make a header invalid.
pub(crate) fn has_extra_space(headers: &HeaderMap) -> bool {
    let header = headers.get(AUTHORIZATION).map(|it| it.to_str());
    let Some(Ok(header)) = header else {
        return false;
    };
    let mut words = header.trim().split(' ');
    let scheme = words.next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("bearer") && words.next() == Some("") && words.next().is_some()
}

/// Compares in constant time.
fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .fold(0, |difference, (left, right)| difference | (left ^ right))
            == 0
}

/// Adds the group of all authenticated users.
pub(crate) fn authenticated(mut user: User) -> User {
    let group = Str::from(AUTHENTICATED_GROUP);
    if !user.groups.contains(&group) {
        user.groups.push(group);
    }
    user
}

/// Returns the user that a certificate names.
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
        let issuer = TokenIssuer::new(Some(Arc::new(keys)));
        Authenticator::new(vec![token], Some(verifier), issuer)
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
    fn an_extra_space_before_the_token_is_detected() {
        for (value, expected) in [
            ("Bearer  secret", true),
            ("bearer   secret", true),
            ("Bearer secret", false),
            ("Bearer secret ", false),
            ("Bearer ", false),
            ("Basic  x", false),
            ("", false),
        ] {
            assert_eq!(has_extra_space(&header(value)), expected, "{value:?}");
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
        // A verifier that would refuse the chain shows that it is not called.
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
