//! Configurations, and the users that claims name by them. Texts are those of a kube-apiserver.

use super::*;
use kubist_authorization::User;
use serde_json::{Map, Value, json};
use std::time::Duration;

const NOW: Duration = Duration::from_secs(1_700_000_000);

fn parse(body: &str) -> Result<AuthenticationConfiguration, String> {
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n{body}"
    );
    let own = ["https://kubernetes".to_owned()];
    AuthenticationConfiguration::parse(text.as_bytes(), &own).map_err(|it| it.to_string())
}

/// One issuer with these further fields.
fn issuer(mappings: &str, more: &str) -> Result<AuthenticationConfiguration, String> {
    parse(&format!(
        "jwt:\n- issuer: {{url: 'https://issuer', audiences: [app]}}\n  claimMappings: \
         {mappings}\n{more}"
    ))
}

fn claims(more: &Value) -> Map<String, Value> {
    let mut claims = json!({
        "iss": "https://issuer", "aud": "app", "exp": NOW.as_secs() + 60, "sub": "alice",
        "jti": "7",
    });
    let fields = claims.as_object_mut().expect("it is one");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    fields.clone()
}

fn user(mappings: &str, more: &str, of: &Value) -> Result<User, String> {
    let configuration = issuer(mappings, more).expect("it is valid");
    configuration.jwt[0].user(&claims(of), NOW)
}

const SUB: &str = "{username: {claim: sub, prefix: 'oidc:'}}";

#[test]
fn claims_name_a_user_with_prefixes() {
    let mappings = "{username: {claim: sub, prefix: 'oidc:'}, groups: {claim: roles, prefix: 'g:'}, \
                    uid: {claim: id}}";
    let alice = user(mappings, "", &json!({"roles": ["a", "b"], "id": "u"})).expect("it is good");
    assert_eq!((&*alice.name, &*alice.uid), ("oidc:alice", "u"));
    assert_eq!(alice.groups, ["g:a", "g:b"]);
    let credential = &alice.extra["authentication.kubernetes.io/credential-id"];
    assert_eq!(*credential, ["JTI=7"]);
    let one = user(mappings, "", &json!({"roles": "a", "id": "u"})).expect("it is good");
    assert_eq!(one.groups, ["g:a"]);
    assert_eq!(
        user(mappings, "", &json!({"roles": 1, "id": "u"})),
        Err(
            "oidc: parse groups claim \"roles\": json: cannot unmarshal number into Go value of \
             type string"
                .to_owned()
        )
    );
    let elsewhere = json!({"_claim_names": {"roles": "src"}, "id": "u"});
    let refused = user(mappings, "", &elsewhere).expect_err("it is not supported");
    assert!(refused.contains("distributed"), "{refused}");
}

#[test]
fn expressions_name_a_user() {
    let mappings = r#"
      username: {expression: 'claims.sub + "@x"'}
      groups: {expression: 'claims.roles.split(",") + (claims.?admin.orValue(false) ? ["admins"] : [])'}
      uid: {expression: 'string(int(claims.level)) + claims.foo__dot__bar'}
      extra:
      - {key: example.com/tenant, valueExpression: claims.tenant}
      - {key: example.com/none, valueExpression: '""'}"#;
    let of = json!({
        "roles": "a,b", "admin": true, "level": 3, "foo.bar": "z", "tenant": ["t", ""],
    });
    let alice = user(mappings, "", &of).expect("it is good");
    assert_eq!((&*alice.name, &*alice.uid), ("alice@x", "3z"));
    assert_eq!(alice.groups, ["a", "b", "admins"]);
    assert_eq!(alice.extra["example.com/tenant"], ["t"]);
    assert!(!alice.extra.contains_key("example.com/none"));
    let missing = user("{username: {expression: claims.nope}}", "", &json!({}));
    assert_eq!(
        missing,
        Err(
            "oidc: error evaluating username claim expression: expression 'claims.nope' resulted \
             in error: no such key: nope"
                .to_owned()
        )
    );
}

#[test]
fn rules_refuse_users_with_their_message() {
    let rules = "  claimValidationRules:
  - {claim: hd, requiredValue: example.com}
  - {expression: 'claims.level > 2', message: too low}
  userValidationRules:
  - {expression: '!user.username.startsWith(\"oidc:system:\")', message: reserved}
  - {expression: 'user.groups.all(g, g != \"x\")', message: no x}";
    let ask = |of: &Value| user(SUB, rules, of).map(|it| it.name.to_string());
    assert_eq!(
        ask(&json!({"hd": "example.com", "level": 3})),
        Ok("oidc:alice".to_owned())
    );
    let why = |text: &str| Err(text.to_owned());
    assert_eq!(
        ask(&json!({"level": 3})),
        why("oidc: required claim hd not present in ID token")
    );
    assert_eq!(
        ask(&json!({"hd": "b", "level": 3})),
        why("oidc: required claim hd value does not match. Got = b, want = example.com")
    );
    assert_eq!(
        ask(&json!({"hd": "example.com", "level": 2})),
        why(
            "oidc: error evaluating claim validation expression: validation expression \
             'claims.level > 2' failed: too low"
        )
    );
    assert_eq!(
        ask(&json!({"hd": "example.com", "level": 3, "sub": "system:x"})),
        why(
            "oidc: error evaluating user info validation rule: validation expression \
             '!user.username.startsWith(\"oidc:system:\")' failed: reserved"
        )
    );
}

#[test]
fn tokens_for_others_and_of_other_times_name_nobody() {
    let ask = |of: &Value| user(SUB, "", of).expect_err("it is refused");
    assert_eq!(
        ask(&json!({"aud": ["other"]})),
        "oidc: verify token: oidc: expected audience \"app\" got [\"other\"]"
    );
    assert_eq!(
        ask(&json!({"iss": "https://other"})),
        "oidc: verify token: oidc: id token issued by a different provider, expected \
         \"https://issuer\" got \"https://other\""
    );
    assert_eq!(
        ask(&json!({"exp": 1_699_999_999})),
        "oidc: verify token: oidc: token is expired (Token Expiry: 2023-11-14 22:13:19 +0000 UTC)"
    );
    let early = ask(&json!({"nbf": 1_700_000_061}));
    assert!(
        early.contains("before the nbf (not before) time: 2023-11-14 22:14:21"),
        "{early}"
    );
    assert!(ask(&json!({"exp": null})).contains("0001-01-01 00:00:00 +0000 UTC"));
    assert!(user(SUB, "", &json!({"aud": ["x", "app"], "nbf": 1_700_000_060})).is_ok());
}

#[test]
fn an_email_must_be_verified_if_the_token_says_so() {
    let mappings = "{username: {claim: email, prefix: ''}}";
    let ask = |of: &Value| user(mappings, "", of).map(|it| it.name.to_string());
    assert_eq!(ask(&json!({"email": "a@b"})), Ok("a@b".to_owned()));
    let unverified = json!({"email": "a@b", "email_verified": false});
    assert_eq!(ask(&unverified), Err("oidc: email not verified".to_owned()));
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    let refused = |it: Result<AuthenticationConfiguration, String>| it.expect_err("it is wrong");
    assert_eq!(
        refused(parse(
            "jwt:\n- issuer: {url: 'http://u:p@x?q#f'}\n  claimMappings: {}\n"
        )),
        "invalid authentication configuration: [jwt[0].issuer.url: Invalid value: \
         \"http://u:p@x?q#f\": URL scheme must be https, jwt[0].issuer.url: Invalid value: \
         \"http://u:p@x?q#f\": URL must not contain a username or password, jwt[0].issuer.url: \
         Invalid value: \"http://u:p@x?q#f\": URL must not contain a query, jwt[0].issuer.url: \
         Invalid value: \"http://u:p@x?q#f\": URL must not contain a fragment, \
         jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is \
         required, jwt[0].claimMappings.username: Required value: claim or expression is required]"
    );
    let email = "{username: {expression: claims.email}}";
    let why = refused(issuer(email, ""));
    assert!(
        why.contains("claims.email_verified must be used in"),
        "{why}"
    );
    let verified = "{username: {expression: 'claims.?email_verified.orValue(true) ? claims.email : \
                    \"\"'}}";
    assert!(issuer(verified, "").is_ok());
    let why = refused(issuer("{username: {claim: sub}}", ""));
    assert!(
        why.contains("username.prefix: Required value: prefix is required when"),
        "{why}"
    );
    let rule = "  claimValidationRules: [{expression: claims.sub}]";
    let why = refused(issuer(SUB, rule));
    assert!(
        why.ends_with("Invalid value: \"claims.sub\": must evaluate to bool"),
        "{why}"
    );
    let extra = "{username: {claim: a, prefix: ''}, extra: [{key: K8s.io/a, valueExpression: x}]}";
    let why = refused(issuer(extra, ""));
    assert!(why.contains("must be lowercase"), "{why}");
    assert!(why.contains("undeclared reference to 'x'"), "{why}");
    let why = refused(parse(
        "anonymous: {enabled: false, conditions: [{path: /a}]}",
    ));
    assert_eq!(
        why,
        "invalid authentication configuration: anonymous.conditions: Invalid value: \
         [{\"Path\":\"/a\"}]: enabled should be set to true when conditions are defined"
    );
    let own = "jwt:\n- issuer: {url: 'https://kubernetes', audiences: [a]}\n  claimMappings: ";
    let why = refused(parse(&format!("{own}{SUB}")));
    assert!(
        why.contains("must not overlap with disallowed issuers: [https://kubernetes]"),
        "{why}"
    );
}

#[test]
fn the_older_options_are_a_file_with_one_issuer() {
    let options = OidcOptions {
        issuer_url: "https://issuer".to_owned(),
        client_id: "app".to_owned(),
        groups_claim: "roles".to_owned(),
        groups_prefix: "g:".to_owned(),
        required_claims: vec![("hd".to_owned(), "x".to_owned())],
        ..OidcOptions::default()
    };
    let configuration = options.clone().configuration(&[]).expect("it is valid");
    let of = claims(&json!({"roles": ["a"], "hd": "x"}));
    let alice = configuration.jwt[0].user(&of, NOW).expect("it is good");
    assert_eq!(&*alice.name, "https://issuer#alice");
    assert_eq!(alice.groups, ["g:a"]);
    let wrong = OidcOptions {
        signing_algorithms: vec!["HS256".to_owned()],
        ..options
    };
    let why = wrong
        .configuration(&[])
        .expect_err("it is not public")
        .to_string();
    assert_eq!(why, "oidc: unsupported signing alg: \"HS256\"");
    let why = OidcOptions::default()
        .configuration(&[])
        .expect_err("it says nothing");
    assert!(
        why.to_string()
            .starts_with("oidc-issuer-url and oidc-client-id must be")
    );
}
