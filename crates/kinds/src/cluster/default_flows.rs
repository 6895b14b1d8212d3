//! Upstream's default flow schemas and priority levels: created, and kept as they are.
//!
//! As upstream, one whose annotation `apf.kubernetes.io/autoupdate-spec` an administrator has set
//! to `false` is left alone, except the mandatory ones, `exempt` and `catch-all`.

use super::bootstrap::ensure;
use crate::flowcontrol::defaults::{self, Defaulted};
use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_apimachinery::{AnyObject, KubeObject, Status};
use kubist_registry::{RequestContext, Stores, UpdatePath, UpdatedObject};
use std::any::Any;
use std::sync::Arc;

/// The annotation that says whether the server may change the spec.
const AUTOUPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
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
        let mut spec = wanted.spec.clone();
        let said = self.metadata.annotations.get(AUTOUPDATE);
        if spec.exempt.is_some() && said.is_some_and(|it| &**it == "false") {
            // An administrator may give exempt requests seats that they lend.
            spec.exempt.clone_from(&self.spec.exempt);
        }
        let differs = self.spec != spec;
        self.spec = spec;
        differs
    }
}

/// Creates and restores all of them: levels first, so that no schema lacks its level.
pub(super) async fn run(stores: &Arc<Stores>, cx: &RequestContext) -> Result<(), Status> {
    let mut cx = cx.clone();
    cx.user_agent = MANAGER.into();
    settle_all::<PriorityLevelConfiguration>(stores, &cx).await?;
    settle_all::<FlowSchema>(stores, &cx).await
}

async fn settle_all<K: Flow + Defaulted>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
) -> Result<(), Status> {
    for wanted in defaults::of_kind::<K>()? {
        settle(stores, cx, wanted).await?;
    }
    Ok(())
}

async fn settle<K: Flow>(
    stores: &Arc<Stores>,
    cx: &RequestContext,
    wanted: &'static K,
) -> Result<(), Status> {
    let Some(store) = stores.resource(K::GROUP, K::PLURAL) else {
        return Ok(());
    };
    let name = wanted.metadata().name.clone();
    let Some(stored) = store.get("", &name).await? else {
        return ensure(stores, cx, "", wanted.clone()).await;
    };
    let stored: &dyn Any = &**stored.object()?;
    let stored = stored.downcast_ref::<K>();
    if stored.is_none_or(|it| restored(it, wanted).is_none()) {
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
    let is_mandatory = defaults::is_mandatory(&metadata.name);
    let said = metadata.annotations.get(AUTOUPDATE);
    // Without the annotation, an object that was never changed is the server's, as upstream.
    let is_ours = said.map_or(metadata.generation == 1, |it| &**it == "true");
    if !is_mandatory && !is_ours {
        return None;
    }
    let mut object = own.clone();
    let differs = object.take_spec(wanted);
    let annotations = &mut object.metadata_mut().annotations;
    let lacks = said.is_none();
    if lacks {
        annotations.insert(AUTOUPDATE.into(), "true".into());
    }
    (differs || lacks).then_some(object)
}

/// The restoration of what is stored.
#[derive(Debug)]
struct Restoring<K: 'static>(&'static K);

impl<K: Flow> UpdatedObject for Restoring<K> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<K>());
        let restored = old.and_then(|old| restored(old, self.0));
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
            level
                .metadata
                .annotations
                .insert(AUTOUPDATE.into(), said.into());
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
}
