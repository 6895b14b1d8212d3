//! Reviews: requests that are evaluated and not stored.
//!
//! Self subject reviews, access reviews and token reviews. Who decides about requests decides about
//! access reviews; invalid reviews get upstream's errors.

use crate::authentication::authenticator::{Asked, Failure, INVALID_TOKEN};
use crate::authentication::peer::Peer;
use crate::handlers::access;
use crate::handlers::call::Call;
use crate::handlers::review_rules as rules;
use crate::handlers::target::set_namespace;
use crate::negotiation::response_encoder::ResponseEncoder;
use crate::request::request_body::RequestBody;
use crate::response::ApiResponse;
use crate::response::errors::not_found;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use kubist_api::authentication::v1 as authentication;
use kubist_api::authorization::v1 as authorization;
use kubist_api::{Kind, ResourceFacts, find_kind};
use kubist_apimachinery::{AnyObject, FieldError, GroupKind, Status, WriteVerb};
use kubist_codec::Format;
use kubist_codec::negotiate::Offer;
use kubist_registry::admission::{Operation, Options, Target};
use kubist_registry::{Stored, StoredKind, User, remove_duplicate_owners, remove_system_fields};
use std::any::Any;

/// Reviews have no tables.
pub(super) const OFFER: Offer = Offer {
    table: false,
    ..Offer::BUILT_IN
};

pub(super) async fn handle(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    namespace: Option<&str>,
    body: &mut RequestBody,
) -> Result<ApiResponse, Status> {
    let encoder = ResponseEncoder::of(call.request, &OFFER, facts, call.cx.now())?;
    let kind = find_kind(facts.group, facts.version, facts.kind).ok_or_else(not_found)?;
    let received = call
        .object(body, Format::ALL, (kind, None), WriteVerb::Create)
        .await?;
    let (mut review, options) = (received.object, received.options);
    set_namespace(&mut *review, namespace.unwrap_or_default())?;
    remove_system_fields(review.meta_mut());
    remove_duplicate_owners(call.cx, &mut *review);
    let name = review.meta().name.clone();
    let target = Target {
        operation: Operation::Create,
        resource: facts,
        subresource: "",
        kind,
        namespace: namespace.unwrap_or_default(),
        name: &name,
        dry_run: options.dry_run,
    };
    let registry = &call.server.registry;
    registry.manage_body(call.cx, (kind, ""), &options, &mut *review);
    registry
        .admit_body(call.cx, target, Options::Post(&options), &mut review)
        .await?;
    if !fill(call, &mut *review, namespace).await? {
        return Err(not_found());
    }
    created(&encoder, kind, review)
}

/// Encodes an object that was posted and is not stored, or its metadata.
pub(super) fn created(
    encoder: &ResponseEncoder,
    kind: &'static Kind,
    object: Box<dyn AnyObject>,
) -> Result<ApiResponse, Status> {
    if encoder.is_plain() {
        return Ok(encoder.message(StatusCode::CREATED, &*object));
    }
    let stored = Stored::from_object(StoredKind::plain(kind), 0, object);
    encoder.object(StatusCode::CREATED, &stored)
}

/// Fills in the status of a review. False for an unknown kind.
async fn fill(
    call: Call<'_>,
    review: &mut dyn AnyObject,
    namespace: Option<&str>,
) -> Result<bool, Status> {
    let namespace = namespace.unwrap_or_default();
    let review: &mut dyn Any = review;
    if let Some(it) = review.downcast_mut::<authorization::SelfSubjectAccessReview>() {
        let resource = it.spec.resource_attributes.as_deref();
        let mut errors = rules::about(resource, it.spec.non_resource_attributes.as_deref());
        errors.extend(rules::without_metadata(&it.metadata, ""));
        check(&errors)?;
        let about = access::About::of(resource, it.spec.non_resource_attributes.as_deref());
        it.status = access::decide(call, &call.cx.user, about).await;
    } else if let Some(it) = review.downcast_mut::<authorization::SubjectAccessReview>() {
        let mut errors = rules::of_somebody(&it.spec);
        errors.extend(rules::without_metadata(&it.metadata, ""));
        check(&errors)?;
        it.status = access::decide_for(call, &it.spec).await;
    } else if let Some(it) = review.downcast_mut::<authorization::LocalSubjectAccessReview>() {
        check(&rules::in_namespace(&it.spec, &it.metadata, namespace))?;
        it.status = access::decide_for(call, &it.spec).await;
    } else if let Some(it) = review.downcast_mut::<authorization::SelfSubjectRulesReview>() {
        if it.spec.namespace.is_empty() {
            return Err(Status::bad_request("no namespace on request"));
        }
        // Upstream's response omits the spec.
        *it = authorization::SelfSubjectRulesReview {
            status: access::rules(call, &it.spec.namespace),
            ..Default::default()
        };
    } else if let Some(it) = review.downcast_mut::<authentication::SelfSubjectReview>() {
        // Upstream's response omits the request.
        *it = authentication::SelfSubjectReview::default();
        it.metadata.creation_timestamp = Some(call.cx.now());
        it.status.user_info = user_info(&call.cx.user);
    } else if let Some(it) = review.downcast_mut::<authentication::TokenReview>() {
        token(call, it).await?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn user_info(user: &User) -> authentication::UserInfo {
    let extra = user.extra.iter().map(|(key, values)| {
        let values = authentication::ExtraValue {
            items: values.clone(),
        };
        (key.clone(), values)
    });
    authentication::UserInfo {
        username: user.name.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: extra.collect(),
    }
}

/// Upstream's error has the group of the review but no kind.
fn check(errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupKind::new("authorization.k8s.io", "");
    Err(Status::invalid(&kind, "", errors))
}

/// Evaluates a token review, as a request with nothing but the token would be authenticated.
async fn token(call: Call<'_>, review: &mut authentication::TokenReview) -> Result<(), Status> {
    let spec = &review.spec;
    if spec.token.is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(message));
    }
    let authenticator = &call.server.authenticator;
    let wanted = match spec.audiences.as_slice() {
        [] => authenticator.issuer().audiences(),
        wanted => wanted,
    };
    // A token that cannot be in a header is nobody's.
    let value = HeaderValue::from_str(&format!("Bearer {}", spec.token)).ok();
    let headers = value.map(|it| (AUTHORIZATION, it));
    let headers = HeaderMap::from_iter(headers);
    let asked = Asked {
        peer: &Peer::Unknown,
        headers: &headers,
        path: "",
        audiences: wanted,
        cx: call.cx,
        registry: &call.server.registry,
    };
    let error = match authenticator.authenticate(&asked).await {
        Ok(found) => {
            review.status = authentication::TokenReviewStatus {
                authenticated: true,
                user: user_info(&found.user),
                audiences: found.audiences,
                ..Default::default()
            };
            return Ok(());
        }
        Err(Failure::Unavailable(status)) => return Err(*status),
        Err(Failure::Unauthorized(why)) => why,
        Err(Failure::None) => INVALID_TOKEN.to_owned(),
    };
    review.status = authentication::TokenReviewStatus {
        error: error.into(),
        ..Default::default()
    };
    Ok(())
}
