//! `ServiceAccount`: Pods run as a service account of their namespace, and mount a token of it.
//!
//! Upstream enables it by default. Here it must be enabled, because it refuses all Pods of a
//! namespace without the account `default`, which upstream's controllers create.

mod secrets;
mod token_volume;

use self::secrets::Mountable;
use self::token_volume::mount;
use crate::objects::typed;
use crate::pod_references::has_secrets;
use kubist_api::core::v1::{LocalObjectReference, Pod, ServiceAccount as Account};
use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::time::Duration;
use tokio::time::sleep;

/// Gives new Pods a service account.
#[derive(Debug)]
pub(crate) struct ServiceAccount;

const DEFAULT: &str = "default";
/// Marks Pods that a node has made itself.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// Marks accounts whose Pods may only refer to their secrets.
const ENFORCES: &str = "kubernetes.io/enforce-mountable-secrets";
/// How often the default account of a namespace is looked for, which may be new, and the time
/// between.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(100);

impl AdmissionPlugin for ServiceAccount {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        matches!(
            (target.operation, target.subresource),
            (Operation::Create, "") | (Operation::Update, "ephemeralcontainers")
        )
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            if attributes.target().operation != Operation::Create {
                return Ok(());
            }
            let is_mirror = attributes.typed::<Pod>().is_none_or(is_mirror);
            if is_mirror {
                return check(attributes).await;
            }
            if let Some(pod) = attributes.typed_mut::<Pod>()
                && pod.spec.service_account_name.is_empty()
            {
                pod.spec.service_account_name = DEFAULT.into();
            }
            let account = account_of(attributes).await?;
            let volume = attributes.stores().new_name("kube-api-access-");
            if let Some(pod) = attributes.typed_mut::<Pod>() {
                set(pod, &account, volume);
            }
            check(attributes).await
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(check(attributes))
    }
}

fn is_mirror(pod: &Pod) -> bool {
    pod.metadata.annotations.contains_key(MIRROR)
}

/// Mounts a token of the account, and sets its pull secrets.
fn set(pod: &mut Pod, account: &Account, volume: String) {
    let wanted = pod.spec.automount_service_account_token;
    let wanted = wanted.or(account.automount_service_account_token);
    if wanted.unwrap_or(true) {
        mount(pod, volume);
    }
    if pod.spec.image_pull_secrets.is_empty() {
        let named = account
            .image_pull_secrets
            .iter()
            .map(|it| LocalObjectReference {
                name: it.name.clone(),
            });
        pod.spec.image_pull_secrets = named.collect();
    }
}

async fn check(attributes: &Attributes<'_>) -> Result<(), Status> {
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(());
    };
    let is_ephemeral = attributes.target().operation == Operation::Update;
    if is_mirror(pod) && !is_ephemeral {
        return check_mirror(attributes, pod);
    }
    if pod.spec.service_account_name.is_empty() {
        return Err(attributes.forbidden(format_args!(
            "no service account specified for pod {}/{}",
            attributes.target().namespace,
            pod.metadata.name
        )));
    }
    let account = account_of(attributes).await?;
    let enforces = account.metadata.annotations.get(ENFORCES);
    let enforces = enforces
        .is_some_and(|it| matches!(it.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True"));
    if !enforces {
        return Ok(());
    }
    let mountable = Mountable::of(&account);
    if is_ephemeral {
        // Upstream's error has no status of its own.
        return mountable
            .check_ephemeral(pod)
            .map_err(Status::unmapped_error);
    }
    mountable
        .check(pod)
        .map_err(|why| attributes.forbidden(why))
}

/// A Pod that a node has made itself refers to nothing of its namespace.
fn check_mirror(attributes: &Attributes<'_>, pod: &Pod) -> Result<(), Status> {
    if !pod.spec.service_account_name.is_empty() {
        return Err(attributes.forbidden("a mirror pod may not reference service accounts"));
    }
    if has_secrets(pod) {
        return Err(attributes.forbidden("a mirror pod may not reference secrets"));
    }
    let projected = pod.spec.volumes.iter();
    let projected = projected.filter_map(|it| it.projected.as_deref());
    let mut sources = projected.flat_map(|it| &it.sources);
    if sources.any(|it| it.service_account_token.is_some()) {
        let why = "a mirror pod may not use ServiceAccountToken volume projections";
        return Err(attributes.forbidden(why));
    }
    Ok(())
}

/// Returns the service account of a Pod.
async fn account_of(attributes: &Attributes<'_>) -> Result<Account, Status> {
    let namespace = attributes.target().namespace;
    let name = attributes.typed::<Pod>();
    let name = name.map_or_else(Default::default, |it| it.spec.service_account_name.clone());
    let failed = |why: &Status| {
        attributes.forbidden(format_args!(
            "error looking up service account {namespace}/{name}: {}",
            why.message
        ))
    };
    let tries = if name == DEFAULT { TRIES } else { 1 };
    for index in 0..tries {
        if index > 0 {
            sleep(PAUSE).await;
        }
        let objects = attributes.objects();
        let found = objects.get("", "serviceaccounts", namespace, &name).await;
        let found = found.map_err(|status| failed(&status))?;
        if let Some(account) = found.as_deref().and_then(typed::<Account>) {
            return Ok(account.clone());
        }
    }
    let resource = GroupResource::new("", "serviceaccount");
    Err(failed(&Status::not_found(&resource, &name)))
}
