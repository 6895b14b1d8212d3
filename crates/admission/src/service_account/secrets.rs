//! Which secrets Pods refer to, and which a service account lets them.

use kubist_api::core::v1::{EnvFromSource, EnvVar, Pod, ServiceAccount, Volume};
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

fn secret_of(variable: &EnvVar) -> Option<&str> {
    let from = variable.value_from.as_deref()?;
    Some(from.secret_key_ref.as_deref()?.name.as_str())
}

/// Reports whether a Pod refers to any secret.
pub(super) fn refers_to_secret(pod: &Pod) -> bool {
    let spec = &pod.spec;
    let of_env = |env: &[EnvVar], from: &[EnvFromSource]| {
        env.iter().any(|it| secret_of(it).is_some()) || from.iter().any(|it| it.secret_ref.is_some())
    };
    let mut containers = spec.containers.iter().chain(&spec.init_containers);
    let mut ephemeral = spec.ephemeral_containers.iter();
    !spec.image_pull_secrets.is_empty()
        || containers.any(|it| of_env(&it.env, &it.env_from))
        || ephemeral.any(|it| of_env(&it.env, &it.env_from))
        || spec.volumes.iter().any(has_secret)
}

fn has_secret(volume: &Volume) -> bool {
    let projected = volume.projected.as_deref();
    let mut sources = projected.into_iter().flat_map(|it| &it.sources);
    volume.secret.is_some()
        || volume.azure_file.as_deref().is_some_and(|it| !it.secret_name.is_empty())
        || volume.cephfs.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.cinder.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.flex_volume.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.rbd.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.scale_io.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.iscsi.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume.storageos.as_deref().is_some_and(|it| it.secret_ref.is_some())
        || volume
            .csi
            .as_deref()
            .is_some_and(|it| it.node_publish_secret_ref.is_some())
        || sources.any(|it| it.secret.is_some())
}
