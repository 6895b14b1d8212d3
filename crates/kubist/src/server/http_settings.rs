//! What the HTTP server, and those who read its announcement, must know of a configuration.

use crate::advertise;
use crate::server_config::ServerConfig;
use kubist_apimachinery::{ByteString, Str};
use kubist_apiserver::{
    CertificateDer, DynamicAdmission, MASTERS_GROUP, RequestHeader, RunningServer, StaticToken,
};
use kubist_authentication::RequestHeaders;
use kubist_registry::{AnnouncedProxies, User};

/// The administrator as the user of tokens; upstream's token files also have a uid.
const ADMIN: &str = "kubernetes-admin";

/// Returns the settings of the HTTP server, which follows the stored webhooks and policies.
pub(super) fn settings_of_http(
    config: &ServerConfig,
    stored: DynamicAdmission,
) -> kubist_apiserver::Config {
    // The certificate names what the Service `kubernetes` leads to, whichever chose it.
    let chosen = config.listen.filter(|it| it.ip().is_unspecified());
    let chosen = chosen.and_then(advertise::address);
    let advertised = config.advertise_address.or(chosen);
    let tokens = config.tokens.iter().map(|it| admin_token(it));
    kubist_apiserver::Config {
        listen: config.listen,
        serving_names: advertised.iter().map(ToString::to_string).collect(),
        tokens: tokens.chain(config.user_tokens.iter().cloned()).collect(),
        authenticators: config.authenticators.clone(),
        authorization: config.authorization.clone(),
        audit: config.audit.clone(),
        admission: Some(stored),
        anonymous: config.anonymous.clone(),
        observer: config.observer.clone(),
        seed: config.seed,
        requests_max: config.requests_max,
        mutating_requests_max: config.mutating_requests_max,
        priority_and_fairness: config.priority_and_fairness,
        cbor: config.cbor,
        connections_max: config.connections_max,
        backends: config.backends.clone(),
        aggregation: config.aggregation.clone(),
        shutdown_delay: config.shutdown_delay,
        watch_drain: config.watch_drain,
        goaway_chance: config.goaway_chance,
        ..kubist_apiserver::Config::default()
    }
}

/// Returns all authorities of client certificates, in PEM.
pub(super) fn client_ca(api: &RunningServer, others: &[CertificateDer<'static>]) -> String {
    let mut all = api.ca_pem();
    if all.is_empty() {
        return all;
    }
    for other in others {
        let encoded = ByteString(other.to_vec()).to_base64();
        all.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in encoded.as_bytes().chunks(64) {
            all.push_str(&String::from_utf8_lossy(line));
            all.push('\n');
        }
        all.push_str("-----END CERTIFICATE-----\n");
    }
    all
}

/// Returns what others must know to believe the same proxies.
pub(super) fn announced(proxies: &RequestHeader) -> AnnouncedProxies {
    let RequestHeaders {
        username,
        uid,
        group,
        extra_prefix,
    } = proxies.headers.clone();
    AnnouncedProxies {
        client_ca: proxies.authorities_pem.clone(),
        allowed_names: proxies.allowed_names.clone(),
        username_headers: username,
        uid_headers: uid,
        group_headers: group,
        extra_header_prefixes: extra_prefix,
    }
}

/// Returns a token of the administrator.
fn admin_token(token: &str) -> StaticToken {
    StaticToken {
        token: token.to_owned(),
        user: User {
            name: Str::from(ADMIN),
            uid: Str::from(ADMIN),
            groups: vec![Str::from(MASTERS_GROUP)],
            ..User::default()
        },
    }
}
