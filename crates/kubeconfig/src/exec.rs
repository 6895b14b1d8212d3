//! Conversion of an `exec` entry into a transport's credential plugin.

use crate::error::KubeconfigError;
use crate::kubeconfig::{Exec, NamedCluster};
use crate::select::Entry;
use base64::Engine as _;
use kubist_transport::{ExecApiVersion, ExecPlugin, InteractiveMode};
use serde_json::{Map, Value};

/// The cluster extension that is passed to plugins.
const CLUSTER_CONFIG: &str = "client.authentication.k8s.io/exec";

pub(crate) fn plugin(
    entry: Entry<'_>,
    exec: &Exec,
    cluster: &NamedCluster,
) -> Result<ExecPlugin, KubeconfigError> {
    if exec.command.is_empty() {
        return Err(entry.invalid("exec.command", "is missing"));
    }
    let versions = [ExecApiVersion::V1, ExecApiVersion::V1Beta1];
    let Some(version) = versions
        .into_iter()
        .find(|known| known.as_str() == exec.api_version)
    else {
        let problem = format!(
            "is {:?}; known are client.authentication.k8s.io/v1 and /v1beta1",
            exec.api_version
        );
        return Err(entry.invalid("exec.apiVersion", problem));
    };
    let interactive_mode = match (exec.interactive_mode.as_str(), version) {
        ("Never", _) => InteractiveMode::Never,
        ("IfAvailable", _) | ("", ExecApiVersion::V1Beta1) => InteractiveMode::IfAvailable,
        ("Always", _) => InteractiveMode::Always,
        (mode, _) => {
            let problem = format!("is {mode:?}, not Never, IfAvailable or Always");
            return Err(entry.invalid("exec.interactiveMode", problem));
        }
    };
    if exec.env.iter().any(|variable| variable.name.is_empty()) {
        return Err(entry.invalid("exec.env", "has a variable without a name"));
    }
    let mut plugin = ExecPlugin::new(command(entry, &exec.command), version);
    plugin.args.clone_from(&exec.args);
    plugin.env = exec
        .env
        .iter()
        .map(|var| (var.name.clone(), var.value.clone()))
        .collect();
    plugin.interactive_mode = interactive_mode;
    plugin.install_hint = Some(exec.install_hint.clone()).filter(|hint| !hint.is_empty());
    if exec.provide_cluster_info {
        plugin.cluster = Some(cluster_info(cluster)?);
    }
    Ok(plugin)
}

/// A bare name is looked up in `PATH` at run time; a name with a slash is a path.
fn command(entry: Entry<'_>, command: &str) -> String {
    if command.contains('/') {
        entry.path(command).display().to_string()
    } else {
        command.to_owned()
    }
}

/// Returns the `spec.cluster` of the `ExecCredential` that plugins read.
fn cluster_info(named: &NamedCluster) -> Result<Value, KubeconfigError> {
    let (entry, cluster) = (named.entry(), &named.cluster);
    let mut info = Map::new();
    let mut text = |key: &str, value: &str| {
        if !value.is_empty() {
            info.insert(key.to_owned(), value.into());
        }
    };
    text("server", &cluster.server);
    text("tls-server-name", &cluster.tls_server_name);
    text("proxy-url", &cluster.proxy_url);
    if !cluster.certificate_authority_data.is_empty() {
        text(
            "certificate-authority-data",
            &cluster.certificate_authority_data,
        );
    } else if !cluster.certificate_authority.is_empty() {
        let path = entry.path(&cluster.certificate_authority);
        let pem = std::fs::read(&path).map_err(|error| {
            let problem = format!("{} cannot be read: {error}", path.display());
            entry.invalid("certificate-authority", problem)
        })?;
        let data = base64::engine::general_purpose::STANDARD.encode(pem);
        text("certificate-authority-data", &data);
    }
    for (key, value) in [
        ("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify),
        ("disable-compression", cluster.disable_compression),
    ] {
        if value {
            info.insert(key.to_owned(), true.into());
        }
    }
    let mut extensions = cluster.extensions.iter();
    if let Some(config) = extensions.find(|extension| extension.name == CLUSTER_CONFIG) {
        info.insert("config".to_owned(), config.extension.clone());
    }
    Ok(Value::Object(info))
}
