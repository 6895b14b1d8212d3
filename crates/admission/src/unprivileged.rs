//! `Unprivileged`: no privileged containers, as upstream's option `--allow-privileged=false`.
//!
//! Upstream has it among the rules of Pods; here it is a plugin, because it is a choice of a
//! server. Its errors are those of upstream, and come once an object is valid otherwise.

use crate::objects::typed;
use crate::pod_security::template_of;
use kubist_api::core::v1::{Pod, PodSpec, SecurityContext};
use kubist_apimachinery::{AnyObject, FieldError, FieldPath, GroupKind, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::future::ready;

/// Refuses privileged containers, and those that are processes of a Windows host, in Pods and in
/// templates of Pods. It has no name of upstream's, and runs among a server's own plugins.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no settings")]
pub struct Unprivileged;

impl AdmissionPlugin for Unprivileged {
    fn name(&self) -> &'static str {
        "Unprivileged"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&RESOURCES)
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && matches!(target.subresource, "" | "ephemeralcontainers")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(ready(check(attributes)))
    }
}

/// The resources with Pods or templates of Pods.
const RESOURCES: [(&str, &str); 9] = [
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

fn check(attributes: &Attributes<'_>) -> Result<(), Status> {
    let target = attributes.target();
    let Some((spec, path)) = attributes.object().and_then(|it| spec_of(it, &target)) else {
        return Ok(());
    };
    let errors = problems(spec, &path);
    if errors.is_empty() {
        return Ok(());
    }
    let facts = target.resource;
    let kind = GroupKind::new(facts.group, facts.kind);
    Err(Status::invalid(&kind, target.name, &errors))
}

/// Returns the specification of the Pods of an object, and where it is.
fn spec_of<'a>(object: &'a dyn AnyObject, target: &Target<'_>) -> Option<(&'a PodSpec, FieldPath)> {
    if let Some(pod) = typed::<Pod>(object) {
        return Some((&pod.spec, FieldPath::new("spec")));
    }
    let template = template_of(object)?;
    let path = match target.resource.plural {
        "podtemplates" => FieldPath::new("template"),
        "cronjobs" => {
            let job = FieldPath::new("spec").child("jobTemplate");
            job.child("spec").child("template")
        }
        _ => FieldPath::new("spec").child("template"),
    };
    Some((&template.spec, path.child("spec")))
}

fn problems(spec: &PodSpec, path: &FieldPath) -> Vec<FieldError> {
    let lists = [
        (
            "containers",
            contexts(spec.containers.iter().map(|it| &it.security_context)),
        ),
        (
            "initContainers",
            contexts(spec.init_containers.iter().map(|it| &it.security_context)),
        ),
        (
            "ephemeralContainers",
            contexts(
                spec.ephemeral_containers
                    .iter()
                    .map(|it| &it.security_context),
            ),
        ),
    ];
    let mut errors = Vec::new();
    let own = spec.security_context.as_deref();
    let of_pod = own.and_then(|it| it.windows_options.as_deref()?.host_process);
    let mut of_host = false;
    for (name, contexts) in lists {
        for (place, context) in contexts.into_iter().enumerate() {
            if context.and_then(|it| it.privileged) == Some(true) {
                let at = path.child(name).index(place).child("securityContext");
                let at = at.child("privileged");
                errors.push(FieldError::forbidden(&at, "disallowed by cluster policy"));
            }
            let own = context.and_then(|it| it.windows_options.as_deref()?.host_process);
            of_host |= own.or(of_pod) == Some(true);
        }
    }
    if of_host {
        let why = "hostProcess containers are disallowed by cluster policy";
        errors.push(FieldError::forbidden(path, why));
    }
    errors
}

fn contexts<'a>(
    all: impl Iterator<Item = &'a Option<Box<SecurityContext>>>,
) -> Vec<Option<&'a SecurityContext>> {
    all.map(Option::as_deref).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn privileged_containers_of_each_kind_are_named() {
        let privileged = json!({"privileged": true});
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": {
            "containers": [{"name": "a"}, {"name": "b", "securityContext": privileged}],
            "initContainers": [{"name": "c", "securityContext": privileged}],
            "ephemeralContainers": [{"name": "d", "securityContext": {"privileged": false}}],
        }}))
        .expect("it is a Pod");
        let errors = problems(&pod.spec, &FieldPath::new("spec"));
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let of = |at: &str| {
            format!("spec.{at}.securityContext.privileged: Forbidden: disallowed by cluster policy")
        };
        assert_eq!(errors, [of("containers[1]"), of("initContainers[0]")]);
    }
}
