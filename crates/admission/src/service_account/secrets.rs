//! Which secrets a service account lets its Pods refer to.

use crate::pod_references::secret_of;
use kubist_api::core::v1::{EnvFromSource, EnvVar, Pod, ServiceAccount};
use std::collections::BTreeSet;

/// The secrets that the Pods of a service account may refer to.
pub(super) struct Mountable<'a> {
    account: &'a str,
    secrets: BTreeSet<&'a str>,
    pull_secrets: BTreeSet<&'a str>,
}

impl<'a> Mountable<'a> {
    pub(super) fn of(account: &'a ServiceAccount) -> Self {
        let secrets = account.secrets.iter().map(|it| it.name.as_str());
        let pull_secrets = account.image_pull_secrets.iter();
        Self {
            account: &account.metadata.name,
            secrets: secrets.collect(),
            pull_secrets: pull_secrets.map(|it| it.name.as_str()).collect(),
        }
    }

    /// Checks a new Pod.
    ///
    /// # Errors
    /// It refers to another secret.
    pub(super) fn check(&self, pod: &Pod) -> Result<(), String> {
        let spec = &pod.spec;
        for volume in &spec.volumes {
            let secret = volume.secret.as_deref().map(|it| it.secret_name.as_str());
            if let Some(name) = secret.filter(|it| !self.secrets.contains(it)) {
                return Err(format!(
                    "volume with secret.secretName=\"{name}\" is not allowed because service \
                     account {} does not reference that secret",
                    self.account
                ));
            }
        }
        for container in &spec.init_containers {
            let whose = format!("init container {}", container.name);
            self.check_env(&whose, &container.env, &container.env_from)?;
        }
        for container in &spec.containers {
            let whose = format!("container {}", container.name);
            self.check_env(&whose, &container.env, &container.env_from)?;
        }
        for (index, secret) in spec.image_pull_secrets.iter().enumerate() {
            if !self.pull_secrets.contains(secret.name.as_str()) {
                return Err(format!(
                    "imagePullSecrets[{index}].name=\"{}\" is not allowed because service account \
                     {} does not reference that imagePullSecret",
                    secret.name, self.account
                ));
            }
        }
        Ok(())
    }

    /// Checks the ephemeral containers of a Pod.
    ///
    /// # Errors
    /// One refers to another secret.
    pub(super) fn check_ephemeral(&self, pod: &Pod) -> Result<(), String> {
        for container in &pod.spec.ephemeral_containers {
            let whose = format!("ephemeral container {}", container.name);
            self.check_env(&whose, &container.env, &container.env_from)?;
        }
        Ok(())
    }

    fn check_env(&self, whose: &str, env: &[EnvVar], from: &[EnvFromSource]) -> Result<(), String> {
        let refusal = |how: &str, secret: &str| {
            format!(
                "{whose} with {how} referencing secret.secretName=\"{secret}\" is not allowed \
                 because service account {} does not reference that secret",
                self.account
            )
        };
        for variable in env {
            let secret = secret_of(variable).filter(|it| !self.secrets.contains(it));
            if let Some(secret) = secret {
                let how = format!("envVar {}", variable.name);
                return Err(refusal(&how, secret));
            }
        }
        for source in from {
            let secret = source.secret_ref.as_deref().map(|it| it.name.as_str());
            if let Some(secret) = secret.filter(|it| !self.secrets.contains(it)) {
                return Err(refusal("envFrom", secret));
            }
        }
        Ok(())
    }
}
