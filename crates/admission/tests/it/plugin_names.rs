//! Which plugins are enabled.

use crate::fixture::{Fixture, MAPS, PODS, config_map, pod};
use kubist_admission::{PluginError, PluginSelection};
use serde_json::json;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn the_default_plugins_are_in_upstreams_order() {
    let chain = PluginSelection::default().chain(Vec::new());
    let found: Vec<&str> = chain.names().collect();
    let expected = [
        "LimitRanger",
        "TaintNodesByCondition",
        "PodSecurity",
        "Priority",
        "DefaultTolerationSeconds",
        "DefaultStorageClass",
        "StorageObjectInUseProtection",
        "PersistentVolumeClaimResize",
        "RuntimeClass",
        "CertificateApproval",
        "CertificateSigning",
        "ClusterTrustBundleAttest",
        "CertificateSubjectRestriction",
        "DefaultIngressClass",
        "PodTopologyLabels",
        "NodeDeclaredFeatureValidator",
        "PodResizeValidator",
        "ResourceQuota",
    ];
    assert_eq!(found, expected);
}

#[test]
fn names_that_make_no_sense_are_refused_in_upstreams_words() {
    let refused = |enable: &[&str], disable: &[&str]| {
        let error = PluginSelection::new(&names(enable), &names(disable));
        error.expect_err("it is refused").to_string()
    };
    assert_eq!(
        refused(&["Nothing"], &[]),
        "enable-admission-plugins plugin \"Nothing\" is unknown"
    );
    assert_eq!(
        refused(&[], &["Nothing"]),
        "disable-admission-plugins plugin \"Nothing\" is unknown"
    );
    assert_eq!(
        refused(&["PodSecurity", "Priority"], &["Priority", "PodSecurity"]),
        "[PodSecurity Priority] in enable-admission-plugins and disable-admission-plugins \
         overlapped"
    );
    assert_eq!(
        refused(&["ImagePolicyWebhook"], &[]),
        "admission plugin \"ImagePolicyWebhook\" is not available in this server"
    );
    let error = PluginSelection::new(&[], &names(&["NamespaceLifecycle"]));
    let expected = PluginError::Always("NamespaceLifecycle".to_owned());
    assert_eq!(error, Err(expected));
}

#[test]
fn a_plugin_that_does_not_exist_here_may_be_disabled() {
    let selection = PluginSelection::new(&[], &names(&["ServiceAccount"]));
    assert!(!selection.expect("it is off").is_enabled("ServiceAccount"));
}

#[tokio::test]
async fn a_disabled_plugin_does_nothing() {
    let selection = PluginSelection::new(&[], &names(&["Priority"])).expect("it exists");
    let fixture = Fixture::with(selection.chain(Vec::new())).await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let created = created.expect("it is accepted");
    assert!(created["spec"].get("priority").is_none());
    assert!(created["spec"].get("tolerations").is_some());
}

#[tokio::test]
async fn always_deny_denies() {
    let fixture = Fixture::enabled(&["AlwaysDeny"]).await;
    let status = fixture.create(MAPS, config_map("m")).await;
    assert_eq!(
        status.expect_err("it is denied").message,
        "configmaps \"m\" is forbidden: admission control is denying all modifications"
    );
}
