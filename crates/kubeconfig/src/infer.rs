//! `infer`: finds the configuration in files or in the Pod.

use crate::environment::Environment;
use crate::error::KubeconfigError;
use crate::in_cluster::in_cluster;
use crate::kubeconfig::Kubeconfig;
use crate::select::{ClientConfig, Selection};
use std::path::{Path, PathBuf};

/// Options, usually from a program's flags.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The only file to read; it must exist. Default: look for files.
    pub file: Option<PathBuf>,
    /// The context, cluster and user to use. Default: the current context.
    pub selection: Selection,
}

/// Finds the configuration: `options.file`, else the files in `KUBECONFIG`, else
/// `$HOME/.kube/config`, else the service account of the Pod.
pub fn infer(
    options: &Options,
    environment: &Environment,
) -> Result<ClientConfig, KubeconfigError> {
    let kubeconfig = load(options.file.as_deref(), environment)?;
    if options.file.is_some() || !kubeconfig.is_empty() {
        return kubeconfig.select(&options.selection, environment);
    }
    let mut client = in_cluster(environment).map_err(|error| KubeconfigError::NotFound {
        tried: paths(environment),
        not_in_cluster: error.to_string(),
    })?;
    if let Some(namespace) = &options.selection.namespace {
        client.namespace.clone_from(namespace);
    }
    Ok(client)
}

/// Reads and merges the files; empty if there are none.
pub fn load(file: Option<&Path>, environment: &Environment) -> Result<Kubeconfig, KubeconfigError> {
    let mut merged = Kubeconfig::default();
    if let Some(file) = file {
        merged.merge(Kubeconfig::read(file)?);
        return Ok(merged);
    }
    for path in paths(environment) {
        match Kubeconfig::read(&path) {
            Ok(config) => merged.merge(config),
            Err(KubeconfigError::Read { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(merged)
}

/// Returns the files to look for, in order and without repetition.
fn paths(environment: &Environment) -> Vec<PathBuf> {
    let Some(list) = environment.os("KUBECONFIG") else {
        let home = environment.home();
        return home
            .map(|home| home.join(".kube").join("config"))
            .into_iter()
            .collect();
    };
    let mut paths = Vec::new();
    for path in std::env::split_paths(list) {
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}
