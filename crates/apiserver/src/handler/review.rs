//! Reviews: questions that are posted and answered at once, and stored nowhere.
//!
//! Who am I, may I (or somebody) do this, whose token is this. Everybody who is authenticated may
//! do everything here, so the answers to the second are yes; what makes no sense is refused as
//! upstream does.

use super::Call;
use crate::answer::Answer;
use crate::decode;
use crate::represent::Form;
use crate::request::validation_of;
use crate::service::not_found;
use crate::service_accounts;
use crate::token_issuer::ISSUER;
use http::StatusCode;
use hyper::body::Incoming;
use kubist_api::authentication::v1 as authentication;
use kubist_api::authorization::v1 as authorization;
use kubist_api::{ResourceFacts, find_kind};
use kubist_apimachinery::{
    AnyObject, BadValue, FieldError, FieldPath, GroupKind, PostOptions, Status, Str, WriteVerb,
};
use kubist_codec::Format;
use kubist_codec::negotiate::Offer;
use kubist_registry::User;
use serde_json::json;
use std::any::Any;

/// Why the answer is yes.
const REASON: &str = "everybody who is authenticated may do everything on this server";
/// Reviews have one form.
const OFFER: Offer = Offer {
    table: false,
    metadata: false,
    ..Offer::BUILT_IN
};

pub(super) async fn answer(
    call: Call<'_>,
    facts: &'static ResourceFacts,
    namespace: Option<&str>,
    body: &mut Incoming,
) -> Result<Answer, Status> {
    let form = Form::of(call.request, &OFFER, facts, call.cx.now())?;
    let (format, bytes) = call.body(Format::ALL, body).await?;
    let pairs = call.request.query.pairs();
    let options = PostOptions::from_query(WriteVerb::Create, pairs);
    let options = options.map_err(|error| error.to_status())?;
    let kind = find_kind(facts.group, facts.version, facts.kind).ok_or_else(not_found)?;
    let decoded = decode::object(&bytes, format, kind, validation_of(&options))?;
    let mut review = call.told(decoded);
    if !fill(call, &mut *review, namespace).await? {
        return Err(not_found());
    }
    Ok(form.message(StatusCode::CREATED, &*review))
}

/// Writes the answer into a review. False if it is no kind of review that is known.
async fn fill(
    call: Call<'_>,
    review: &mut dyn AnyObject,
    namespace: Option<&str>,
) -> Result<bool, Status> {
    let review: &mut dyn Any = review;
    if let Some(it) = review.downcast_mut::<authorization::SelfSubjectAccessReview>() {
        let spec = &it.spec;
        check(about(
            &spec.resource_attributes,
            &spec.non_resource_attributes,
        ))?;
        it.status = allowed();
    } else if let Some(it) = review.downcast_mut::<authorization::SubjectAccessReview>() {
        check(of_somebody(&it.spec))?;
        it.status = allowed();
    } else if let Some(it) = review.downcast_mut::<authorization::LocalSubjectAccessReview>() {
        check(of_somebody(&it.spec))?;
        check(in_namespace(&it.spec, namespace.unwrap_or_default()))?;
        it.status = allowed();
    } else if let Some(it) = review.downcast_mut::<authorization::SelfSubjectRulesReview>() {
        if it.spec.namespace.is_empty() {
            return Err(Status::bad_request("no namespace on request"));
        }
        it.status = everything();
    } else if let Some(it) = review.downcast_mut::<authentication::SelfSubjectReview>() {
        it.metadata.creation_timestamp = Some(call.cx.now());
        it.status.user_info = user_info(&call.cx.user);
    } else if let Some(it) = review.downcast_mut::<authentication::TokenReview>() {
        token(call, it).await?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn allowed() -> authorization::SubjectAccessReviewStatus {
    authorization::SubjectAccessReviewStatus {
        allowed: true,
        reason: REASON.into(),
        ..Default::default()
    }
}

fn everything() -> authorization::SubjectRulesReviewStatus {
    let all = || vec!["*".into()];
    authorization::SubjectRulesReviewStatus {
        resource_rules: vec![authorization::ResourceRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            resource_names: Vec::new(),
        }],
        non_resource_rules: vec![authorization::NonResourceRule {
            verbs: all(),
            non_resource_urls: all(),
        }],
        incomplete: false,
        evaluation_error: "".into(),
    }
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

/// Upstream names the group of the review here, and no kind.
fn check(error: Option<FieldError>) -> Result<(), Status> {
    match error {
        None => Ok(()),
        Some(error) => {
            let kind = GroupKind::new("authorization.k8s.io", "");
            Err(Status::invalid(&kind, "", &[error]))
        }
    }
}

/// A review is about a resource or about a path.
fn about(
    resource: &Option<Box<authorization::ResourceAttributes>>,
    path: &Option<Box<authorization::NonResourceAttributes>>,
) -> Option<FieldError> {
    match (resource, path) {
        (Some(_), Some(path)) => {
            let shown = json!({"Path": path.path, "Verb": path.verb});
            Some(FieldError::invalid(
                &FieldPath::new("spec.nonResourceAttributes"),
                BadValue::json(&shown),
                "cannot be specified in combination with resourceAttributes",
            ))
        }
        (None, None) => Some(FieldError::invalid(
            &FieldPath::new("spec.resourceAttributes"),
            BadValue::null(),
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => None,
    }
}

fn of_somebody(spec: &authorization::SubjectAccessReviewSpec) -> Option<FieldError> {
    let wrong = about(&spec.resource_attributes, &spec.non_resource_attributes);
    if wrong.is_some() {
        return wrong;
    }
    (spec.user.is_empty() && spec.groups.is_empty()).then(|| {
        FieldError::invalid(
            &FieldPath::new("spec.user"),
            "",
            "at least one of user or group must be specified",
        )
    })
}

fn in_namespace(
    spec: &authorization::SubjectAccessReviewSpec,
    namespace: &str,
) -> Option<FieldError> {
    let Some(resource) = &spec.resource_attributes else {
        return Some(FieldError::invalid(
            &FieldPath::new("spec.nonResourceAttributes"),
            BadValue::null(),
            "disallowed on this kind of request",
        ));
    };
    (resource.namespace != *namespace).then(|| {
        FieldError::invalid(
            &FieldPath::new("spec.resourceAttributes.namespace"),
            &resource.namespace,
            "must match metadata.namespace",
        )
    })
}

/// Whose token it is. A token of a service account is good for the audiences that it names, a
/// static one for this server.
async fn token(call: Call<'_>, review: &mut authentication::TokenReview) -> Result<(), Status> {
    let spec = &review.spec;
    if spec.token.is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(message));
    }
    let own = [Str::from(ISSUER)];
    let wanted = match spec.audiences.as_slice() {
        [] => &own,
        wanted => wanted,
    };
    let (user, audiences) = whose(call, &spec.token).await?;
    let audiences: Vec<Str> = wanted
        .iter()
        .filter(|wanted| audiences.contains(wanted))
        .cloned()
        .collect();
    review.status = match user {
        Some(user) if !audiences.is_empty() => authentication::TokenReviewStatus {
            authenticated: true,
            user: user_info(&user),
            audiences,
            ..Default::default()
        },
        _ => authentication::TokenReviewStatus {
            error: "invalid bearer token".into(),
            ..Default::default()
        },
    };
    Ok(())
}

/// The user of a token, and the audiences that it is for.
async fn whose(call: Call<'_>, token: &str) -> Result<(Option<User>, Vec<Str>), Status> {
    let authenticator = &call.service.authenticator;
    if let Some(user) = authenticator.by_token(token) {
        return Ok((Some(user), vec![ISSUER.into()]));
    }
    let Some(claims) = authenticator.issuer().verify(token, call.cx.received) else {
        return Ok((None, Vec::new()));
    };
    let user = service_accounts::user_of(&call.service.registry, &claims).await?;
    let audiences = claims.audiences.iter().map(|it| it.as_str().into());
    Ok((user, audiences.collect()))
}
