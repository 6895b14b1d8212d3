//! Certificates, static tokens, and authenticators of the configuration.

use super::*;
use crate::authentication::client_certificates::chain_verifier;
use crate::authentication::peer::Chain;
use crate::authentication::token_keys::TokenKeys;
use crate::certificates::CertificateAuthority;
use kubist_authorization::BoxFuture;
use kubist_registry::RegistryConfig;
use kubist_storage::memory::MemoryKv;
use std::time::Duration;

const NOW: Duration = Duration::from_secs(1_800_000_000);

fn authenticator(authority: &CertificateAuthority, config: &Authenticators) -> Authenticator {
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
    let issuer = TokenIssuer::new(Some(Arc::new(keys)), &config.service_accounts);
    Authenticator::new(&[token], Some(verifier), issuer, config).expect("it is fine")
}

fn header(value: &'static str) -> HeaderMap {
    let value = http::HeaderValue::from_static(value);
    HeaderMap::from_iter([(AUTHORIZATION, value)])
}

async fn ask_at(
    it: &Authenticator,
    peer: &Peer,
    headers: &HeaderMap,
    now: Duration,
) -> Result<User, Option<String>> {
    let kv = Arc::new(MemoryKv::default());
    let registry = Registry::new(RegistryConfig::new(kv, kubist_kinds::BuiltIn::shared()));
    let mut cx = registry.request(User::default());
    cx.received = now;
    let asked = Asked {
        peer,
        headers,
        path: "/",
        audiences: it.issuer().audiences(),
        cx: &cx,
        registry: &registry,
    };
    match it.authenticate(&asked).await {
        Ok(found) => Ok(found.user),
        Err(Failure::Unauthorized(why)) => Err(Some(why)),
        Err(Failure::None) => Err(None),
        Err(Failure::Unavailable(status)) => panic!("{status:?}"),
    }
}

async fn ask(it: &Authenticator, peer: &Peer, headers: &HeaderMap) -> Result<User, Option<String>> {
    ask_at(it, peer, headers, NOW).await
}

fn presented(authority: &CertificateAuthority, group: Option<&str>) -> Peer {
    let identity = authority
        .client_identity("admin", group)
        .expect("keys can be made");
    Peer::Certificates(Arc::new(Chain::new(vec![identity.certificate()])))
}

#[tokio::test]
async fn tokens_name_their_user_and_others_are_invalid() {
    let authority = CertificateAuthority::new("test").expect("keys can be made");
    let it = authenticator(&authority, &Authenticators::default());
    let user = ask(&it, &Peer::Unknown, &header("Bearer secret")).await;
    let user = user.expect("it is alice's token");
    assert_eq!(user.name, "alice");
    assert_eq!(user.groups, ["admins", AUTHENTICATED_GROUP]);
    for wrong in ["Bearer secre", "Bearer secret2"] {
        let refused = ask(&it, &Peer::Unknown, &header(wrong)).await;
        assert_eq!(refused, Err(Some(INVALID_TOKEN.to_owned())), "{wrong:?}");
    }
    for nothing in ["Basic eDp5", "Bearer", ""] {
        let nobody = ask(&it, &Peer::Unknown, &header(nothing)).await;
        assert_eq!(nobody, Err(None), "{nothing:?}");
    }
    assert_eq!(ask(&it, &Peer::Unknown, &HeaderMap::new()).await, Err(None));
}

#[tokio::test]
async fn certificates_of_the_own_authority_name_user_and_group() {
    let authority = CertificateAuthority::new("test").expect("keys can be made");
    let it = authenticator(&authority, &Authenticators::default());
    let admin = presented(&authority, Some(MASTERS_GROUP));
    let user = ask(&it, &admin, &HeaderMap::new())
        .await
        .expect("it is signed");
    assert_eq!(user.name, "admin");
    assert_eq!(user.groups, [MASTERS_GROUP, AUTHENTICATED_GROUP]);
    let credential = user.extra[CREDENTIAL_ID][0].strip_prefix("X509SHA256=");
    assert_eq!(credential.map(str::len), Some(64));
    let stranger = CertificateAuthority::new("test").expect("keys can be made");
    let refused = ask(&it, &presented(&stranger, None), &HeaderMap::new()).await;
    let why = refused
        .expect_err("nobody trusts it")
        .expect("it is refused");
    assert!(why.starts_with("verifying certificate failed"), "{why}");
}

#[tokio::test]
async fn a_right_token_is_enough_beside_a_wrong_certificate() {
    let authority = CertificateAuthority::new("test").expect("keys can be made");
    let it = authenticator(&authority, &Authenticators::default());
    let stranger = CertificateAuthority::new("test").expect("keys can be made");
    let (own, other) = (presented(&authority, None), presented(&stranger, None));
    let name = |user: Result<User, Option<String>>| user.map(|it| it.name.to_string());
    let found = name(ask(&it, &other, &header("Bearer secret")).await);
    assert_eq!(found, Ok("alice".to_owned()));
    assert!(ask(&it, &other, &header("Bearer wrong")).await.is_err());
    let found = name(ask(&it, &own, &header("Bearer wrong")).await);
    assert_eq!(found, Ok("admin".to_owned()));
}

#[tokio::test]
async fn a_verified_chain_is_not_verified_again_until_it_runs_out() {
    let authority = CertificateAuthority::new("test").expect("keys can be made");
    let identity = authority
        .client_identity("admin", None)
        .expect("keys can be made");
    let peer = Peer::Certificates(Arc::new(Chain::new(vec![identity.certificate()])));
    let none = HeaderMap::new();
    let stranger = CertificateAuthority::new("test").expect("keys can be made");
    let config = Authenticators::default();
    let (it, stranger) = (
        authenticator(&authority, &config),
        authenticator(&stranger, &config),
    );
    assert!(
        ask(&stranger, &peer, &none).await.is_err(),
        "nothing is remembered yet"
    );
    assert!(
        ask(&it, &peer, &none).await.is_err(),
        "a refusal is remembered for its second"
    );
    let next = NOW + Duration::from_secs(1);
    assert!(ask_at(&it, &peer, &none, next).await.is_ok());
    // It would not verify the chain.
    assert!(ask(&stranger, &peer, &none).await.is_ok());
    let end = Duration::from_secs(*identity.valid().end());
    let later = end + Duration::from_secs(1);
    assert!(ask_at(&it, &peer, &none, later).await.is_err());
}

#[derive(Debug)]
struct Says(Authentication);

impl RequestAuthenticator for Says {
    fn authenticate<'a>(
        &'a self,
        _credentials: &'a Credentials<'a>,
    ) -> BoxFuture<'a, Authentication> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[tokio::test]
async fn the_first_authenticator_that_knows_a_user_decides() {
    let authority = CertificateAuthority::new("test").expect("keys can be made");
    let robot = User {
        name: "robot".into(),
        ..User::default()
    };
    let mut config = Authenticators::default();
    let say = |it| Arc::new(Says(it)) as Arc<dyn RequestAuthenticator>;
    config.others = vec![
        say(Authentication::NoOpinion),
        say(Authentication::Refused("no".to_owned())),
    ];
    let it = authenticator(&authority, &config);
    let refused = ask(&it, &Peer::Unknown, &HeaderMap::new()).await;
    assert_eq!(refused, Err(Some("no".to_owned())));
    let mut elsewhere = Authenticated::for_this_server(robot.clone());
    elsewhere.audiences = vec!["elsewhere".into()];
    config.others.push(say(Authentication::User(elsewhere)));
    let it = authenticator(&authority, &config);
    assert!(ask(&it, &Peer::Unknown, &HeaderMap::new()).await.is_err());
    let known = Authentication::User(Authenticated::for_this_server(robot));
    config.others.push(say(known));
    let it = authenticator(&authority, &config);
    let user = ask(&it, &Peer::Unknown, &HeaderMap::new())
        .await
        .expect("it is known");
    assert_eq!(&*user.name, "robot");
    assert_eq!(user.groups, [AUTHENTICATED_GROUP]);
    let alice = ask(&it, &Peer::Unknown, &header("Bearer secret"))
        .await
        .expect("it is hers");
    assert_eq!(&*alice.name, "alice");
}
