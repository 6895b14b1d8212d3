//! Follows the stored flow schemas and priority levels, keeps the server's flow control up to date,
//! and says in the status of each schema whether its level exists.

use crate::filters::flow_control::FlowControl;
use crate::following::{Followed, follow, load};
use kubist_api::flowcontrol::v1::{FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration};
use kubist_apimachinery::{AnyObject, Resource, Status, Time};
use kubist_flow_control::Configuration;
use kubist_registry::{Registry, UpdatePath, UpdatedObject, User};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;
use tokio::sync::Notify;

/// The manager of the conditions, as upstream.
const MANAGER: &str = "api-priority-and-fairness-config-consumer-v1";
/// The condition of schemas without their level.
const DANGLING: &str = "Dangling";

/// Keeps the configuration of a flow control.
#[derive(Debug)]
pub(crate) struct FlowFollower {
    of: Arc<FlowControl>,
    configuration: Mutex<Configuration>,
    /// Something has changed.
    changed: Notify,
}

impl FlowFollower {
    /// Reads everything once, so that the first request is classified as all others.
    ///
    /// # Errors
    /// Those of the storage.
    pub(crate) async fn begin(of: Arc<FlowControl>, registry: &Registry) -> Result<Self, Status> {
        let follower = Self {
            of,
            configuration: Mutex::default(),
            changed: Notify::new(),
        };
        load::<PriorityLevelConfiguration, _>(registry, &follower).await?;
        load::<FlowSchema, _>(registry, &follower).await?;
        Ok(follower)
    }

    /// Follows changes, lends seats, and writes conditions. Never returns.
    ///
    /// # Cancel safety
    /// Can be dropped at any time.
    pub(crate) async fn run(&self, registry: &Registry) {
        tokio::join!(
            follow::<PriorityLevelConfiguration, _>(registry, self),
            follow::<FlowSchema, _>(registry, self),
            self.write_conditions(registry),
            self.of.run(),
        );
    }

    fn change(&self, change: impl FnOnce(&mut Configuration)) {
        let mut configuration = self.configuration.lock();
        change(&mut configuration);
        self.of.configure(&configuration);
        drop(configuration);
        self.changed.notify_one();
    }

    async fn write_conditions(&self, registry: &Registry) {
        loop {
            for (schema, exists) in self.wrong_conditions() {
                let written = write_condition(registry, &schema, exists).await;
                if let Err(status) = written {
                    let name = &*schema.metadata.name;
                    tracing::warn!(name, why = %status.message, "a FlowSchema has no condition");
                }
            }
            self.changed.notified().await;
        }
    }

    /// Returns the schemas whose condition is not true, and whether their level exists.
    fn wrong_conditions(&self) -> Vec<(Arc<FlowSchema>, bool)> {
        let configuration = self.configuration.lock();
        // Those without a uid are not stored.
        let stored = |it: &&Arc<FlowSchema>| !it.metadata.uid.is_empty();
        let schemas = configuration.schemas().filter(stored);
        let schemas = schemas.filter_map(|schema| {
            let level = &schema.spec.priority_level_configuration.name;
            let exists = configuration.has_level(level);
            let mut conditions = schema.status.conditions.iter();
            let dangling = conditions.find(|it| &*it.type_ == DANGLING);
            let wanted = condition(level, exists, None);
            let is_right = dangling
                .is_some_and(|it| it.status == wanted.status && it.message == wanted.message);
            (!is_right).then(|| (Arc::clone(schema), exists))
        });
        schemas.collect()
    }
}

/// Says whether a schema lacks its level, in upstream's words.
fn condition(level: &str, exists: bool, now: Option<Time>) -> FlowSchemaCondition {
    let (status, reason, what) = if exists {
        ("False", "Found", "it exists")
    } else {
        ("True", "NotFound", "there is no such object")
    };
    let refers = "This FlowSchema references the PriorityLevelConfiguration object named";
    let joint = if exists { "and" } else { "but" };
    FlowSchemaCondition {
        type_: DANGLING.into(),
        status: status.into(),
        last_transition_time: now,
        reason: reason.into(),
        message: format!("{refers} {level:?} {joint} {what}").into(),
    }
}

async fn write_condition(
    registry: &Registry,
    schema: &FlowSchema,
    exists: bool,
) -> Result<(), Status> {
    let stores = registry.stores();
    let Some(store) = stores.resource(FlowSchema::GROUP, FlowSchema::PLURAL) else {
        return Ok(());
    };
    let mut cx = registry.request(User {
        name: "system:apiserver".into(),
        groups: vec!["system:masters".into()],
        ..User::default()
    });
    cx.user_agent = MANAGER.into();
    let level = &schema.spec.priority_level_configuration.name;
    let change = Conditioned(condition(level, exists, Some(cx.now())));
    let place = ("", &*schema.metadata.name);
    match store
        .update(&cx, place, &change, UpdatePath::Status, false)
        .await
    {
        // It was deleted, or another server has written the condition.
        Err(status) if status.is_not_found() || status.is_conflict() => Ok(()),
        written => written.map(drop),
    }
}

/// A schema with its condition.
#[derive(Debug)]
struct Conditioned(FlowSchemaCondition);

impl UpdatedObject for Conditioned {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|old| (old as &dyn Any).downcast_ref::<FlowSchema>());
        let mut schema = old.cloned().unwrap_or_default();
        let conditions = &mut schema.status.conditions;
        let known = conditions.iter_mut().find(|it| it.type_ == self.0.type_);
        match known {
            Some(known) if known.status == self.0.status => {
                known.message = self.0.message.clone();
                known.reason = self.0.reason.clone();
            }
            Some(known) => known.clone_from(&self.0),
            None => conditions.push(self.0.clone()),
        }
        Ok(Box::new(schema))
    }

    fn creates(&self) -> bool {
        false
    }
}

impl Followed<FlowFollower> for FlowSchema {
    fn put(&self, to: &FlowFollower) {
        to.change(|configuration| configuration.put_schema(self.clone()));
    }

    fn remove(from: &FlowFollower, _namespace: &str, name: &str) {
        from.change(|configuration| configuration.remove_schema(name));
    }

    fn replace(of: &FlowFollower, all: &[&Self]) {
        of.change(|configuration| {
            configuration.clear_schemas();
            for &schema in all {
                configuration.put_schema(schema.clone());
            }
        });
    }
}

impl Followed<FlowFollower> for PriorityLevelConfiguration {
    fn put(&self, to: &FlowFollower) {
        to.change(|configuration| configuration.put_level(self.clone()));
    }

    fn remove(from: &FlowFollower, _namespace: &str, name: &str) {
        from.change(|configuration| configuration.remove_level(name));
    }

    fn replace(of: &FlowFollower, all: &[&Self]) {
        of.change(|configuration| {
            configuration.clear_levels();
            for &level in all {
                configuration.put_level(level.clone());
            }
        });
    }
}
