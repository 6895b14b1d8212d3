//! `--admission-control-config-file`: what it says is obeyed, and what cannot be is refused.

use crate::command::{Served, run};
use kubist::api::core::v1::Pod;
use kubist::client::Api;
use kubist::kubeconfig::Options;
use serde_json::json;
use std::path::Path;

const OPTION: &str = "--admission-control-config-file";

fn write(folder: &Path, name: &str, lines: &[&str]) {
    std::fs::write(folder.join(name), lines.join("\n")).unwrap();
}

const HEAD: [&str; 3] = [
    "apiVersion: apiserver.config.k8s.io/v1",
    "kind: AdmissionConfiguration",
    "plugins:",
];

#[tokio::test]
async fn defaults_of_pod_security_are_in_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("etc")).unwrap();
    let plugin = "- {name: PodSecurity, path: security.yaml}";
    write(
        folder,
        "etc/admission.yaml",
        &[&HEAD[..], &[plugin]].concat(),
    );
    let security = [
        "apiVersion: pod-security.admission.config.k8s.io/v1",
        "kind: PodSecurityConfiguration",
        "defaults: {enforce: baseline}",
        "exemptions: {namespaces: [kube-system]}",
    ];
    write(folder, "etc/security.yaml", &security);
    let served = Served::start(
        folder,
        &["--controllers=none", OPTION, "etc/admission.yaml"],
    );
    let client = kubist::infer_with(&Options {
        file: Some(served.kubeconfig.clone()),
        ..Options::default()
    });
    let client = client.unwrap();
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p"},
        "spec": {"hostNetwork": true, "containers": [{"name": "c", "image": "i"}]},
    }))
    .unwrap();
    let pods = |namespace: &str| Api::<Pod>::namespaced(client.clone(), namespace);
    let error = pods("default").create(&pod).await.unwrap_err();
    let why = "violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)";
    assert!(error.to_string().contains(why), "{error}");
    pods("kube-system").create(&pod).await.unwrap();
}

#[test]
fn what_cannot_be_obeyed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (plugin, why) in [
        (
            "- {name: ImagePolicyWebhook, configuration: {}}",
            "admission plugin \"ImagePolicyWebhook\" is not available in this server",
        ),
        (
            "- {name: PodSecurity, path: none.yaml}",
            "couldn't open admission plugin configuration none.yaml of \"PodSecurity\"",
        ),
    ] {
        write(folder, "admission.yaml", &[&HEAD[..], &[plugin]].concat());
        let output = run(folder, &["serve", OPTION, "admission.yaml"], b"");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(why), "{errors}");
    }
}

#[test]
fn a_configuration_of_a_plugin_that_is_off_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plugin = "- {name: PodNodeSelector, configuration: {podNodeSelectorPluginConfig: {}}}";
    write(folder, "admission.yaml", &[&HEAD[..], &[plugin]].concat());
    let said = |more: &[&str]| {
        let options = [&["--controllers=none", OPTION, "admission.yaml"], more].concat();
        let (status, errors) = Served::start(folder, &options).running.terminate();
        assert_eq!(status.code(), Some(0));
        errors
    };
    let errors = said(&[]);
    let why = "configures a plugin that is not enabled";
    assert!(
        errors.contains(why) && errors.contains("PodNodeSelector"),
        "{errors}"
    );
    assert_eq!(said(&["--enable-admission-plugins=PodNodeSelector"]), "");
}

#[test]
fn a_plugin_that_needs_a_configuration_is_refused_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--enable-admission-plugins=EventRateLimit"];
    let output = run(folder.path(), &arguments, b"");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    let why = "couldn't init admission plugin \"EventRateLimit\": limits: Invalid value: null: must \
               not be empty";
    assert!(errors.contains(why), "{errors}");
}
