//! Handlers of resource requests: finds the resource and the verb, and calls the handler of that
//! verb.

mod access;
pub(crate) mod aggregated;
pub(crate) mod call;
mod componentstatuses;
mod connect;
pub(crate) mod context;
mod create;
mod delete;
mod delete_collection;
mod get;
mod list;
mod patch;
mod permitted_create;
mod review;
mod review_rules;
mod review_selectors;
pub(crate) mod target;
mod token_request;
mod update;
mod watch;

use crate::discovery;
use crate::handlers::call::Call;
use crate::handlers::target::Target;
use crate::metrics::RequestLabels;
use crate::request::Request;
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use kubist_api::ResourceFacts;
use kubist_apimachinery::Status;
use kubist_codec::negotiate::check_named;
use kubist_codec::{Format, cbor};
use kubist_registry::{RestStorage, Verb, deprecation_of};
use std::sync::Arc;

/// Handles a request about a resource.
pub(crate) async fn handle(
    call: Call<'_>,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let registry = &call.server.registry;
    // What had the prefix is not served any more, and no resource has this name.
    let plural = if path.proxy { "proxy" } else { &path.plural };
    let storage = registry.storage(&path.group, &path.version, plural);
    let facts = if let Some(storage) = &storage {
        storage.facts()
    } else {
        let groups = registry.groups();
        let Some(group) = discovery::group(&groups, &path.group) else {
            return Ok(ApiResponse::page_not_found());
        };
        if call.server.is_custom(group) {
            return Ok(ApiResponse::page_not_found());
        }
        let version = group.version(&path.version).ok_or_else(not_found)?;
        let found = version.resource(plural).ok_or_else(not_found)?;
        found.facts
    };
    let custom = storage.as_ref().is_some_and(|it| it.kind().is_custom());
    if custom && !is_custom_path(facts, path, &call.request.method) {
        return Ok(ApiResponse::page_not_found());
    }
    check_scope(facts, path)?;
    // The deprecation of a definition's version is reported whatever the result.
    if custom {
        warn_of_deprecation(call, facts);
    }
    let answered = match storage {
        Some(storage) => handle_stored(call, storage, path, body).await,
        None => handle_unstored(call, facts, path, body).await,
    };
    if !custom && !is_unrouted(call.request, &answered) {
        warn_of_deprecation(call, facts);
    }
    answered
}

/// Reports whether upstream's router would have refused the request: it refuses methods, media
/// types and patch types.
fn is_unrouted(request: &Request, answered: &Result<ApiResponse, Status>) -> bool {
    // The router's errors name no object.
    let names_nothing = |refusal: &Status| {
        let details = refusal.details.as_ref();
        details.is_some_and(|details| details.name.is_empty())
    };
    answered.as_ref().is_err_and(|refusal| match refusal.code {
        405 => true,
        // Table options are checked by the handler.
        406 => {
            let types = Format::ALL.iter().map(|format| format.media_type());
            let types = types.chain(request.cbor.is_offered().then_some(cbor::MEDIA_TYPE));
            check_named(request.accept(), &types.collect::<Vec<_>>()).is_err()
        }
        404 => names_nothing(refusal),
        415 => request.method == "PATCH",
        _ => false,
    })
}

async fn handle_stored(
    call: Call<'_>,
    storage: Arc<dyn RestStorage>,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let facts = storage.facts();
    if is_token_request(facts, path) {
        return token_request::handle(call, facts, path, body).await;
    }
    if let Some(subresource) = connect::subresource(facts, path) {
        return connect::handle(call, facts, subresource, path, body).await;
    }
    let rest = match &path.subresource {
        None => storage,
        Some(name) if !path.more => {
            let rest = storage.subresource(name);
            rest.ok_or_else(|| no_subresource(&*storage, path))?
        }
        Some(_) => return Err(not_found()),
    };
    let target = Target {
        rest,
        namespace: path.namespace.clone().unwrap_or_default(),
        name: path.name.clone().unwrap_or_default(),
    };
    dispatch(call, target, path, body).await
}

/// The option with which lists and watches omit objects that cannot be decoded. Upstream has it for
/// deletions only.
const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// Reports whether a list or watch should omit objects that cannot be decoded.
pub(crate) fn ignores_read_errors(request: &Request, labels: &RequestLabels) -> bool {
    matches!(labels.verb, "LIST" | "WATCH") && request.query.flag(IGNORE_READ_ERROR)
}

fn is_token_request(facts: &ResourceFacts, path: &ResourcePath) -> bool {
    facts.group.is_empty()
        && facts.plural == "serviceaccounts"
        && path.subresource.as_deref() == Some("token")
        && !path.more
}

/// Checks that only namespaced resources have a namespace in the path, and that their objects do.
fn check_scope(facts: &ResourceFacts, path: &ResourcePath) -> Result<(), Status> {
    let fits = match &path.namespace {
        Some(_) => facts.namespaced,
        None => !facts.namespaced || path.name.is_none(),
    };
    if fits { Ok(()) } else { Err(not_found()) }
}

/// Reports whether a path is valid for a custom resource. As upstream, across all namespaces only
/// lists are, and other paths are not found.
fn is_custom_path(facts: &ResourceFacts, path: &ResourcePath, method: &str) -> bool {
    let namespace = path.namespace.as_deref().unwrap_or_default();
    let lists = path.name.is_none() && matches!(method, "GET" | "HEAD");
    if facts.namespaced {
        !namespace.is_empty() || lists
    } else {
        namespace.is_empty()
    }
}

/// 404 for an unknown subresource. For a custom resource upstream names the object.
fn no_subresource(storage: &dyn RestStorage, path: &ResourcePath) -> Status {
    if !storage.kind().is_custom() {
        return not_found();
    }
    let name = path.name.as_deref().unwrap_or_default();
    Status::not_found(&storage.group_resource(), name)
}

/// 405. For a custom resource upstream names the resource and the verb.
fn method_not_supported(rest: &dyn RestStorage, path: &ResourcePath, method: &str) -> Status {
    if !rest.kind().is_custom() {
        return method_not_allowed(method);
    }
    let verb = match method {
        "GET" | "HEAD" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if path.name.is_none() => "deletecollection",
        "DELETE" => "delete",
        _ => "",
    };
    if matches!(verb, "update" | "patch") && path.name.is_none() {
        return Status::bad_request("name must be provided");
    }
    Status::method_not_supported(&rest.group_resource(), verb)
}

/// Deprecated kinds, with upstream's warnings.
const DEPRECATED: [(&str, &str, &str, &str); 2] = [
    (
        "",
        "v1",
        "Endpoints",
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    (
        "",
        "v1",
        "ComponentStatus",
        "v1 ComponentStatus is deprecated in v1.19+",
    ),
];

/// Warns about a deprecated kind, if the request was routed.
fn warn_of_deprecation(call: Call<'_>, facts: &'static ResourceFacts) {
    let names = (facts.group, facts.version, facts.kind);
    let found = DEPRECATED
        .iter()
        .find(|(group, version, kind, _)| (*group, *version, *kind) == names);
    let built_in = found.map(|(_, _, _, warning)| *warning);
    if let Some(warning) = built_in.or_else(|| deprecation_of(facts)) {
        call.cx.warn_first(warning);
        call.server.metrics.deprecated(call.labels);
        if let Some(audit) = call.audit {
            audit.annotate("k8s.io/deprecated", "true");
        }
    }
}

/// Handles resources that are not stored.
async fn handle_unstored(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    if path.subresource.is_some() {
        return Err(not_found());
    }
    let method = call.request.method.as_str();
    match (method, facts.plural) {
        ("GET", "componentstatuses") => {
            componentstatuses::handle(call, facts, path.name.as_deref()).await
        }
        ("POST", "bindings") if path.name.is_none() => {
            create::handle_binding(call, path, body).await
        }
        ("POST", _) if path.name.is_none() && facts.verbs.contains(&"create") => {
            review::handle(call, facts, path.namespace.as_deref(), body).await
        }
        (_, plural) if plural != "componentstatuses" && path.name.is_some() => Err(not_found()),
        _ => Err(method_not_allowed(method)),
    }
}

async fn dispatch(
    call: Call<'_>,
    target: Target,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let method = call.request.method.as_str();
    let one = path.name.is_some();
    let everywhere = target.rest.facts().namespaced && path.namespace.is_none();
    let verb = match (method, one) {
        ("GET", true) => Verb::Get,
        ("GET", false) => Verb::List,
        ("POST", true) if path.subresource.is_some() => Verb::Create,
        ("POST", false) if !everywhere => Verb::Create,
        ("PUT", true) => Verb::Update,
        ("PATCH", true) => Verb::Patch,
        ("DELETE", true) if path.subresource.is_none() => Verb::Delete,
        ("DELETE", false) if !everywhere => Verb::DeleteCollection,
        _ => return Err(method_not_supported(&*target.rest, path, method)),
    };
    if !target.rest.has(verb) || (path.watch && method != "GET") {
        return Err(method_not_supported(&*target.rest, path, method));
    }
    if path.name.as_deref() == Some("") {
        return Err(Status::bad_request("name must be provided"));
    }
    let unplaced = path.namespace.as_deref() == Some("");
    if unplaced && verb == Verb::DeleteCollection {
        // Upstream reports this per object, once it has found one.
        return Err(Status::bad_request("Namespace parameter required."));
    }
    match verb {
        Verb::Get | Verb::List if path.watch => watch::handle(call, target).await,
        Verb::List if call.request.query.flag("watch") => watch::handle(call, target).await,
        Verb::Get => get::handle(call, target).await,
        Verb::List | Verb::Watch => list::handle(call, target).await,
        Verb::Create => create::handle(call, target, body).await,
        Verb::Update => update::handle(call, target, body).await,
        Verb::Patch => {
            let subresource = path.subresource.as_deref();
            patch::handle(call, target, subresource, body).await
        }
        Verb::Delete => delete::handle(call, target, body).await,
        Verb::DeleteCollection => delete_collection::handle(call, target, body).await,
    }
}
