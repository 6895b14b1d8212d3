//! Upstream's default flow schemas and priority levels: created, and kept as they are.
//!
//! `bootstrap.jsonl` has an object on each line, as a kube-apiserver v1.36 makes them. As upstream,
//! one whose annotation `apf.kubernetes.io/autoupdate-spec` an administrator has set to `false` is
//! left alone, except the mandatory ones, `exempt` and `catch-all`.

use super::bootstrap::ensure;
use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{AnyObject, KubeObject, Status};
use kubist_registry::{RequestContext, Stores, UpdatePath, UpdatedObject};
use std::any::Any;
use std::sync::Arc;

const OBJECTS: &str = include_str!("../flowcontrol/bootstrap.jsonl");
/// The annotation that says whether the server may change the spec.
const AUTOUPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
/// The objects that always are as upstream has them.
const MANDATORY: [&str; 2] = ["exempt", "catch-all"];
/// The manager of what is written, as upstream.
const MANAGER: &str = "api-priority-and-fairness-config-producer-v1";

/// A flow schema or a priority level.
trait Flow: KubeObject {
    /// Takes the spec of `wanted`. Returns whether that is a change.
    fn take_spec(&mut self, wanted: &Self) -> bool;
}

impl Flow for FlowSchema {
    fn take_spec(&mut self, wanted: &Self) -> bool {
        let differs = self.spec != wanted.spec;
        self.spec.clone_from(&wanted.spec);
        differs
    }
}

impl Flow for PriorityLevelConfiguration {
    fn take_spec(&mut self, wanted: &Self) -> bool {
        let differs = self.spec != wanted.spec;
        self.spec.clone_from(&wanted.spec);
        differs
    }
}

/// Creates and restores all of them: levels first, so that no schema lacks its level.
pub(super) async fn run(stores: &Arc<Stores>, cx: &RequestContext) -> Result<(), Status> {
    let mut cx = cx.clone();
    cx.user_agent = MANAGER.into();
    for line in OBJECTS.lines() {
        if line.starts_with("{\"kind\":\"FlowSchema\",") {
            settle::<FlowSchema>(stores, &cx, line).await?;
        } else {
            settle::<PriorityLevelConfiguration>(stores, &cx, line).await?;
        }
    }
    Ok(())
}

async fn settle<K: Flow + Wire>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    line: &str,
) -> Result<(), Status> {
    let parsed = K::from_json(line.as_bytes(), &mut DecodeContext::new());
    let wanted: K =
        parsed.map_err(|error| Status::internal_error(format!("a default flow: {error}")))?;
    let Some(store) = stores.resource(K::GROUP, K::PLURAL) else {
        return Ok(());
    };
    let name = wanted.metadata().name.clone();
    let Some(stored) = store.get("", &name).await? else {
        return ensure(stores, cx, "", wanted).await;
    };
    let stored: &dyn Any = &**stored.object()?;
    let stored = stored.downcast_ref::<K>();
    if stored.is_none_or(|it| restored(it, &wanted).is_none()) {
        return Ok(());
    }
    let restoring = Restoring(wanted);
    let written = store.update(cx, ("", &name), &restoring, UpdatePath::Whole, false);
    match written.await {
        // It was deleted, or another server restored it: the next round looks again.
        Err(status) if status.is_not_found() || status.is_conflict() => Ok(()),
        written => written.map(drop),
    }
}

/// Returns the object as it should be; none if it is, or is the administrator's.
fn restored<K: Flow>(own: &K, wanted: &K) -> Option<K> {
    let metadata = own.metadata();
    let is_mandatory = MANDATORY.contains(&&*metadata.name);
    let said = metadata.annotations.get(AUTOUPDATE);
    // Without the annotation, an object that was never changed is the server's, as upstream.
    let is_ours = said.map_or(metadata.generation == 1, |it| &**it == "true");
    if !is_mandatory && !is_ours {
        return None;
    }
    let mut object = own.clone();
    let differs = object.take_spec(wanted);
    let annotations = &mut object.metadata_mut().annotations;
    let lacks = said.is_none_or(|it| is_mandatory && &**it != "true");
    if lacks {
        annotations.insert(AUTOUPDATE.into(), "true".into());
    }
    (differs || lacks).then_some(object)
}

/// The restoration of what is stored.
#[derive(Debug)]
struct Restoring<K>(K);

impl<K: Flow> UpdatedObject for Restoring<K> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<K>());
        let restored = old.and_then(|old| restored(old, &self.0));
        let object = restored.or_else(|| old.cloned());
        Ok(Box::new(object.unwrap_or_else(|| self.0.clone())))
    }

    fn creates(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(shares: i32, autoupdate: Option<&str>) -> PriorityLevelConfiguration {
        let mut level = PriorityLevelConfiguration::default();
        level.metadata.name = "system".into();
        level.metadata.generation = 2;
        if let Some(said) = autoupdate {
            level.metadata.annotations.insert(AUTOUPDATE.into(), said.into());
        }
        let limited = level.spec.limited.get_or_insert_default();
        limited.nominal_concurrency_shares = Some(shares);
        level
    }

    #[test]
    fn the_administrators_objects_are_left_alone_except_the_mandatory_ones() {
        let wanted = level(30, Some("true"));
        assert_eq!(restored(&level(30, Some("true")), &wanted), None);
        let ours = restored(&level(10, Some("true")), &wanted);
        assert_eq!(ours.map(|it| it.spec), Some(wanted.spec.clone()));
        assert_eq!(restored(&level(10, Some("false")), &wanted), None);
        assert_eq!(restored(&level(10, None), &wanted), None, "it was changed");
        let mut mandatory = level(10, Some("false"));
        mandatory.metadata.name = "catch-all".into();
        assert!(restored(&mandatory, &wanted).is_some());
    }

    #[test]
    fn every_default_schema_has_its_level() {
        let (mut levels, mut referred) = (Vec::new(), Vec::new());
        for line in OBJECTS.lines() {
            let object: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            if object["kind"] == "FlowSchema" {
                referred.push(object["spec"]["priorityLevelConfiguration"]["name"].clone());
            } else {
                levels.push(object["metadata"]["name"].clone());
            }
        }
        assert_eq!((levels.len(), referred.len()), (8, 11));
        assert!(referred.iter().all(|it| levels.contains(it)));
    }
}
