//! Validation of FlowSchemas, in upstream's words and order.

use kubist_api::flowcontrol::v1::{
    FlowSchema, FlowSchemaSpec, NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule,
    ServiceAccountSubject, Subject,
};
use kubist_apimachinery::validate_name::{dns1123_label, dns1123_subdomain};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str};

/// The only schema with precedence 1.
const EXEMPT: &str = "exempt";
const PRECEDENCE_MAX: i32 = 10_000;
const METHODS: [&str; 2] = ["ByNamespace", "ByUser"];
const KINDS: [&str; 3] = ["Group", "ServiceAccount", "User"];
const VERBS: [&str; 9] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

/// Returns what is wrong with a schema besides its metadata.
pub(super) fn problems(schema: &FlowSchema) -> Vec<FieldError> {
    let (mut errors, path) = (Vec::new(), FieldPath::new("spec"));
    let spec = &schema.spec;
    check_precedence(&mut errors, spec, &schema.metadata.name, &path);
    if let Some(method) = &spec.distinguisher_method
        && !METHODS.contains(&&*method.type_)
    {
        let path = path.child("distinguisherMethod").child("type");
        errors.push(FieldError::not_supported(&path, &method.type_, &METHODS));
    }
    let level = &spec.priority_level_configuration.name;
    let at = path.child("priorityLevelConfiguration").child("name");
    if level.is_empty() {
        errors.push(FieldError::required(&at, "must reference a priority level"));
    }
    for why in dns1123_subdomain(level)
        .into_iter()
        .filter(|_| !level.is_empty())
    {
        errors.push(FieldError::invalid(&at, level, why));
    }
    let rules = path.child("rules");
    for (place, rule) in spec.rules.iter().enumerate() {
        check_rule(&mut errors, rule, &rules.index(place));
    }
    errors
}

fn check_precedence(
    errors: &mut Vec<FieldError>,
    spec: &FlowSchemaSpec,
    name: &str,
    path: &FieldPath,
) {
    let (precedence, path) = (spec.matching_precedence, path.child("matchingPrecedence"));
    if precedence <= 0 {
        errors.push(FieldError::invalid(
            &path,
            precedence,
            "must be a positive value",
        ));
    }
    if precedence > PRECEDENCE_MAX {
        let why = format!("must not be greater than {PRECEDENCE_MAX}");
        errors.push(FieldError::invalid(&path, precedence, why));
    }
    if precedence == 1 && name != EXEMPT {
        let why = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.push(FieldError::invalid(&path, precedence, why));
    }
}

fn check_rule(errors: &mut Vec<FieldError>, rule: &PolicyRulesWithSubjects, path: &FieldPath) {
    let subjects = path.child("subjects");
    if rule.subjects.is_empty() {
        let why = "subjects must contain at least one value";
        errors.push(FieldError::required(&subjects, why));
    }
    for (place, subject) in rule.subjects.iter().enumerate() {
        check_subject(errors, subject, &subjects.index(place));
    }
    if rule.resource_rules.is_empty() && rule.non_resource_rules.is_empty() {
        let why = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(FieldError::required(path, why));
    }
    let rules = path.child("resourceRules");
    for (place, rule) in rule.resource_rules.iter().enumerate() {
        check_resources(errors, rule, &rules.index(place));
    }
    let rules = path.child("nonResourceRules");
    for (place, rule) in rule.non_resource_rules.iter().enumerate() {
        check_paths(errors, rule, &rules.index(place));
    }
}

fn check_subject(errors: &mut Vec<FieldError>, subject: &Subject, path: &FieldPath) {
    let user = subject.user.as_deref().map(|it| &it.name);
    let group = subject.group.as_deref().map(|it| &it.name);
    let account = subject.service_account.as_deref();
    match &*subject.kind {
        "ServiceAccount" => check_account(errors, account, &path.child("serviceAccount")),
        "User" => check_named(errors, user, "User", &path.child("user")),
        "Group" => check_named(errors, group, "Group", &path.child("group")),
        _ => {
            let path = path.child("kind");
            errors.push(FieldError::not_supported(&path, &subject.kind, &KINDS));
            return;
        }
    }
    for (field, kind, is_there) in [
        ("serviceAccount", "ServiceAccount", account.is_some()),
        ("user", "User", user.is_some()),
        ("group", "Group", group.is_some()),
    ] {
        if is_there && &*subject.kind != kind {
            let why = format!("{field} is forbidden when subject kind is not '{kind}'");
            errors.push(FieldError::forbidden(&path.child(field), why));
        }
    }
}

fn check_named(errors: &mut Vec<FieldError>, name: Option<&Str>, kind: &str, path: &FieldPath) {
    match name {
        None => {
            let field = kind.to_ascii_lowercase();
            let why = format!("{field} is required when subject kind is '{kind}'");
            errors.push(FieldError::required(path, why));
        }
        Some(name) if name.is_empty() => {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        Some(_) => {}
    }
}

fn check_account(
    errors: &mut Vec<FieldError>,
    account: Option<&ServiceAccountSubject>,
    path: &FieldPath,
) {
    let Some(account) = account else {
        let why = "serviceAccount is required when subject kind is 'ServiceAccount'";
        return errors.push(FieldError::required(path, why));
    };
    let (name, at) = (&account.name, path.child("name"));
    if name.is_empty() {
        errors.push(FieldError::required(&at, ""));
    } else if &**name != "*" {
        let problems = dns1123_subdomain(name).into_iter();
        errors.extend(problems.map(|why| FieldError::invalid(&at, name, why)));
    }
    let (namespace, at) = (&account.namespace, path.child("namespace"));
    if namespace.is_empty() {
        let why = "must specify namespace for service account";
        errors.push(FieldError::required(&at, why));
    } else {
        let problems = dns1123_label(namespace).into_iter();
        errors.extend(problems.map(|why| FieldError::invalid(&at, namespace, why)));
    }
}

/// A list must have something, and nothing beside a wildcard. Returns whether its members are to be
/// checked.
fn check_list(
    errors: &mut Vec<FieldError>,
    list: &[Str],
    path: &FieldPath,
    (missing, others): (&str, &str),
) -> bool {
    if list.is_empty() {
        errors.push(FieldError::required(path, missing));
        return false;
    }
    let has_wildcard = list.iter().any(|it| &**it == "*");
    if has_wildcard && list.len() > 1 {
        let why = format!("if '*' is present, must not specify other {others}");
        errors.push(FieldError::invalid(path, BadValue::json(list), why));
    }
    !has_wildcard
}

fn check_verbs(errors: &mut Vec<FieldError>, verbs: &[Str], path: &FieldPath) {
    let words = ("verbs must contain at least one value", "verbs");
    if check_list(errors, verbs, path, words) && verbs.iter().any(|it| !VERBS.contains(&&**it)) {
        errors.push(FieldError::not_supported(
            path,
            BadValue::json(verbs),
            &VERBS,
        ));
    }
}

fn check_resources(errors: &mut Vec<FieldError>, rule: &ResourcePolicyRule, path: &FieldPath) {
    check_verbs(errors, &rule.verbs, &path.child("verbs"));
    let words = (
        "resource rules must supply at least one api group",
        "api groups",
    );
    check_list(errors, &rule.api_groups, &path.child("apiGroups"), words);
    let words = (
        "resource rules must supply at least one resource",
        "resources",
    );
    check_list(errors, &rule.resources, &path.child("resources"), words);
    let path = path.child("namespaces");
    if rule.namespaces.is_empty() && rule.cluster_scope {
        return;
    }
    let words = (
        "resource rules that are not cluster scoped must supply at least one namespace",
        "namespaces",
    );
    if !check_list(errors, &rule.namespaces, &path, words) {
        return;
    }
    for (place, namespace) in rule.namespaces.iter().enumerate() {
        for why in dns1123_label(namespace) {
            let why = format!("each member of this list must be '*' or a DNS-1123 label; {why}");
            errors.push(FieldError::invalid(&path.index(place), namespace, why));
        }
    }
}

fn check_paths(errors: &mut Vec<FieldError>, rule: &NonResourcePolicyRule, path: &FieldPath) {
    check_verbs(errors, &rule.verbs, &path.child("verbs"));
    let (urls, path) = (&rule.non_resource_urls, path.child("nonResourceURLs"));
    let words = (
        "nonResourceURLs must contain at least one value",
        "non-resource URLs",
    );
    if !check_list(errors, urls, &path, words) {
        return;
    }
    for (place, url) in urls.iter().enumerate() {
        if let Some(why) = path_problem(url) {
            errors.push(FieldError::invalid(&path.index(place), url, why));
        }
    }
}

fn path_problem(url: &str) -> Option<&'static str> {
    let wildcards = url.matches('*').count();
    match url {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !url.starts_with('/') => Some("must start with slash"),
        _ if url.contains(' ') => Some("must not contain white-space"),
        _ if url.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || (wildcards == 1 && !url.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{DecodeContext, Wire as _};

    fn said(json: &str) -> Vec<String> {
        let schema = FlowSchema::from_json(json.as_bytes(), &mut DecodeContext::new());
        let problems = problems(&schema.expect("it is a schema"));
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_sound_schema_has_no_problems() {
        let sound = r#"{"metadata":{"name":"a"},"spec":{"matchingPrecedence":9,
            "priorityLevelConfiguration":{"name":"l"},"distinguisherMethod":{"type":"ByUser"},
            "rules":[{"subjects":[{"kind":"Group","group":{"name":"g"}},
            {"kind":"ServiceAccount","serviceAccount":{"name":"*","namespace":"n"}}],
            "resourceRules":[{"verbs":["get"],"apiGroups":["*"],"resources":["pods"],
            "namespaces":["n"]}],"nonResourceRules":[{"verbs":["*"],
            "nonResourceURLs":["/healthz","/metrics/*"]}]}]}}"#;
        assert_eq!(said(sound), [""; 0]);
    }

    #[test]
    fn problems_are_said_in_upstreams_words() {
        let bad = r#"{"metadata":{"name":"a"},"spec":{"matchingPrecedence":1,
            "priorityLevelConfiguration":{"name":""},"rules":[{"subjects":[
            {"kind":"User","group":{"name":"g"}},{"kind":"Robot"}],
            "resourceRules":[{"verbs":["fly"],"apiGroups":["*","a"],"resources":[]}],
            "nonResourceRules":[{"verbs":[],"nonResourceURLs":["a","/a*"]}]}]}}"#;
        assert_eq!(
            said(bad),
            [
                "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may \
                 have matchingPrecedence 1",
                "spec.priorityLevelConfiguration.name: Required value: must reference a priority \
                 level",
                "spec.rules[0].subjects[0].user: Required value: user is required when subject \
                 kind is 'User'",
                "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind \
                 is not 'Group'",
                "spec.rules[0].subjects[1].kind: Unsupported value: \"Robot\": supported values: \
                 \"Group\", \"ServiceAccount\", \"User\"",
                "spec.rules[0].resourceRules[0].verbs: Unsupported value: [\"fly\"]: supported \
                 values: \"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \
                 \"patch\", \"proxy\", \"update\", \"watch\"",
                "spec.rules[0].resourceRules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is \
                 present, must not specify other api groups",
                "spec.rules[0].resourceRules[0].resources: Required value: resource rules must \
                 supply at least one resource",
                "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that \
                 are not cluster scoped must supply at least one namespace",
                "spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at \
                 least one value",
                "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"a\": must \
                 start with slash",
                "spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"/a*\": \
                 wildcard can only do suffix matching",
            ]
        );
    }
}
