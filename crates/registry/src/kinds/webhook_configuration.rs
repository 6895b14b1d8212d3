//! Configurations of validating and of mutating webhooks.

use crate::{Generation, KindStrategy, MetadataRules};
use kubist_api::admissionregistration::v1::{
    MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhookConfiguration,
    WebhookClientConfig,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str, validate_name};

use super::fill;
use super::rules::{self, Errors};

#[derive(Debug)]
pub(super) struct ValidatingWebhooks;

#[derive(Debug)]
pub(super) struct MutatingWebhooks;

/// Seconds.
const TIMEOUT: i32 = 10;
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// What the two types of webhooks have in common.
macro_rules! default_webhook {
    ($webhook:expr) => {{
        let webhook = $webhook;
        fill::option(&mut webhook.failure_policy, "Fail");
        fill::option(&mut webhook.match_policy, "Equivalent");
        webhook.namespace_selector.get_or_insert_default();
        webhook.object_selector.get_or_insert_default();
        webhook.timeout_seconds.get_or_insert(TIMEOUT);
        if let Some(service) = &mut webhook.client_config.service {
            service.port.get_or_insert(443);
        }
        for rule in &mut webhook.rules {
            fill::option(&mut rule.scope, "*");
        }
    }};
}

macro_rules! check_webhook {
    ($errors:expr, $webhook:expr, $path:expr) => {{
        let webhook = $webhook;
        check(
            $errors,
            &Facts {
                name: &webhook.name,
                rules: &webhook.rules,
                failure_policy: webhook.failure_policy.as_deref(),
                match_policy: webhook.match_policy.as_deref(),
                side_effects: webhook.side_effects.as_deref(),
                timeout: webhook.timeout_seconds,
                client: &webhook.client_config,
                versions: &webhook.admission_review_versions,
            },
            $path,
        );
    }};
}

impl KindStrategy for ValidatingWebhooks {
    type Kind = ValidatingWebhookConfiguration;

    fn apply_defaults(&self, object: &mut ValidatingWebhookConfiguration) {
        object
            .webhooks
            .iter_mut()
            .for_each(|webhook| default_webhook!(webhook));
    }
    fn validate(&self, new: &ValidatingWebhookConfiguration) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, webhook) in new.webhooks.iter().enumerate() {
            check_webhook!(
                &mut errors,
                webhook,
                &FieldPath::new("webhooks").index(index)
            );
        }
        errors
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

impl KindStrategy for MutatingWebhooks {
    type Kind = MutatingWebhookConfiguration;

    fn apply_defaults(&self, object: &mut MutatingWebhookConfiguration) {
        for webhook in &mut object.webhooks {
            default_webhook!(&mut *webhook);
            fill::option(&mut webhook.reinvocation_policy, "Never");
        }
    }
    fn validate(&self, new: &MutatingWebhookConfiguration) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, webhook) in new.webhooks.iter().enumerate() {
            let path = FieldPath::new("webhooks").index(index);
            check_webhook!(&mut errors, webhook, &path);
            if let Some(policy) = &webhook.reinvocation_policy {
                let path = path.child("reinvocationPolicy");
                rules::one_of(&mut errors, policy, &["IfNeeded", "Never"], &path);
            }
        }
        errors
    }
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

struct Facts<'a> {
    name: &'a str,
    rules: &'a [RuleWithOperations],
    failure_policy: Option<&'a str>,
    match_policy: Option<&'a str>,
    side_effects: Option<&'a str>,
    timeout: Option<i32>,
    client: &'a WebhookClientConfig,
    versions: &'a [Str],
}

fn check(errors: &mut Errors, webhook: &Facts<'_>, path: &FieldPath) {
    fully_qualified(errors, webhook.name, &path.child("name"));
    for (index, rule) in webhook.rules.iter().enumerate() {
        check_rule(errors, rule, &path.child("rules").index(index));
    }
    for (name, value, supported) in [
        ("failurePolicy", webhook.failure_policy, &["Fail", "Ignore"]),
        (
            "matchPolicy",
            webhook.match_policy,
            &["Equivalent", "Exact"],
        ),
    ] {
        if let Some(value) = value {
            rules::one_of(errors, value, supported, &path.child(name));
        }
    }
    let effects = ["None", "NoneOnDryRun"];
    let at = path.child("sideEffects");
    match webhook.side_effects {
        None => {
            let detail = format!("must specify one of {}", effects.join(", "));
            errors.push(FieldError::required(&at, detail));
        }
        Some(effect) => rules::one_of(errors, effect, &effects, &at),
    }
    if let Some(seconds) = webhook.timeout.filter(|it| !(1..=30).contains(it)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.push(FieldError::invalid(
            &path.child("timeoutSeconds"),
            seconds,
            detail,
        ));
    }
    check_client(errors, webhook.client, &path.child("clientConfig"));
    let at = path.child("admissionReviewVersions");
    if webhook.versions.is_empty() {
        let detail = "must specify one of v1, v1beta1";
        errors.push(FieldError::required(&at, detail));
    } else if !webhook
        .versions
        .iter()
        .any(|it| it == "v1" || it == "v1beta1")
    {
        let detail = "must include at least one of v1, v1beta1";
        let shown = BadValue::json(webhook.versions);
        errors.push(FieldError::invalid(&at, shown, detail));
    }
}

/// A name with at least three segments.
fn fully_qualified(errors: &mut Errors, name: &str, path: &FieldPath) {
    if !rules::required(errors, name, path) {
        return;
    }
    let problems = validate_name::dns1123_subdomain(name);
    if !problems.is_empty() {
        errors.extend(
            problems
                .into_iter()
                .map(|it| FieldError::invalid(path, name, it)),
        );
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

fn check_rule(errors: &mut Errors, rule: &RuleWithOperations, path: &FieldPath) {
    let at = path.child("operations");
    if rule.operations.is_empty() {
        errors.push(FieldError::required(&at, ""));
    }
    if rule.operations.len() > 1 && rule.operations.iter().any(|it| it == "*") {
        let detail = "if '*' is present, must not specify other operations";
        errors.push(FieldError::invalid(
            &at,
            BadValue::json(&rule.operations),
            detail,
        ));
    }
    for (index, operation) in rule.operations.iter().enumerate() {
        rules::one_of(errors, operation, &OPERATIONS, &at.index(index));
    }
    for (name, list, plural) in [
        ("apiGroups", &rule.api_groups, "API groups"),
        ("apiVersions", &rule.api_versions, "API versions"),
        ("resources", &rule.resources, "resources"),
    ] {
        let at = path.child(name);
        if list.is_empty() {
            errors.push(FieldError::required(&at, ""));
        }
        if name != "resources" && list.len() > 1 && list.iter().any(|it| it == "*") {
            let detail = format!("if '*' is present, must not specify other {plural}");
            errors.push(FieldError::invalid(&at, BadValue::json(list), detail));
        }
        for (index, _) in list.iter().enumerate().filter(|(_, it)| it.is_empty()) {
            // Only the core group has no name.
            if name != "apiGroups" {
                errors.push(FieldError::required(&at.index(index), ""));
            }
        }
    }
    if let Some(scope) = &rule.scope {
        let path = path.child("scope");
        rules::one_of(errors, scope, &["*", "Cluster", "Namespaced"], &path);
    }
}

fn check_client(errors: &mut Errors, client: &WebhookClientConfig, path: &FieldPath) {
    match (&client.url, &client.service) {
        (None, None) | (Some(_), Some(_)) => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(path, detail));
        }
        (Some(url), None) => check_url(errors, url, &path.child("url")),
        (None, Some(service)) => {
            let service = Service {
                name: &service.name,
                namespace: &service.namespace,
                path: service.path.as_deref(),
                port: service.port,
            };
            check_service(errors, &service, &path.child("service"));
        }
    }
}

/// The service of a webhook, of whatever kind that is.
pub(super) struct Service<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) path: Option<&'a str>,
    pub(super) port: Option<i32>,
}

/// Checks the service of a webhook.
pub(super) fn check_service(errors: &mut Errors, service: &Service<'_>, at: &FieldPath) {
    rules::required(errors, service.name, &at.child("name"));
    rules::required(errors, service.namespace, &at.child("namespace"));
    let port = service.port.unwrap_or(443);
    let problems = validate_name::port_number(port.into());
    if !problems.is_empty() {
        let detail = format!("port is not valid: {}", problems.join(", "));
        errors.push(FieldError::invalid(&at.child("port"), port, detail));
    }
    let (path, at) = (service.path.unwrap_or_default(), at.child("path"));
    let segments = match path {
        "" | "/" => return,
        "//" => {
            let detail = "segment[0] may not be empty";
            errors.push(FieldError::invalid(&at, path, detail));
            return;
        }
        _ => path.strip_prefix('/'),
    };
    if segments.is_none() {
        errors.push(FieldError::invalid(&at, path, "must start with a '/'"));
    }
    // Upstream leaves out the first letter, whatever it is.
    let segments = segments.unwrap_or_else(|| path.get(1..).unwrap_or_default());
    let segments = segments.strip_suffix('/').unwrap_or(segments);
    for (index, segment) in segments.split('/').enumerate() {
        if segment.is_empty() {
            let detail = format!("segment[{index}] may not be empty");
            errors.push(FieldError::invalid(&at, path, detail));
            continue;
        }
        for problem in validate_name::dns1123_subdomain(segment) {
            let detail = format!("segment[{index}]: {problem}");
            errors.push(FieldError::invalid(&at, path, detail));
        }
    }
}

/// Checks the URL of a webhook.
pub(super) fn check_url(errors: &mut Errors, url: &str, path: &FieldPath) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(FieldError::invalid(path, scheme, detail));
    }
    let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.is_empty() {
        let detail = format!("host must be specified{FORM}");
        errors.push(FieldError::invalid(path, authority, detail));
    }
    if let Some((user, _)) = authority.split_once('@') {
        let detail = "user information is not permitted in the URL";
        errors.push(FieldError::invalid(path, user, detail));
    }
    if let Some((_, fragment)) = tail.split_once('#') {
        let detail = "fragments are not permitted in the URL";
        errors.push(FieldError::invalid(path, fragment, detail));
    }
    if let Some((_, query)) = tail.split_once('?') {
        let detail = "query parameters are not permitted in the URL";
        errors.push(FieldError::invalid(path, query, detail));
    }
}
