//! Validation of a kubelet's ConfigMap source. Kubelets no longer read it, but values of older
//! nodes are still checked.

use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{ConfigMapNodeConfigSource, Node, NodeConfigSource};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// Checks the config source in the spec and the config status of a node.
pub(crate) fn check(errors: &mut Errors, node: &Node) {
    if let Some(source) = &node.spec.config_source {
        let path = FieldPath::new("spec").child("configSource");
        check_source(errors, source, false, &path);
    }
    let Some(config) = &node.status.config else {
        return;
    };
    let path = FieldPath::new("status").child("config");
    for (name, source) in [
        ("assigned", &config.assigned),
        ("active", &config.active),
        ("lastKnownGood", &config.last_known_good),
    ] {
        if let Some(source) = source {
            check_source(errors, source, true, &path.child(name));
        }
    }
}

fn check_source(errors: &mut Errors, source: &NodeConfigSource, in_status: bool, path: &FieldPath) {
    if let Some(map) = &source.config_map {
        let path = path.child("configMap");
        check_version(errors, map, in_status, &path);
        check_map(errors, map, &path);
    } else {
        let detail = "exactly one reference subfield must be non-nil";
        errors.push(FieldError::invalid(path, go_struct::shown(source), detail));
    }
}

/// Checks the uid and resource version of a ConfigMap source: the status must have both, the spec
/// must have neither.
fn check_version(
    errors: &mut Errors,
    map: &ConfigMapNodeConfigSource,
    in_status: bool,
    path: &FieldPath,
) {
    for (name, value) in [
        ("uid", &map.uid),
        ("resourceVersion", &map.resource_version),
    ] {
        let path = path.child(name);
        if in_status {
            rules::required(errors, value, &path);
        } else if !value.is_empty() {
            let detail = format!("{name} must not be set in spec");
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
}

fn check_map(errors: &mut Errors, map: &ConfigMapNodeConfigSource, path: &FieldPath) {
    let mut check = |name: &str, value: &str, rule: fn(&str) -> Vec<String>| {
        let path = path.child(name);
        if rules::required(errors, value, &path) {
            rules::text(errors, value, &path, rule);
        }
    };
    check("namespace", &map.namespace, validate_name::dns1123_label);
    check("name", &map.name, validate_name::dns1123_subdomain);
    let key = &map.kubelet_config_key;
    check("kubeletConfigKey", key, validate_name::config_map_key);
}
