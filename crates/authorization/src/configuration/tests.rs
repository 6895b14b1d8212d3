//! Files of authorizers. Texts are those of a kube-apiserver.

use super::*;
use crate::{Action, Attributes, ResourceAction, ReviewSpec, User};

const GOOD: &str = "    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: NoOpinion
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /k.yaml}
";

fn parse(authorizers: &str) -> Result<AuthorizationConfiguration, String> {
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n\
         authorizers:\n{authorizers}"
    );
    AuthorizationConfiguration::parse(text.as_bytes()).map_err(|it| it.to_string())
}

fn webhook(fields: &str) -> Result<WebhookConfiguration, String> {
    let text = format!("- type: Webhook\n  name: a\n  webhook:\n{fields}");
    let mut configuration = parse(&text)?;
    match configuration.authorizers.pop() {
        Some(AuthorizerConfiguration::Webhook(webhook)) => Ok(webhook),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_webhook_has_upstreams_defaults() {
    let it = webhook(GOOD).expect("it is valid");
    assert_eq!(it.authorized_ttl, Duration::from_secs(300));
    assert_eq!(it.unauthorized_ttl, Duration::from_secs(30));
    assert_eq!(it.failure_policy, FailurePolicy::NoOpinion);
    let not_kept = format!("{GOOD}    cacheAuthorizedRequests: false\n    unauthorizedTTL: 1m\n");
    let it = webhook(&not_kept).expect("it is valid");
    assert_eq!(it.authorized_ttl, Duration::ZERO);
    assert_eq!(it.unauthorized_ttl, Duration::from_secs(60));
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    let refused = |it: Result<AuthorizationConfiguration, String>| it.expect_err("it is wrong");
    assert_eq!(
        refused(parse("- {type: Webhook, name: a, webhook: {}}")),
        "[authorizers[0].timeout: Required value, \
         authorizers[0].subjectAccessReviewVersion: Required value, \
         authorizers[0].failurePolicy: Required value, \
         authorizers[0].connectionInfo.type: Required value]"
    );
    assert_eq!(
        refused(parse(
            "- {type: X, name: a}\n- {type: RBAC, name: rbac}\n- {type: RBAC, name: r}"
        )),
        "[authorizers[0].type: Unsupported value: \"X\": supported values: \"ABAC\", \
         \"AlwaysAllow\", \"AlwaysDeny\", \"Node\", \"RBAC\", \"Webhook\", authorizers[2].type: \
         Duplicate value: \"RBAC\"]"
    );
    assert_eq!(
        refused(parse("- {type: RBAC, name: roles}")),
        "expected name rbac for authorizer RBAC instead of roles"
    );
    let why = refused(parse("  []"));
    assert_eq!(
        why,
        "authorizers: Required value: at least one authorization mode must be defined"
    );
    let wrong = format!("{GOOD}    matchConditions: [{{expression: request.user}}]\n");
    let why = webhook(&wrong).expect_err("it is no boolean");
    assert!(
        why.contains("must evaluate to bool but got string"),
        "{why}"
    );
    let wrong = format!("{GOOD}    matchConditions: [{{expression: 'request.verb == \"\"'}}]\n");
    let why = webhook(&wrong).expect_err("there is no such field");
    assert!(why.contains("undefined field 'verb'"), "{why}");
}

#[test]
fn conditions_say_which_requests_a_webhook_is_asked_about() {
    let it = webhook(&format!(
        "{GOOD}    matchConditions:\n    - expression: has(request.resourceAttributes)\n    - \
         expression: request.resourceAttributes.namespace != 'kube-system'\n    - expression: \
         \"!('system:masters' in request.groups)\"\n"
    ));
    let it = it.expect("it is valid");
    let user = User::default();
    let ask = |action| {
        let attributes = Attributes {
            user: &user,
            verb: "get",
            action,
        };
        it.match_conditions
            .match_request(&ReviewSpec::of(&attributes))
    };
    let pods = |namespace| {
        Action::Resource(ResourceAction {
            resource: "pods",
            namespace,
            ..ResourceAction::default()
        })
    };
    assert_eq!(ask(pods("default")), Ok(true));
    assert_eq!(ask(pods("")), Ok(true));
    assert_eq!(ask(pods("kube-system")), Ok(false));
    assert_eq!(ask(Action::Path("/livez")), Ok(false));
    let fails = webhook(&format!(
        "{GOOD}    matchConditions: [{{expression: request.resourceAttributes.name == 'x'}}]\n"
    ));
    let attributes = Attributes {
        user: &user,
        verb: "get",
        action: Action::Path("/"),
    };
    let verdict = fails
        .expect("it is valid")
        .match_conditions
        .match_request(&ReviewSpec::of(&attributes));
    let why = verdict.expect_err("there are none");
    assert!(
        why.starts_with("cel evaluation error: expression 'request.resource"),
        "{why}"
    );
}
