//! What is wrong with the issuers of a file, in upstream's words, and what they are compiled to.

mod mappings;
mod rules;

use super::JWT_AUTHENTICATORS_MAX;
use super::file::{Issuer, JwtFile};
use super::jwt_authenticator::JwtAuthenticator;
use super::url;
use crate::jwt::Algorithm;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use std::collections::BTreeSet;

const MATCH_ANY: &str = "MatchAny";

/// Compiles the issuers of a file. Without errors, there is one authenticator for each.
pub(super) fn authenticators(
    files: Vec<JwtFile>,
    disallowed: &[String],
) -> (Vec<JwtAuthenticator>, Vec<FieldError>) {
    let root = FieldPath::new("jwt");
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    if files.len() > JWT_AUTHENTICATORS_MAX {
        let max = JWT_AUTHENTICATORS_MAX;
        return (
            all,
            vec![FieldError::too_many(&root, Some(files.len()), max)],
        );
    }
    let (mut issuers, mut discoveries) = (BTreeSet::new(), BTreeSet::new());
    for (at, file) in files.into_iter().enumerate() {
        let path = root.index(at);
        let of_issuer = path.child("issuer");
        let (url, discovery) = (file.issuer.url.clone(), file.issuer.discovery_url.clone());
        all.push(authenticator(file, disallowed, &path, &mut errors));
        if !issuers.insert(url.clone()) {
            errors.push(FieldError::duplicate(&of_issuer.child("url"), &url));
        }
        if !discovery.is_empty() && !discoveries.insert(discovery.clone()) {
            let path = of_issuer.child("discoveryURL");
            errors.push(FieldError::duplicate(&path, &discovery));
        }
    }
    (all, errors)
}

fn authenticator(
    file: JwtFile,
    disallowed: &[String],
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> JwtAuthenticator {
    issuer(&file.issuer, disallowed, &path.child("issuer"), errors);
    let of_rules = path.child("claimValidationRules");
    let rules = rules::of_claims(file.claim_validation_rules, &of_rules, errors);
    let of_mappings = path.child("claimMappings");
    let mappings = mappings::compile(file.claim_mappings, &of_mappings, &rules, errors);
    let of_user = path.child("userValidationRules");
    JwtAuthenticator {
        issuer: file.issuer,
        algorithms: Algorithm::ALL.to_vec(),
        mappings,
        required_claims: rules.required,
        claim_rules: rules.expressions,
        user_rules: rules::of_user(file.user_validation_rules, &of_user, errors),
    }
}

fn issuer(issuer: &Issuer, disallowed: &[String], path: &FieldPath, errors: &mut Vec<FieldError>) {
    let of_url = path.child("url");
    if issuer.url.is_empty() {
        errors.push(FieldError::required(&of_url, ""));
    } else {
        errors.extend(url::problems(&issuer.url, disallowed, &of_url));
    }
    let discovery = &issuer.discovery_url;
    if !discovery.is_empty() {
        let path = path.child("discoveryURL");
        let same = issuer.url.trim_end_matches('/') == discovery.trim_end_matches('/');
        if same && !issuer.url.is_empty() {
            let why = "discoveryURL must be different from URL";
            errors.push(FieldError::invalid(&path, discovery, why));
        }
        errors.extend(url::problems(discovery, &[], &path));
    }
    audiences(issuer, path, errors);
    let authority = &issuer.certificate_authority;
    if !authority.is_empty() && !has_certificate(authority) {
        errors.push(FieldError::invalid(
            &path.child("certificateAuthority"),
            "<omitted>",
            "data does not contain any valid RSA or ECDSA certificates",
        ));
    }
    let egress = &issuer.egress_selector_type;
    if !egress.is_empty() {
        let why = match &**egress {
            "controlplane" | "cluster" => "egress selectors are not supported by this server",
            _ => "egress selector must be either controlplane or cluster",
        };
        let path = path.child("egressSelectorType");
        errors.push(FieldError::invalid(&path, BadValue::json(egress), why));
    }
}

fn audiences(issuer: &Issuer, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let of_list = path.child("audiences");
    if issuer.audiences.is_empty() {
        let why = format!("at least one {of_list} is required");
        errors.push(FieldError::required(&of_list, why));
        return;
    }
    let mut seen = BTreeSet::new();
    for (at, audience) in issuer.audiences.iter().enumerate() {
        let path = of_list.index(at);
        if audience.is_empty() {
            errors.push(FieldError::required(&path, ""));
        }
        if !seen.insert(audience) {
            errors.push(FieldError::duplicate(&path, audience));
        }
    }
    let policy = &*issuer.audience_match_policy;
    let why = match (issuer.audiences.len(), policy) {
        (_, MATCH_ANY) | (1, "") => return,
        (1, _) => "audienceMatchPolicy must be empty or MatchAny for single audience",
        _ => "audienceMatchPolicy must be MatchAny for multiple audiences",
    };
    let path = path.child("audienceMatchPolicy");
    errors.push(FieldError::invalid(&path, BadValue::json(policy), why));
}

/// Reports whether a text has a block of a certificate. What is in it is read by who connects.
fn has_certificate(text: &str) -> bool {
    let begin = "-----BEGIN CERTIFICATE-----";
    let end = "-----END CERTIFICATE-----";
    let body = text.split_once(begin).and_then(|it| it.1.split_once(end));
    body.is_some_and(|(body, _)| {
        let encoded: String = body.split_ascii_whitespace().collect();
        let decoded = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            encoded.as_bytes(),
        );
        decoded.is_ok_and(|it| !it.is_empty())
    })
}
