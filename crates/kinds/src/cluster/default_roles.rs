//! Upstream's default roles and bindings: created, and completed where they lack something.
//!
//! `bootstrap.jsonl` has an object on each line, as a kube-apiserver v1.36 makes them. As upstream,
//! a role or binding that an administrator has annotated with `autoupdate: "false"` is left alone;
//! others get what they lack, and keep what they have besides.

use super::bootstrap::ensure;
use kubist_api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject,
};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{AnyObject, KubeObject, ObjectMeta, Status, Str};
use kubist_authorization::rbac::missing;
use kubist_registry::{RequestContext, Stores, UpdatePath, UpdatedObject};
use std::any::Any;
use std::sync::Arc;

const OBJECTS: &str = include_str!("../rbac/bootstrap.jsonl");
/// The label of all of them.
const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
/// The annotation with which an administrator keeps an object from being completed.
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// A role or a binding.
trait Grant: KubeObject {
    /// Returns a copy that has what `wanted` has; `None` if it has all of it.
    fn completed(&self, wanted: &Self) -> Option<Self>;
}

/// Creates and completes all of them.
pub(super) async fn run(stores: &Arc<Stores>, cx: &RequestContext) -> Result<(), Status> {
    for line in OBJECTS.lines() {
        let is = |kind: &str| line.starts_with(&format!("{{\"kind\":\"{kind}\","));
        if is("ClusterRole") {
            settle::<ClusterRole>(stores, cx, line).await?;
        } else if is("ClusterRoleBinding") {
            settle::<ClusterRoleBinding>(stores, cx, line).await?;
        } else if is("Role") {
            settle::<Role>(stores, cx, line).await?;
        } else {
            settle::<RoleBinding>(stores, cx, line).await?;
        }
    }
    Ok(())
}

/// Returns what all kubelets may do, as upstream's Node authorizer: the rules of the default role
/// `system:node`.
pub fn node_rules() -> Vec<PolicyRule> {
    let mut lines = OBJECTS.lines();
    let begin = "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"system:node\"}";
    let line = lines.find(|it| it.starts_with(begin)).unwrap_or_default();
    parse::<ClusterRole>(line).map_or_else(|_| Vec::new(), |it| it.rules)
}

fn parse<K: Wire + KubeObject>(line: &str) -> Result<K, Status> {
    let parsed = K::from_json(line.as_bytes(), &mut DecodeContext::new());
    let mut object: K =
        parsed.map_err(|error| Status::internal_error(format!("a default role: {error}")))?;
    let metadata = object.metadata_mut();
    metadata.labels.insert(LABEL.0.into(), LABEL.1.into());
    metadata
        .annotations
        .insert(AUTOUPDATE.into(), "true".into());
    Ok(object)
}

async fn settle<K: Grant>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    line: &str,
) -> Result<(), Status> {
    let wanted: K = parse(line)?;
    let meta = wanted.metadata();
    let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
    let Some(store) = stores.resource(K::GROUP, K::PLURAL) else {
        return Ok(());
    };
    let Some(stored) = store.get(&namespace, &name).await? else {
        return ensure(stores, cx, &namespace, wanted).await;
    };
    let stored: &dyn Any = &**stored.object()?;
    let stored = stored.downcast_ref::<K>();
    if stored.is_none_or(|it| it.completed(&wanted).is_none()) {
        return Ok(());
    }
    let place = (&*namespace, &*name);
    let completing = Completing(wanted);
    let written = store.update(cx, place, &completing, UpdatePath::Whole, false);
    match written.await {
        // It was deleted, or another server completed it: the next round looks again.
        Err(status) if status.is_not_found() || status.is_conflict() => Ok(()),
        written => written.map(drop),
    }
}

/// The completion of what is stored.
#[derive(Debug)]
struct Completing<K>(K);

impl<K: Grant> UpdatedObject for Completing<K> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<K>());
        let completed = old.and_then(|old| old.completed(&self.0));
        let object = completed.or_else(|| old.cloned());
        Ok(Box::new(object.unwrap_or_else(|| self.0.clone())))
    }

    fn creates(&self) -> bool {
        false
    }
}

/// Adds labels and annotations that are missing; what is there stays. `None` if the object is
/// protected.
fn complete_metadata(own: &ObjectMeta, wanted: &ObjectMeta) -> Option<ObjectMeta> {
    if own
        .annotations
        .get(AUTOUPDATE)
        .is_some_and(|it| **it == *"false")
    {
        return None;
    }
    let mut metadata = own.clone();
    for (all, more) in [
        (&mut metadata.labels, &wanted.labels),
        (&mut metadata.annotations, &wanted.annotations),
    ] {
        for (key, value) in more {
            all.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Some(metadata)
}

/// Appends the rules of which something is missing.
fn complete_rules(own: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let mut rules = own.to_vec();
    let have: Vec<&PolicyRule> = own.iter().collect();
    rules.extend(missing(&have, wanted));
    rules
}

fn complete_subjects(own: &[Subject], wanted: &[Subject]) -> Vec<Subject> {
    let mut subjects = own.to_vec();
    for subject in wanted {
        let is_same = |it: &Subject| {
            let of = |it: &Subject| -> [Str; 3] {
                [it.kind.clone(), it.namespace.clone(), it.name.clone()]
            };
            of(it) == of(subject)
        };
        if !own.iter().any(is_same) {
            subjects.push(subject.clone());
        }
    }
    subjects
}

impl Grant for ClusterRole {
    /// The rules of a role that combines others are not completed: a controller writes them.
    fn completed(&self, wanted: &Self) -> Option<Self> {
        let mut completed = self.clone();
        completed.metadata = complete_metadata(&self.metadata, &wanted.metadata)?;
        if wanted.aggregation_rule.is_some() {
            completed
                .aggregation_rule
                .clone_from(&wanted.aggregation_rule);
        } else {
            completed.rules = complete_rules(&self.rules, &wanted.rules);
        }
        (completed != *self).then_some(completed)
    }
}

impl Grant for Role {
    fn completed(&self, wanted: &Self) -> Option<Self> {
        let mut completed = self.clone();
        completed.metadata = complete_metadata(&self.metadata, &wanted.metadata)?;
        completed.rules = complete_rules(&self.rules, &wanted.rules);
        (completed != *self).then_some(completed)
    }
}

/// A binding to another role is left alone: the role of a binding cannot change.
impl Grant for ClusterRoleBinding {
    fn completed(&self, wanted: &Self) -> Option<Self> {
        let mut completed = self.clone();
        completed.metadata = complete_metadata(&self.metadata, &wanted.metadata)?;
        completed.subjects = complete_subjects(&self.subjects, &wanted.subjects);
        (self.role_ref == wanted.role_ref && completed != *self).then_some(completed)
    }
}

impl Grant for RoleBinding {
    fn completed(&self, wanted: &Self) -> Option<Self> {
        let mut completed = self.clone();
        completed.metadata = complete_metadata(&self.metadata, &wanted.metadata)?;
        completed.subjects = complete_subjects(&self.subjects, &wanted.subjects);
        (self.role_ref == wanted.role_ref && completed != *self).then_some(completed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_kubelets_are_known() {
        assert!(node_rules().len() > 10);
    }

    fn role(name: &str) -> ClusterRole {
        let mut lines = OBJECTS
            .lines()
            .filter(|it| it.contains("\"kind\":\"ClusterRole\""));
        let named = format!("\"name\":\"{name}\"");
        parse(lines.find(|it| it.contains(&named)).expect("it is there")).expect("it is a role")
    }

    #[test]
    fn every_line_is_a_role_or_a_binding() {
        let mut names = Vec::new();
        for line in OBJECTS.lines() {
            let parsed = match line.split('"').nth(3) {
                Some("ClusterRole") => parse::<ClusterRole>(line).map(|it| it.metadata),
                Some("ClusterRoleBinding") => {
                    parse::<ClusterRoleBinding>(line).map(|it| it.metadata)
                }
                Some("Role") => parse::<Role>(line).map(|it| it.metadata),
                _ => parse::<RoleBinding>(line).map(|it| it.metadata),
            };
            names.push(parsed.expect("it is valid").name);
        }
        assert_eq!(names.len(), 133);
        assert!(names.iter().any(|it| **it == *"system:node"));
    }

    #[test]
    fn what_an_administrator_added_stays_and_what_is_missing_comes_back() {
        let wanted = role("system:public-info-viewer");
        assert_eq!(wanted.completed(&wanted), None);
        let mut changed = wanted.clone();
        let url = changed.rules[0]
            .non_resource_urls
            .pop()
            .expect("it has paths");
        changed.rules[0].non_resource_urls.push("/more".into());
        let completed = changed.completed(&wanted).expect("something is missing");
        let urls = completed.rules.iter().flat_map(|it| &it.non_resource_urls);
        let urls: Vec<_> = urls.collect();
        assert!(urls.iter().any(|it| **it == url) && urls.iter().any(|it| ***it == *"/more"));
    }

    #[test]
    fn a_protected_role_is_left_alone() {
        let wanted = role("system:public-info-viewer");
        let mut protected = wanted.clone();
        protected.rules.clear();
        let annotations = &mut protected.metadata.annotations;
        annotations.insert(AUTOUPDATE.into(), "false".into());
        assert_eq!(protected.completed(&wanted), None);
    }
}
