//! Validation of webhooks.

mod client;

use self::client::check_client;
pub(crate) use self::client::{Service, check_service, check_url};
use super::expressions::Expressions;
use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::{
    MatchCondition, RuleWithOperations, WebhookClientConfig,
};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, LabelSelector, Str, validate_label_selector, validate_name,
};
use std::collections::BTreeSet;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// The fields that validating and mutating webhooks share.
pub(crate) struct Facts<'a> {
    pub(crate) name: &'a str,
    pub(crate) rules: &'a [RuleWithOperations],
    pub(crate) failure_policy: Option<&'a str>,
    pub(crate) match_policy: Option<&'a str>,
    pub(crate) side_effects: Option<&'a str>,
    pub(crate) timeout: Option<i32>,
    pub(crate) namespaces: Option<&'a LabelSelector>,
    pub(crate) objects: Option<&'a LabelSelector>,
    pub(crate) client: &'a WebhookClientConfig,
    /// None if an update leaves them as they were.
    pub(crate) conditions: Option<&'a [MatchCondition]>,
    /// The expressions that were stored before.
    pub(crate) known: &'a [&'a str],
    pub(crate) versions: &'a [Str],
    /// Set for mutating webhooks only.
    pub(crate) reinvocation: Option<&'a str>,
}

/// Checks one webhook.
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
    for (name, selector) in [
        ("namespaceSelector", webhook.namespaces),
        ("objectSelector", webhook.objects),
    ] {
        if let Some(selector) = selector {
            let at = path.child(name);
            errors.extend(validate_label_selector(selector, &at, false));
        }
    }
    check_client(errors, webhook.client, &path.child("clientConfig"));
    if let Some(policy) = webhook.reinvocation {
        let at = path.child("reinvocationPolicy");
        rules::one_of(errors, policy, &["IfNeeded", "Never"], &at);
    }
    if let Some(conditions) = webhook.conditions {
        let expressions = Expressions::new(false, webhook.known.iter().copied());
        expressions.conditions(errors, conditions, &path.child("matchConditions"));
    }
}

/// Checks all webhooks of a configuration: names are unique, and each accepts a known review
/// version.
pub(crate) fn check_all(errors: &mut Errors, all: &[Facts<'_>]) {
    let path = FieldPath::new("webhooks");
    let twice = rules::repeats(all.iter().map(|it| it.name));
    for ((index, webhook), twice) in all.iter().enumerate().zip(twice) {
        let path = path.index(index);
        check(errors, webhook, &path);
        check_versions(
            errors,
            webhook.versions,
            &path.child("admissionReviewVersions"),
        );
        if twice && !webhook.name.is_empty() {
            errors.push(FieldError::duplicate(&path.child("name"), webhook.name));
        }
    }
}

fn check_versions(errors: &mut Errors, versions: &[Str], path: &FieldPath) {
    if versions.is_empty() {
        let detail = "must specify one of v1, v1beta1";
        errors.push(FieldError::required(path, detail));
        return;
    }
    let twice = rules::repeats(versions);
    for ((index, version), twice) in versions.iter().enumerate().zip(twice) {
        let at = path.index(index);
        if twice {
            errors.push(FieldError::invalid(&at, version, "duplicate version"));
            continue;
        }
        rules::text(errors, version, &at, validate_name::dns1035_label);
    }
    if !versions.iter().any(|it| it == "v1" || it == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, BadValue::json(versions), detail));
    }
}

/// Checks that a name has at least three segments.
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

pub(super) fn check_rule(errors: &mut Errors, rule: &RuleWithOperations, path: &FieldPath) {
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
            // Only the core group has an empty name.
            if name != "apiGroups" {
                errors.push(FieldError::required(&at.index(index), ""));
            }
        }
    }
    check_resources(errors, &rule.resources, &path.child("resources"));
    if let Some(scope) = &rule.scope {
        let path = path.child("scope");
        rules::one_of(errors, scope, &["*", "Cluster", "Namespaced"], &path);
    }
}

/// Checks resources and subresources: an entry that a wildcard covers must not be listed beside it.
fn check_resources(errors: &mut Errors, resources: &[Str], path: &FieldPath) {
    let (mut of_resource, mut of_subresource) = (BTreeSet::new(), BTreeSet::new());
    let mut names_one = false;
    for (index, name) in resources.iter().enumerate() {
        let Some((resource, part)) = name.split_once('/') else {
            if !name.is_empty() {
                // Upstream uses the last of them.
                names_one = *name != "*";
            }
            continue;
        };
        for (covers, all) in [
            (of_resource.contains(resource), format!("{resource}/*")),
            (of_subresource.contains(part), format!("*/{part}")),
        ] {
            if covers && *name != "*/*" {
                let detail = format!("if '{all}' is present, must not specify {name}");
                errors.push(FieldError::invalid(&path.index(index), name, detail));
            }
        }
        if *name == "*/*" {
            continue;
        }
        if part == "*" {
            of_resource.insert(resource);
        }
        if resource == "*" {
            of_subresource.insert(part);
        }
    }
    let shown = || BadValue::json(resources);
    if resources.len() > 1 && resources.iter().any(|it| it == "*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, shown(), detail));
    }
    if names_one && resources.iter().any(|it| it == "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, shown(), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::client::URL_FORM;
    use super::*;

    fn problems(check: impl FnOnce(&mut Errors, &FieldPath)) -> Vec<String> {
        let mut errors = Vec::new();
        check(&mut errors, &FieldPath::new("it"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_url_has_a_scheme_and_a_host_and_no_more_than_a_path() {
        let of = |url: &str| problems(|errors, path| check_url(errors, url, path));
        assert_eq!(of("https://a.example.com/check"), [""; 0]);
        assert_eq!(
            of("fd00::/64"),
            [
                format!(
                    "it: Invalid value: \"fd00\": 'https' is the only allowed URL scheme{URL_FORM}"
                ),
                format!("it: Invalid value: \"\": host must be specified{URL_FORM}"),
            ]
        );
        assert_eq!(
            of("https://a/b?c=d#e"),
            [
                "it: Invalid value: \"e\": fragments are not permitted in the URL",
                "it: Invalid value: \"c=d\": query parameters are not permitted in the URL",
            ]
        );
        assert_eq!(
            of("100%"),
            [format!(
                "it: Required value: url must be a valid URL: parse \"100%\": invalid URL escape \
                 \"%\"{URL_FORM}"
            )]
        );
    }

    #[test]
    fn what_a_wildcard_covers_is_not_named_beside_it() {
        let of = |names: &[&str]| {
            let names: Vec<Str> = names.iter().map(|it| Str::from(*it)).collect();
            problems(|errors, path| check_resources(errors, &names, path))
        };
        assert_eq!(of(&["a", "b/*", "*/c"]), [""; 0]);
        assert_eq!(
            of(&["a/*", "a/b", "*", "x"]),
            [
                "it[1]: Invalid value: \"a/b\": if 'a/*' is present, must not specify a/b",
                "it: Invalid value: [\"a/*\",\"a/b\",\"*\",\"x\"]: if '*' is present, must not \
                 specify other resources without subresources",
            ]
        );
    }

    #[test]
    fn versions_of_reviews_are_there_once() {
        let of = |names: &[&str]| {
            let names: Vec<Str> = names.iter().map(|it| Str::from(*it)).collect();
            problems(|errors, path| check_versions(errors, &names, path))
        };
        assert_eq!(of(&["v1", "v2"]), [""; 0]);
        assert_eq!(
            of(&["v1", "v1"]),
            ["it[1]: Invalid value: \"v1\": duplicate version"]
        );
    }
}
