//! `componentstatuses`: deprecated, made up when asked for. The one component is storage.

use super::Call;
use crate::answer::Answer;
use crate::represent::{Form, ListParts};
use http::StatusCode;
use kubist_api::core::v1::{ComponentCondition, ComponentStatus};
use kubist_api::{ResourceFacts, find_kind};
use kubist_apimachinery::{GroupResource, ListMeta, ObjectMeta, Status};
use kubist_codec::negotiate::Offer;
use kubist_registry::Stored;

/// Upstream's name for storage.
const STORAGE: &str = "etcd-0";

pub(super) fn answer(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    name: Option<&str>,
) -> Result<Answer, Status> {
    let form = Form::of(call.request, &Offer::BUILT_IN, facts, call.cx.now())?;
    let kind = find_kind(facts.group, facts.version, facts.kind);
    let kind = kind.ok_or_else(|| Status::internal_error("the kind is not built in"))?;
    let status = ComponentStatus {
        metadata: ObjectMeta {
            name: STORAGE.into(),
            ..ObjectMeta::default()
        },
        conditions: vec![ComponentCondition {
            type_: "Healthy".into(),
            status: "True".into(),
            message: "ok".into(),
            ..ComponentCondition::default()
        }],
    };
    let stored = Stored::from_object(kind, 0, Box::new(status));
    match name {
        None => form.list(ListParts {
            api_version: kind.facts().api_version,
            kind: format!("{}List", facts.kind),
            metadata: ListMeta::default(),
            items: vec![stored],
            custom: false,
        }),
        Some(STORAGE) => form.object(StatusCode::OK, &stored),
        Some(other) => {
            let resource = GroupResource::new(facts.group, facts.plural);
            Err(Status::not_found(&resource, other))
        }
    }
}
