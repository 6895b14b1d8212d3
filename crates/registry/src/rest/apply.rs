//! Server-side apply through a served resource.

use super::Rest;
use crate::store::field_managers::{new_object, object_of};
use crate::store::tracking::{Tracking, WritePath};
use crate::strategy::context::RequestContext;
use kubist_api::Kind;
use kubist_apimachinery::{
    AnyObject, PostOptions, Status, StatusCause, StatusDetails, StatusReason,
};
use kubist_field_manager::{ApplyError, ApplyRequest, Conflicts};
use serde_json::Value;

/// A configuration to apply.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct AppliedConfig<'a> {
    /// The configuration.
    pub config: &'a Value,
    /// The name of the manager.
    pub manager: &'a str,
    /// Whether it takes over fields of other managers.
    pub force: bool,
}

impl Rest {
    /// Tracks the writes of a request.
    pub(crate) fn tracking(&self, cx: &RequestContext, options: &PostOptions) -> Tracking<'_> {
        self.write_path().tracking(cx, options)
    }

    fn write_path(&self) -> WritePath<'_> {
        WritePath {
            store: self.store(),
            scheme: self.scheme(),
            kind: self.kind,
            body_kind: self.body_kind(),
            subresource: self.subresource.name(),
        }
    }

    /// Merges a configuration into an object of the served version (or into the scale of one), and
    /// returns the new object with its managed fields. `None` stands for an object that does not
    /// exist.
    ///
    /// # Errors
    /// The error for the client: 409 for conflicts.
    pub fn merge_applied(
        &self,
        cx: &RequestContext,
        old: Option<&dyn AnyObject>,
        applied: &AppliedConfig<'_>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let path = self.write_path();
        let manager = path.field_manager()?;
        let request = ApplyRequest {
            live: old,
            config: applied.config,
            manager: applied.manager,
            force: applied.force,
            now: cx.now(),
        };
        let made = manager.apply(&request, &path.converter(&cx.conversions));
        let made = made.map_err(|error| refusal(&error))?;
        let mut object = match (made.object, old) {
            (None, Some(old)) => old.boxed_clone(),
            (None, None) => new_object(self.body_kind())?,
            (Some(made), _) => {
                let object = object_of(&made, self.body_kind());
                object.map_err(|why| unconverted(&made, self.body_kind(), &why.message))?
            }
        };
        object.meta_mut().managed_fields = made.entries;
        Ok(object)
    }
}

/// Returns the answer to an apply whose result is no object of its kind.
fn unconverted(made: &Value, kind: &Kind, why: &str) -> Status {
    let text = |name: &str| made["metadata"][name].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let facts = kind.facts();
    let kind = format!("{}/{}, Kind={}", facts.group, facts.version, facts.kind);
    let why = format!(
        "failed to convert new object ({namespace}/{name}; {kind}) to proper version: unable to \
         convert unstructured object to {kind}: {why}"
    );
    // Upstream's error has no reason.
    Status::failure(500, StatusReason::Unknown, why)
}

/// Returns the answer to an apply that failed.
fn refusal(error: &ApplyError) -> Status {
    match error {
        ApplyError::BadRequest(why) => Status::bad_request(why),
        ApplyError::Conflicts(conflicts) => conflict(conflicts),
        // Upstream's error has no reason.
        ApplyError::Failed(why) => Status::failure(500, StatusReason::Unknown, why),
    }
}

fn conflict(conflicts: &Conflicts) -> Status {
    let cause = |it: &kubist_field_manager::Conflict| StatusCause {
        reason: "FieldManagerConflict".into(),
        message: format!("conflict with {}", it.manager).into(),
        field: it.field().into(),
    };
    let details = StatusDetails {
        causes: conflicts.conflicts().iter().map(cause).collect(),
        ..StatusDetails::default()
    };
    Status::failure(409, StatusReason::Conflict, conflicts.to_string()).with_details(details)
}
