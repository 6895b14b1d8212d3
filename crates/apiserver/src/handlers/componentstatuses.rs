//! `componentstatuses`: deprecated, computed on request, with upstream's three components.
//!
//! Storage is checked, and the other two on the ports where upstream's components listen on this
//! machine.

mod probe;

use crate::handlers::call::Call;
use crate::negotiation::response_encoder::{ListParts, ResponseEncoder};
use crate::response::ApiResponse;
use http::StatusCode;
use kubist_api::core::v1::{ComponentCondition, ComponentStatus};
use kubist_api::{ResourceFacts, find_kind};
use kubist_apimachinery::{GroupResource, ListMeta, ListOptions, ObjectMeta, Status};
use kubist_codec::negotiate::Offer;
use kubist_registry::{Stored, StoredKind};
use std::time::Duration;
use tokio::time::timeout;

/// Upstream's name for storage.
const STORAGE: &str = "etcd-0";
/// The other components and their ports.
const OTHERS: [(&str, u16); 2] = [("controller-manager", 10_257), ("scheduler", 10_259)];
/// Time limit of a check.
const WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn handle(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    name: Option<&str>,
) -> Result<ApiResponse, Status> {
    let encoder = ResponseEncoder::of(call.request, &Offer::BUILT_IN, facts, call.cx.now())?;
    let kind = find_kind(facts.group, facts.version, facts.kind);
    let kind = kind.ok_or_else(|| Status::internal_error("the kind is not built in"))?;
    let stored = |status| Stored::from_object(StoredKind::plain(kind), 0, Box::new(status));
    let Some(name) = name else {
        let options = ListOptions::from_query(call.request.query.pairs());
        let options = options.map_err(|error| error.to_status())?;
        let mut items = Vec::new();
        let names = OTHERS.iter().map(|(name, _)| *name);
        for name in names.chain([STORAGE]) {
            if is_selected(&options, name)
                && let Some(status) = component(call, name).await
            {
                items.push(stored(status));
            }
        }
        return encoder.list(ListParts {
            api_version: kind.facts().api_version,
            kind: format!("{}List", facts.kind),
            metadata: ListMeta::default(),
            items,
            custom: false,
        });
    };
    match component(call, name).await {
        Some(status) => encoder.object(StatusCode::OK, &stored(status)),
        // Upstream names it in the singular.
        None => Err(Status::not_found(
            &GroupResource::new(facts.group, "componentstatus"),
            name,
        )),
    }
}

/// Component statuses have no labels; their only selectable field is the name.
fn is_selected(options: &ListOptions, name: &str) -> bool {
    let fields = options.field_selector.matches(|field| match field {
        "metadata.name" => Some(name),
        _ => None,
    });
    fields && options.label_selector.matches_labels(&Default::default())
}

async fn component(call: Call<'_>, name: &str) -> Option<ComponentStatus> {
    let condition = if name == STORAGE {
        let asked = timeout(WITHIN, call.server.registry.storage_health()).await;
        match asked {
            Ok(Ok(())) => condition("True", "ok", String::new()),
            Ok(Err(error)) => condition("False", "", error.to_string()),
            Err(_) => condition("False", "", "context deadline exceeded".to_owned()),
        }
    } else {
        let (_, port) = OTHERS.iter().find(|(known, _)| *known == name)?;
        let health = probe::ask(*port, WITHIN).await;
        let status = if health.is_fine { "True" } else { "False" };
        condition(status, &health.message, String::new())
    };
    Some(ComponentStatus {
        metadata: ObjectMeta {
            name: name.into(),
            ..ObjectMeta::default()
        },
        conditions: vec![condition],
    })
}

fn condition(status: &str, message: &str, error: String) -> ComponentCondition {
    ComponentCondition {
        type_: "Healthy".into(),
        status: status.into(),
        message: message.into(),
        error: error.into(),
    }
}
