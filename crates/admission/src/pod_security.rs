//! `PodSecurity`: keeps Pods within the level of security that labels of their namespace demand.
//!
//! What a level forbids and demands are checks by version, which see only the specification of a
//! Pod. Templates of Pods are checked as well, with no more than warnings, and so are the Pods of a
//! namespace whose labels change.

mod checks;
mod configuration;
mod existing;
mod level;
mod subject;
mod template;
mod wording;

use self::checks::violations;
pub(crate) use self::configuration::PodSecurityConfig;
use self::level::{Level, LevelVersion, Policy};
use self::subject::Subject;
pub(crate) use self::template::of as template_of;
use self::wording::Violation;
use kubist_api::core::v1::{Container, Namespace, Pod};
use kubist_apimachinery::{FieldError, GroupKind, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

/// Enforces the levels of Pod security.
#[derive(Debug)]
pub(crate) struct PodSecurity(pub(crate) Arc<PodSecurityConfig>);

/// The resources with Pods or templates of Pods, and namespaces.
const RESOURCES: [(&str, &str); 10] = [
    ("", "namespaces"),
    ("", "pods"),
    ("", "replicationcontrollers"),
    ("", "podtemplates"),
    ("apps", "replicasets"),
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("batch", "cronjobs"),
];

/// The subresources of Pods that do not change what is checked.
const IGNORED: [&str; 8] = [
    "exec",
    "attach",
    "binding",
    "eviction",
    "log",
    "portforward",
    "proxy",
    "status",
];

impl AdmissionPlugin for PodSecurity {
    fn name(&self) -> &'static str {
        "PodSecurity"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&RESOURCES)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        let object = if target.is("", "pods") {
            !IGNORED.contains(&target.subresource)
        } else {
            target.subresource.is_empty()
        };
        writes && object
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let (config, target) = (&*self.0, attributes.target());
            if target.is("", "namespaces") {
                return check_namespace(attributes, config).await;
            }
            if let Some(why) = config.exempts(target.namespace, &attributes.user().name) {
                annotate(attributes, EXEMPT, why);
                return Ok(());
            }
            if target.is("", "pods") {
                return check_pod(attributes, config).await;
            }
            check_template(attributes, config).await
        })
    }
}

/// The annotation about what is exempt.
const EXEMPT: &str = "exempt";

/// Refuses labels of a namespace that are none, and warns of Pods that violate a new level.
async fn check_namespace(
    attributes: &Attributes<'_>,
    config: &PodSecurityConfig,
) -> Result<(), Status> {
    let Some(namespace) = attributes.typed::<Namespace>() else {
        return Ok(());
    };
    let labels = &namespace.metadata.labels;
    let (policy, errors) = config.defaults.with(labels);
    let old = attributes.old_typed::<Namespace>();
    let old = old.map(|it| config.defaults.with(&it.metadata.labels));
    let same = old.as_ref().is_some_and(|(_, before)| errors == *before);
    if !errors.is_empty() && !same {
        let kind = GroupKind::new("", "Namespace");
        return Err(Status::invalid(&kind, attributes.target().name, &errors));
    }
    let exempted = config.exempts_namespace(&namespace.metadata.name);
    let exempted = exempted.then(|| config.ignored(&namespace.metadata.name, &policy, labels));
    let Some((before, _)) = old else {
        if let Some(warning) = exempted.flatten() {
            attributes.cx().warn(warning);
        }
        return Ok(());
    };
    let (new, before) = (policy.enforce, before.enforce);
    let relaxed = new.version == before.version && new.level <= before.level;
    if new == before || new.level == Level::Privileged || relaxed {
        return Ok(());
    }
    match exempted {
        Some(warning) => drop(warning.map(|it| attributes.cx().warn(it))),
        None => existing::warn(attributes, config, new).await,
    }
    Ok(())
}

/// Checks a Pod, unless an update changes nothing that matters.
async fn check_pod(attributes: &Attributes<'_>, config: &PodSecurityConfig) -> Result<(), Status> {
    let namespace = attributes.target().namespace;
    let missing =
        || Status::internal_error(format_args!("failed to lookup namespace {namespace:?}"));
    let found = attributes.objects().get("", "namespaces", "", namespace);
    let found = found.await.map_err(|_| missing())?.ok_or_else(missing)?;
    let (policy, errors) = config.defaults.with(&found.meta().labels);
    if errors.is_empty() && policy.is_privileged() {
        annotate(attributes, "enforce-policy", "privileged:latest");
        return Ok(());
    }
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(());
    };
    let old = attributes.old_typed::<Pod>();
    if old.is_some_and(|old| !matters(pod, old)) {
        return Ok(());
    }
    if config.exempts_class(&pod.spec) {
        annotate(attributes, EXEMPT, "runtimeClass");
        return Ok(());
    }
    let subject = Subject::new(&pod.metadata, &pod.spec);
    note_errors(attributes, &errors);
    annotate(attributes, "enforce-policy", &policy.enforce.to_string());
    let found = violations(subject, policy.enforce);
    audit(attributes, subject, &policy);
    if found.is_empty() {
        warn(attributes, subject, &policy);
        return Ok(());
    }
    let why = format!(
        "violates PodSecurity \"{}\": {}",
        policy.enforce,
        details(&found)
    );
    Err(attributes.forbidden(why))
}

/// Warns of a template of Pods that would be refused.
async fn check_template(
    attributes: &Attributes<'_>,
    config: &PodSecurityConfig,
) -> Result<(), Status> {
    let namespace = attributes.target().namespace;
    let found = attributes.objects().get("", "namespaces", "", namespace);
    let Ok(Some(found)) = found.await else {
        let why = format!("failed to lookup namespace {namespace:?}");
        annotate(attributes, "error", &why);
        return Ok(());
    };
    let (policy, errors) = config.defaults.with(&found.meta().labels);
    let modes = [policy.warn, policy.audit];
    let is_free = modes.iter().all(|it| it.level == Level::Privileged);
    if errors.is_empty() && is_free {
        return Ok(());
    }
    let Some(template) = attributes.object().and_then(template::of) else {
        return Ok(());
    };
    if config.exempts_class(&template.spec) {
        annotate(attributes, EXEMPT, "runtimeClass");
        return Ok(());
    }
    let subject = Subject::new(&template.metadata, &template.spec);
    note_errors(attributes, &errors);
    audit(attributes, subject, &policy);
    warn(attributes, subject, &policy);
    Ok(())
}

fn annotate(attributes: &Attributes<'_>, name: &str, value: &str) {
    let name = format!("pod-security.kubernetes.io/{name}");
    attributes.cx().annotate(name, value);
}

/// Notes for the audit that the labels of a namespace are wrong.
fn note_errors(attributes: &Attributes<'_>, errors: &[FieldError]) {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    if let Some(text) = crate::aggregate::aggregate(&texts) {
        let text = format!("Failed to parse policy: {text}");
        annotate(attributes, "error", &text);
    }
}

/// Notes violations for the audit.
fn audit(attributes: &Attributes<'_>, subject: Subject<'_>, policy: &Policy) {
    if let Some(text) = would_violate(subject, policy.audit) {
        annotate(attributes, "audit-violations", &text);
    }
}

/// Warns of violations.
fn warn(attributes: &Attributes<'_>, subject: Subject<'_>, policy: &Policy) {
    if let Some(text) = would_violate(subject, policy.warn) {
        attributes.cx().warn(text);
    }
}

fn would_violate(subject: Subject<'_>, demanded: LevelVersion) -> Option<String> {
    let found = violations(subject, demanded);
    let details = details(&found);
    (!found.is_empty()).then(|| format!("would violate PodSecurity \"{demanded}\": {details}"))
}

/// Returns violations with their details, as upstream words them.
fn details(found: &[Violation]) -> String {
    let texts = found.iter().map(|it| {
        if it.detail.is_empty() {
            it.reason.to_owned()
        } else {
            format!("{} ({})", it.reason, it.detail)
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Reports whether an update of a Pod changes something that is checked: of containers, only images
/// can change.
fn matters(new: &Pod, old: &Pod) -> bool {
    let (new, old) = (&new.spec, &old.spec);
    let differ = |new: &[Container], old: &[Container]| {
        let mut pairs = new.iter().zip(old);
        new.len() != old.len() || pairs.any(|(new, old)| new.image != old.image)
    };
    let ephemeral_differ = new.ephemeral_containers.iter().any(|container| {
        let mut before = old.ephemeral_containers.iter();
        let before = before.find(|it| it.name == container.name);
        before.is_none_or(|it| it.image != container.image)
    });
    differ(&new.containers, &old.containers)
        || differ(&new.init_containers, &old.init_containers)
        || ephemeral_differ
}
