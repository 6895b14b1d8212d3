//! `serviceaccounts/token`: issues a token for a service account.

use crate::authentication::service_accounts::{TOKEN_ID, user_name};
use crate::authentication::token_issuer::{Account, Claims, Reference};
use crate::handlers::call::Call;
use crate::handlers::review;
use crate::handlers::target::set_namespace;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::request_body::RequestBody;
use crate::request::route::ResourcePath;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use kubist_api::authentication::v1::{BoundObjectReference, TokenRequest};
use kubist_api::core::v1::Pod;
use kubist_api::{ResourceFacts, find_kind};
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, GroupKind, GroupResource, Status, Str, Time, WriteVerb,
};
use kubist_codec::Format;
use kubist_registry::admission::{Operation, Options, Target};
use kubist_registry::{namespace_terminating, remove_duplicate_owners};
use std::any::Any;

/// Default lifetime of a token in seconds.
const LIFETIME_DEFAULT: i64 = 3_600;
/// Minimum lifetime: ten minutes.
const LIFETIME_MIN: i64 = 600;
/// Maximum lifetime.
const LIFETIME_MAX: i64 = 1 << 32;

/// The annotation of an event with the credential that was issued.
const ISSUED_CREDENTIAL_ID: &str = "authentication.kubernetes.io/issued-credential-id";

pub(super) async fn handle(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    path: &ResourcePath,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    if call.request.method != "POST" {
        return Err(method_not_allowed(call.request.method.as_str()));
    }
    let encoder = ResponseEncoder::of(call.request, &review::OFFER, facts, call.cx.now())?;
    let kind = find_kind("authentication.k8s.io", "v1", "TokenRequest").ok_or_else(not_found)?;
    let received = call
        .object(body, Format::ALL, (kind, None), WriteVerb::Create)
        .await?;
    let (mut object, options) = (received.object, received.options);
    set_namespace(&mut *object, path.namespace.as_deref().unwrap_or_default())?;
    remove_duplicate_owners(call.cx, &mut *object);
    let (namespace, name) = (path.namespace.as_deref(), path.name.as_deref());
    let of = (namespace.unwrap_or_default(), name.unwrap_or_default());
    check_namespace(call, of).await?;
    let target = Target {
        operation: Operation::Create,
        resource: facts,
        subresource: "token",
        kind,
        namespace: of.0,
        name: of.1,
        dry_run: options.dry_run,
    };
    default_lifetime(&mut *object)?;
    let registry = &call.server.registry;
    registry.manage_body(call.cx, (kind, "token"), &options, &mut *object);
    registry
        .admit_body(call.cx, target, Options::Post(&options), &mut object)
        .await?;
    fill(call, token_request(&mut *object)?, of).await?;
    review::created(&encoder, kind, object)
}

fn token_request(object: &mut dyn AnyObject) -> Result<&mut TokenRequest, Status> {
    let object: &mut dyn Any = object;
    object.downcast_mut().ok_or_else(not_found)
}

/// As upstream, this default counts as set by the client.
fn default_lifetime(object: &mut dyn AnyObject) -> Result<(), Status> {
    let lifetime = &mut token_request(object)?.spec.expiration_seconds;
    lifetime.get_or_insert(LIFETIME_DEFAULT);
    Ok(())
}

/// A terminating namespace accepts no new tokens, whether or not the account exists.
async fn check_namespace(call: Call<'_>, (namespace, name): (&str, &str)) -> Result<(), Status> {
    let found = call.core_object("namespaces", "", namespace).await?;
    if found.meta().is_terminating() {
        let accounts = GroupResource::new("", "serviceaccounts");
        return Err(namespace_terminating(&accounts, name, namespace));
    }
    Ok(())
}

/// Fills a token into its request.
async fn fill(
    call: Call<'_>,
    request: &mut TokenRequest,
    (namespace, name): (&str, &str),
) -> Result<(), Status> {
    default_and_check_name(request, name)?;
    let account = call.core_object("serviceaccounts", namespace, name).await?;
    default_and_check_uid(request, &account.meta().uid)?;
    request.metadata.creation_timestamp = Some(call.cx.now());
    let spec = &mut request.spec;
    if spec.audiences.is_empty() {
        spec.audiences = call.server.authenticator.issuer().audiences().to_vec();
    }
    let lifetime = *spec.expiration_seconds.get_or_insert(LIFETIME_DEFAULT);
    check_lifetime(lifetime)?;
    let mut bound = Account {
        namespace: namespace.to_owned(),
        own: reference(&*account),
        ..Account::default()
    };
    if let Some(object) = &spec.bound_object_ref {
        bind(call, &mut bound, object).await?;
    }
    let now = call.cx.received.as_secs();
    let expires = now.saturating_add(lifetime.unsigned_abs());
    let claims = Claims {
        audiences: spec.audiences.iter().map(ToString::to_string).collect(),
        expires,
        issued: now,
        issuer: call.server.authenticator.issuer().name().to_owned(),
        id: call.server.chance.uid(),
        account: bound,
        not_before: now,
        subject: user_name(namespace, name),
    };
    let token = call.server.authenticator.issuer().sign(&claims);
    let token = token.ok_or_else(|| Status::internal_error("cannot sign the token"))?;
    let credential = format!("{TOKEN_ID}{}", claims.id);
    call.cx.annotate(ISSUED_CREDENTIAL_ID, credential);
    request.status.token = token.into();
    let expires = i64::try_from(expires).unwrap_or(i64::MAX);
    request.status.expiration_timestamp = Some(Time::from_unix(expires));
    Ok(())
}

/// Defaults the name to that of the account; another name is refused.
fn default_and_check_name(request: &mut TokenRequest, name: &str) -> Result<(), Status> {
    let own = &mut request.metadata.name;
    if own.is_empty() {
        *own = name.into();
    }
    if *own == *name {
        return Ok(());
    }
    let path = FieldPath::new("metadata").child("name");
    let detail = "must match the service account name if specified";
    Err(invalid(name, FieldError::invalid(&path, &*own, detail)))
}

/// Defaults the uid to that of the account; another uid is refused.
fn default_and_check_uid(request: &mut TokenRequest, uid: &Str) -> Result<(), Status> {
    let meta = &mut request.metadata;
    if meta.uid.is_empty() {
        meta.uid = uid.clone();
    }
    if meta.uid == *uid {
        return Ok(());
    }
    let why = format!(
        "the UID in the token request ({}) does not match the UID of the service account ({uid})",
        meta.uid
    );
    let resource = GroupResource::new("authentication.k8s.io", "TokenRequest");
    Err(Status::conflict(&resource, &meta.name, why))
}

fn check_lifetime(seconds: i64) -> Result<(), Status> {
    let detail = match seconds {
        ..LIFETIME_MIN => "may not specify a duration less than 10 minutes",
        LIFETIME_MIN..=LIFETIME_MAX => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let path = FieldPath::new("spec").child("expirationSeconds");
    Err(invalid("", FieldError::invalid(&path, seconds, detail)))
}

fn invalid(name: &str, error: FieldError) -> Status {
    let kind = GroupKind::new("authentication.k8s.io", "TokenRequest");
    Status::invalid(&kind, name, &[error])
}

/// Binds a token to the object in its request, with which it becomes invalid.
async fn bind(
    call: Call<'_>,
    account: &mut Account,
    object: &BoundObjectReference,
) -> Result<(), Status> {
    let plural = match (object.api_version.as_str(), object.kind.as_str()) {
        ("v1", "Pod") => "pods",
        ("v1", "Secret") => "secrets",
        ("v1", "Node") => "nodes",
        (version, kind) => {
            let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
            let message =
                format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
            return Err(Status::bad_request(message));
        }
    };
    let namespace = match plural {
        "nodes" => "",
        _ => account.namespace.as_str(),
    };
    let found = call.core_object(plural, namespace, &object.name).await?;
    if !object.uid.is_empty() && object.uid != found.meta().uid {
        let resource = GroupResource::new("", object.kind.as_str());
        let why = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The \
             object might have been deleted and then recreated",
            object.uid
        );
        return Err(Status::conflict(&resource, &object.name, why));
    }
    let bound = Some(reference(&*found));
    match plural {
        "pods" => {
            let any: &dyn Any = &*found;
            let pod = any.downcast_ref::<Pod>().ok_or_else(not_found)?;
            let own = &account.own.name;
            if pod.spec.service_account_name != own.as_str() {
                let message = format!(
                    "cannot bind token for serviceaccount {own:?} to pod running with different \
                     serviceaccount name."
                );
                return Err(Status::bad_request(message));
            }
            account.pod = bound;
            let node = pod.spec.node_name.as_str();
            if !node.is_empty() {
                let found = call.server.registry.lookup().get("", "nodes", "", node);
                let uid = found.await?.map(|node| node.meta().uid.to_string());
                account.node = Some(Reference {
                    name: node.to_owned(),
                    uid: uid.unwrap_or_default(),
                });
            }
        }
        "secrets" => account.secret = bound,
        _ => account.node = bound,
    }
    Ok(())
}

fn reference(object: &dyn AnyObject) -> Reference {
    let meta = object.meta();
    Reference {
        name: meta.name.to_string(),
        uid: meta.uid.to_string(),
    }
}
