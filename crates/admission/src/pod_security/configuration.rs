//! `PodSecurityConfig`: what is demanded of namespaces without labels, and what is exempt.

use super::level::{Level, LevelVersion, NO_LEVEL, NO_VERSION, PREFIX, Policy, Version};
use crate::document::{Document, DocumentError};
use kubist_api::core::v1::PodSpec;
use kubist_apimachinery::validate_name::{dns1123_label, dns1123_subdomain};
use kubist_apimachinery::{FieldError, FieldPath, Str};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The configuration. The default demands and exempts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PodSecurityConfig {
    pub(super) defaults: Policy,
    users: Vec<String>,
    namespaces: Vec<String>,
    classes: Vec<String>,
}

const KIND: &str = "PodSecurityConfiguration";
/// The versions of the configuration.
const KINDS: [(&str, &str); 3] = [
    ("pod-security.admission.config.k8s.io/v1", KIND),
    ("pod-security.admission.config.k8s.io/v1beta1", KIND),
    ("pod-security.admission.config.k8s.io/v1alpha1", KIND),
];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    defaults: Defaults,
    exemptions: Exemptions,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Defaults {
    enforce: String,
    enforce_version: String,
    audit: String,
    audit_version: String,
    warn: String,
    warn_version: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Exemptions {
    usernames: Vec<String>,
    namespaces: Vec<String>,
    runtime_classes: Vec<String>,
}

impl PodSecurityConfig {
    /// Reads a configuration.
    pub(crate) fn parse(document: Document) -> Result<Self, DocumentError> {
        let File {
            defaults,
            exemptions,
        } = document.of_kinds(&KINDS)?;
        let mut errors = Vec::new();
        let policy = Policy {
            enforce: read(
                &mut errors,
                "enforce",
                &defaults.enforce,
                &defaults.enforce_version,
            ),
            warn: read(&mut errors, "warn", &defaults.warn, &defaults.warn_version),
            audit: read(
                &mut errors,
                "audit",
                &defaults.audit,
                &defaults.audit_version,
            ),
        };
        let at = |name: &str| FieldPath::new("exemptions").child(name);
        let Exemptions {
            usernames,
            namespaces,
            runtime_classes,
        } = exemptions;
        check(&mut errors, &namespaces, &at("namespaces"), dns1123_label);
        check(
            &mut errors,
            &runtime_classes,
            &at("runtimeClasses"),
            dns1123_subdomain,
        );
        check(&mut errors, &usernames, &at("usernames"), |it| {
            let empty = it
                .is_empty()
                .then(|| "username must not be empty".to_owned());
            empty.into_iter().collect()
        });
        DocumentError::unless_empty(&errors)?;
        Ok(Self {
            defaults: policy,
            users: usernames,
            namespaces,
            classes: runtime_classes,
        })
    }

    /// Returns why the Pods of a request are exempt, if they are.
    pub(super) fn exempts(&self, namespace: &str, user: &str) -> Option<&'static str> {
        if self.exempts_namespace(namespace) {
            return Some("namespace");
        }
        let mut users = self.users.iter();
        users.any(|it| it == user).then_some("user")
    }

    pub(super) fn exempts_namespace(&self, name: &str) -> bool {
        self.namespaces.iter().any(|it| it == name)
    }

    /// Reports whether Pods of a runtime class are exempt.
    pub(super) fn exempts_class(&self, pod: &PodSpec) -> bool {
        let class = pod.runtime_class_name.as_deref().unwrap_or_default();
        self.classes.iter().any(|it| it == class)
    }

    /// Returns the warning about labels of a namespace that is exempt, if they demand anything.
    pub(super) fn ignored(
        &self,
        namespace: &str,
        policy: &Policy,
        labels: &BTreeMap<Str, Str>,
    ) -> Option<String> {
        if policy.is_privileged() || policy.is_same(&self.defaults) {
            return None;
        }
        let is_said = |mode: &str| {
            labels.contains_key(&*format!("{PREFIX}{mode}"))
                || labels.contains_key(&*format!("{PREFIX}{mode}-version"))
        };
        let modes = policy.modes().into_iter();
        let said = modes.filter(|(mode, it)| it.level != Level::Privileged && is_said(mode));
        let said: Vec<String> = said.map(|(mode, it)| format!("{mode}={it}")).collect();
        Some(format!(
            "namespace {namespace:?} is exempt from Pod Security, and the policy ({}) will be \
             ignored",
            said.join(", ")
        ))
    }
}

/// Reads a default: privileged and latest, unless it says otherwise.
fn read(errors: &mut Vec<FieldError>, mode: &str, level: &str, version: &str) -> LevelVersion {
    let path = FieldPath::new("defaults");
    let mut found = Policy::default().enforce;
    if !level.is_empty() {
        match Level::parse(level) {
            Some(level) => found.level = level,
            None => errors.push(FieldError::invalid(&path.child(mode), level, NO_LEVEL)),
        }
    }
    if !version.is_empty() {
        if let Some(version) = Version::parse(version) {
            found.version = version;
        } else {
            let at = path.child(&format!("{mode}-version"));
            errors.push(FieldError::invalid(&at, version, NO_VERSION));
        }
    }
    found
}

fn check(
    errors: &mut Vec<FieldError>,
    all: &[String],
    path: &FieldPath,
    problems: impl Fn(&str) -> Vec<String>,
) {
    for (place, value) in all.iter().enumerate() {
        let (at, problems) = (path.index(place), problems(value));
        if !problems.is_empty() {
            errors.push(FieldError::invalid(&at, &**value, problems.join(", ")));
        } else if all[..place].contains(value) {
            errors.push(FieldError::duplicate(&at, &**value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::read_document;

    fn parse(rest: &str) -> Result<PodSecurityConfig, String> {
        let text = format!(
            "{{apiVersion: pod-security.admission.config.k8s.io/v1, kind: {KIND}, {rest}}}"
        );
        let document = read_document(text.as_bytes()).expect("it is YAML");
        PodSecurityConfig::parse(document).map_err(|error| error.to_string())
    }

    #[test]
    fn labels_of_a_namespace_win_over_defaults() {
        let defaults = "defaults: {enforce: baseline, enforce-version: v1.30, warn: restricted}";
        let config = parse(defaults);
        let config = config.expect("it is valid");
        let shown = |labels: &[(&str, &str)]| {
            let labels = labels.iter();
            let labels = labels.map(|(name, it)| (format!("{PREFIX}{name}").into(), (*it).into()));
            let (policy, errors) = config.defaults.with(&labels.collect());
            let Policy {
                enforce,
                audit,
                warn,
            } = policy;
            (format!("{enforce} {audit} {warn}"), errors.len())
        };
        let expected = "baseline:v1.30 privileged:latest restricted:latest";
        assert_eq!(shown(&[]), (expected.to_owned(), 0));
        let expected = "privileged:v1.30 privileged:latest privileged:latest";
        assert_eq!(
            shown(&[("enforce", "privileged"), ("warn", "x")]),
            (expected.to_owned(), 1)
        );
    }

    #[test]
    fn what_is_exempt_is_not_checked_and_labels_are_warned_about() {
        let exempt = "exemptions: {usernames: [eve], namespaces: [sys], runtimeClasses: [k]}";
        let config = parse(exempt);
        let config = config.expect("it is valid");
        assert_eq!(config.exempts("sys", "bob"), Some("namespace"));
        assert_eq!(config.exempts("ns", "eve"), Some("user"));
        assert_eq!(config.exempts("ns", "bob"), None);
        let mut pod = PodSpec::default();
        assert!(!config.exempts_class(&pod));
        pod.runtime_class_name = Some("k".into());
        assert!(config.exempts_class(&pod));
        let labels = BTreeMap::from([(Str::from(format!("{PREFIX}enforce")), "baseline".into())]);
        let (policy, _) = config.defaults.with(&labels);
        let warning = "namespace \"sys\" is exempt from Pod Security, and the policy \
                       (enforce=baseline:latest) will be ignored";
        let ignored = config.ignored("sys", &policy, &labels);
        assert_eq!(ignored.as_deref(), Some(warning));
        assert_eq!(config.ignored("sys", &Policy::default(), &labels), None);
    }

    #[test]
    fn what_is_wrong_is_said_in_upstreams_words() {
        let wrong = parse("defaults: {enforce: strict, audit-version: '1'}").expect_err("wrong");
        assert_eq!(
            wrong,
            "[defaults.enforce: Invalid value: \"strict\": must be one of privileged, baseline, \
             restricted, defaults.audit-version: Invalid value: \"1\": must be \"latest\" or \
             \"v1.x\"]"
        );
        let twice = parse("exemptions: {usernames: [a, a]}").expect_err("wrong");
        assert_eq!(twice, "exemptions.usernames[1]: Duplicate value: \"a\"");
        assert!(
            parse("default: {}")
                .expect_err("a slip")
                .contains("unknown field")
        );
    }
}
