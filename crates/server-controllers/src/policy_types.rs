//! The controller of the status of `ValidatingAdmissionPolicy`s: it checks the types in their
//! expressions against the kinds that they are about, as upstream's controller does, and notes
//! warnings in `status.typeChecking`.
//!
//! Warnings change nothing: policies are obeyed whatever their types. A policy is checked once for
//! each generation, so two controllers of two programs do not disturb each other.

mod check;
mod declare;
mod kinds;
mod schemas;

use self::check::{Kinds, Named, warnings};
use self::kinds::{checked_kinds, param_kind};
use self::schemas::Schemas;
use kubist_api::admissionregistration::v1::{ExpressionWarning, ValidatingAdmissionPolicy};
use kubist_apimachinery::{ObjectName, PatchOptions};
use kubist_cache::Lister;
use kubist_client::{Api, Client, Patch};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The field manager, as upstream's, so that either controller can replace the other.
const MANAGER: &str = "validatingadmissionpolicy-status";

/// Runs until `token` is cancelled.
///
/// # Errors
/// Policies could not be listed for two minutes.
pub async fn run(client: Client, token: CancellationToken) -> Result<Stats, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let policies = factory.informer::<ValidatingAdmissionPolicy>();
    let controller = Controller::new(MANAGER, &policies);
    let reconciler = TypeChecker {
        api: Api::all(client),
        policies: policies.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

struct TypeChecker {
    api: Api<ValidatingAdmissionPolicy>,
    policies: Lister<ValidatingAdmissionPolicy>,
}

impl Reconciler for TypeChecker {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let Some(policy) = self.policies.get(&key) else {
            return Ok(Action::done());
        };
        let generation = policy.metadata.generation;
        if generation <= policy.status.observed_generation {
            return Ok(Action::done());
        }
        let warnings = self.checked(&policy).await?;
        let shown = warnings
            .iter()
            .map(|it| json!({"fieldRef": it.field_ref, "warning": it.warning}));
        let mut checking = json!({});
        if !warnings.is_empty() {
            checking["expressionWarnings"] = shown.collect();
        }
        let status = Patch::Apply(json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": key.name},
            "status": {"observedGeneration": generation, "typeChecking": checking},
        }));
        let mut options = PatchOptions::managed_by(MANAGER);
        options.force = Some(true);
        let status = self
            .api
            .status()
            .patch_with(&key.name, &status, &options)
            .await;
        match status {
            // An apply would create it again if the server allowed that.
            Err(error) if error.is_not_found() => Ok(Action::done()),
            written => written.map(|_| Action::done()).map_err(Error::from),
        }
    }
}

impl TypeChecker {
    /// Returns the warnings about a policy.
    async fn checked(
        &self,
        policy: &ValidatingAdmissionPolicy,
    ) -> Result<Vec<ExpressionWarning>, Error> {
        let client = self.api.client();
        let discovery = client.discover().await?;
        let mut schemas = Schemas::new(client);
        let mut kinds = Kinds::default();
        for kind in checked_kinds(policy, &discovery) {
            // What is not served, or has no schema, is not checked.
            if let Some(declared) = schemas.declared(&kind).await? {
                let name = format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind);
                kinds.objects.push(Named { name, declared });
            }
        }
        if let Some(kind) = param_kind(policy) {
            kinds.has_params = true;
            kinds.params = schemas.declared(&kind).await?;
        }
        Ok(warnings(policy, &kinds))
    }
}
