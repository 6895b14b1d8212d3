//! Which tokens nodes may request: those that the Pods bound to them mount.

use crate::objects::typed;
use kubist_api::authentication::v1::TokenRequest;
use kubist_api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Volume};
use kubist_api::storage::v1::CSIDriver;
use kubist_apimachinery::{GroupResource, Status, Str};
use kubist_authorization::{Action, Attributes as Access, Authorizer, ResourceAction};
use kubist_registry::admission::{Attributes, Operation};

pub(super) async fn judge(
    attributes: &Attributes<'_>,
    node: &str,
    authorizer: &dyn Authorizer,
) -> Result<(), Status> {
    let target = attributes.target();
    if target.operation != Operation::Create || target.subresource != "token" {
        return Ok(());
    }
    let Some(request) = attributes.typed::<TokenRequest>() else {
        return Ok(());
    };
    let bound = request.spec.bound_object_ref.as_deref();
    let bound = bound.filter(|it| it.api_version == "v1" && it.kind == "Pod");
    let Some(bound) = bound.filter(|it| !it.name.is_empty()) else {
        return Err(attributes.forbidden("node requested token not bound to a pod"));
    };
    if bound.uid.is_empty() {
        let why = "node requested token with a pod binding without a uid";
        return Err(attributes.forbidden(why));
    }
    let objects = attributes.objects();
    let found = objects.get("", "pods", target.namespace, &bound.name);
    let found = found.await?;
    let pod = found.as_deref().and_then(typed::<Pod>);
    // Upstream's caches name kinds, not resources.
    let missing = || Status::not_found(&GroupResource::new("", "pod"), &bound.name);
    let pod = pod.ok_or_else(missing)?;
    if bound.uid != pod.metadata.uid {
        return Err(attributes.forbidden(format_args!(
            "the UID in the bound object reference ({}) does not match the UID in record. The \
             object might have been deleted and then recreated",
            bound.uid
        )));
    }
    if pod.spec.node_name != *node {
        let why = "node requested token bound to a pod scheduled on a different node";
        return Err(attributes.forbidden(why));
    }
    let audience = match request.spec.audiences.as_slice() {
        [] => "",
        [one] => one.as_str(),
        _ => return Err(attributes.forbidden("node may only request 0 or 1 audiences")),
    };
    judge_audience(attributes, pod, audience, authorizer).await
}

/// The audience is that of a volume of the Pod, or one that the node may request.
async fn judge_audience(
    attributes: &Attributes<'_>,
    pod: &Pod,
    audience: &str,
    authorizer: &dyn Authorizer,
) -> Result<(), Status> {
    for volume in &pod.spec.volumes {
        if has_audience(attributes, pod, volume, audience).await? {
            return Ok(());
        }
    }
    let target = attributes.target();
    let access = Access {
        user: attributes.user(),
        verb: "request-serviceaccounts-token-audience",
        action: Action::Resource(ResourceAction {
            version: "v1",
            resource: audience,
            namespace: target.namespace,
            name: target.name,
            ..ResourceAction::default()
        }),
    };
    if authorizer.authorize(access).await.is_allowed() {
        return Ok(());
    }
    Err(attributes.forbidden(format_args!(
        "audience \"{audience}\" not found in pod spec volume, {} is not authorized to request \
         tokens for this audience",
        attributes.user().name
    )))
}

async fn has_audience(
    attributes: &Attributes<'_>,
    pod: &Pod,
    volume: &Volume,
    audience: &str,
) -> Result<bool, Status> {
    let projected = volume.projected.as_deref();
    let sources = projected.into_iter().flat_map(|it| &it.sources);
    let mut tokens = sources.filter_map(|it| it.service_account_token.as_deref());
    if tokens.any(|it| it.audience == *audience) {
        return Ok(true);
    }
    let claim = volume.persistent_volume_claim.as_deref();
    let claim = claim.map(|it| it.claim_name.to_string());
    let ephemeral = volume
        .ephemeral
        .as_ref()
        .map(|_| format!("{}-{}", pod.metadata.name, volume.name));
    let driver = match (ephemeral.or(claim), volume.csi.as_deref()) {
        (Some(claim), _) => driver_of(attributes, &claim).await?,
        (None, Some(csi)) => Some(csi.driver.clone()),
        (None, None) => None,
    };
    let Some(driver) = driver else {
        return Ok(false);
    };
    let objects = attributes.objects();
    let found = objects.get("storage.k8s.io", "csidrivers", "", &driver);
    let found = found.await?;
    let driver = found.as_deref().and_then(typed::<CSIDriver>);
    let requests = driver.map_or(&[][..], |it| &it.spec.token_requests);
    Ok(requests.iter().any(|it| it.audience == *audience))
}

/// Returns the driver of a claim's volume.
async fn driver_of(attributes: &Attributes<'_>, claim: &str) -> Result<Option<Str>, Status> {
    let (objects, namespace) = (attributes.objects(), attributes.target().namespace);
    let found = objects.get("", "persistentvolumeclaims", namespace, claim);
    let found = found.await?;
    let claim = found.as_deref().and_then(typed::<PersistentVolumeClaim>);
    let Some(claim) = claim else {
        return Ok(None);
    };
    let found = objects.get("", "persistentvolumes", "", &claim.spec.volume_name);
    let found = found.await?;
    let volume = found.as_deref().and_then(typed::<PersistentVolume>);
    let csi = volume.and_then(|it| it.spec.csi.as_deref());
    Ok(csi.map(|it| it.driver.clone()))
}
