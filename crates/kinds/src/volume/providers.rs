//! Validation of provider-specific volumes, in Pods and in PersistentVolumes.

use crate::shared::rules::{self, Errors};
use crate::volume::source_validation as source;
use crate::volume::source_validation::{Check, Rule, typed};
use Rule::{OneOf, Range, Required};
use kubist_api::core::v1::{
    AzureDiskVolumeSource, FCVolumeSource, FlockerVolumeSource, QuobyteVolumeSource,
};
use kubist_apimachinery::wire::{Message, View};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};

/// The logical unit number.
pub(crate) const LUN: Rule = Range("lun", 0, 255, "must be between 0 and 255, inclusive");
const FORMAT: &str = "must be valid format";

/// Checks that a session with CHAP authentication has a secret.
pub(crate) fn iscsi_secret(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let asks = ["chapAuthDiscovery", "chapAuthSession"];
    let secret = source::field(source, "secretRef");
    if asks.into_iter().any(|it| source::is_set(source, it))
        && matches!(secret, Some(View::OptMessage(None)))
    {
        errors.push(FieldError::required(&path.child("secretRef"), ""));
    }
}

/// Upstream's path is in lower case.
pub(crate) fn initiator(errors: &mut Errors, source: &dyn Message, path: &FieldPath, check: Check) {
    if let Some(name) = source::text(source, "initiatorName") {
        rules::text(errors, name, &path.child("initiatorname"), check);
    }
}

/// Checks a name of one of the three iSCSI formats.
pub(crate) fn iscsi_name(name: &str) -> Vec<String> {
    check_iscsi_name(name, FORMAT)
}

/// Checks the same, with a different error text for an unknown format.
pub(crate) fn iscsi_name_of_kinds(name: &str) -> Vec<String> {
    check_iscsi_name(name, "must be valid format starting with iqn, eui, or naa")
}

fn check_iscsi_name(name: &str, unknown: &str) -> Vec<String> {
    let is_alphanumeric = |id: &str, length: usize| {
        id.len() == length && id.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    // An arbitrary separator, and the number.
    let number = |rest: &str, length| {
        let mut chars = rest.chars();
        chars.next().is_some_and(|it| it != '\n') && is_alphanumeric(chars.as_str(), length)
    };
    let (fine, problem) = match name.get(..3) {
        Some("iqn") => (is_qualified(name), FORMAT),
        Some("eui") => (number(&name[3..], 16), FORMAT),
        Some("naa") => (number(&name[3..], 32), FORMAT),
        _ => (false, unknown),
    };
    if fine {
        Vec::new()
    } else {
        vec![problem.to_owned()]
    }
}

/// Reports whether a text ends with `iqn.`, a year and month, a naming authority, and a name.
fn is_qualified(name: &str) -> bool {
    let is_date = |date: &str| {
        let shape = |it: u8| if it.is_ascii_digit() { b'0' } else { it };
        date.bytes().map(shape).eq(*b"0000-00.")
    };
    let fits = |rest: &str| -> Option<bool> {
        let (date, rest) = rest.split_at_checked(8)?;
        let (authority, own) = rest.split_once(':')?;
        let of_domain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.');
        let refused = |it| ",;*&$|\t\n\u{c}\r ".contains(it);
        let parts = !authority.is_empty() && !own.is_empty();
        Some(parts && is_date(date) && authority.bytes().all(of_domain) && !own.contains(refused))
    };
    let mut starts = name.match_indices("iqn.");
    starts.any(|(at, start)| fits(&name[at + start.len()..]) == Some(true))
}

/// Checks that exactly one dataset name or uuid is set.
pub(crate) fn flocker(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let Some(flocker) = typed::<FlockerVolumeSource>(source) else {
        return;
    };
    match (&*flocker.dataset_name, &*flocker.dataset_uuid) {
        ("", "") => {
            let detail = "one of datasetName and datasetUUID is required";
            errors.push(FieldError::required(path, detail));
        }
        ("", _) | (_, "") => {}
        _ => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(FieldError::invalid(path, "resource", detail));
        }
    }
    if flocker.dataset_name.contains('/') {
        let (at, detail) = (path.child("datasetName"), "must not contain '/'");
        errors.push(FieldError::invalid(&at, &flocker.dataset_name, detail));
    }
}

/// Checks the registry address and the volume name.
pub(crate) fn quobyte(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    const TENANT_MAX: usize = 64;
    let Some(quobyte) = typed::<QuobyteVolumeSource>(source) else {
        return;
    };
    let registry = path.child("registry");
    if quobyte.registry.is_empty() {
        errors.push(FieldError::required(&registry, PAIRS));
    } else if quobyte.tenant.len() > TENANT_MAX {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(&path.child("tenant"), detail));
    } else {
        for _ in quobyte.registry.split(',').filter(|it| !is_host_port(it)) {
            errors.push(FieldError::invalid(&registry, &quobyte.registry, PAIRS));
        }
    }
    rules::required(errors, &quobyte.volume, &path.child("volume"));
}

/// Reports whether a text is a host and a port, separated by a colon. A host with colons is in
/// brackets. Both may be empty.
fn is_host_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else {
        return false;
    };
    let bracket = |it: char| matches!(it, '[' | ']');
    let (host, in_brackets) = match host.strip_prefix('[') {
        Some(rest) => (rest.strip_suffix(']').unwrap_or("]"), true),
        None => (host, false),
    };
    !host.contains(bracket) && !port.contains(bracket) && (in_brackets || !host.contains(':'))
}

/// Checks for port names with a unit number, or disk names.
pub(crate) fn fibre_channel(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let Some(disk) = typed::<FCVolumeSource>(source) else {
        return;
    };
    let names = path.child("targetWWNs");
    match (disk.target_wwns.is_empty(), disk.wwids.is_empty()) {
        (true, true) => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            errors.push(FieldError::required(&names, detail));
        }
        (false, false) => {
            let detail = "targetWWNs and wwids can not be specified simultaneously";
            let shown = BadValue::json(&disk.target_wwns);
            errors.push(FieldError::invalid(&names, shown, detail));
        }
        _ => {}
    }
    if !disk.target_wwns.is_empty() {
        if disk.lun.is_none() {
            let detail = "lun is required if targetWWNs is specified";
            errors.push(FieldError::required(&path.child("lun"), detail));
        }
        source::apply(errors, disk, &[LUN], path);
    }
}

/// Checks that driver options do not use Kubernetes' own namespaces.
pub(crate) fn flex_options(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    const OURS: [&str; 2] = [".kubernetes.io", ".k8s.io"];
    let Some(View::StrMap(options)) = source::field(source, "options") else {
        return;
    };
    for key in options.keys() {
        let domain = key
            .split_once('/')
            .map_or(key.as_str(), |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if OURS.iter().any(|it| domain.ends_with(it)) {
            let path = path.child("options").key(key);
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid(&path, key, detail));
        }
    }
}

/// Checks that the disk address matches the disk kind.
pub(crate) fn azure_disk(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    const FIELDS: &[Rule] = &[
        Required("diskName"),
        Required("diskURI"),
        OneOf("cachingMode", &["None", "ReadOnly", "ReadWrite"]),
        OneOf("kind", &["Dedicated", "Managed", "Shared"]),
    ];
    const MANAGED: &str = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/\
                           microsoft.compute/disks/{disk-id}";
    const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/\
                        {disk-name}.vhd";
    source::apply(errors, source, FIELDS, path);
    let Some(disk) = typed::<AzureDiskVolumeSource>(source) else {
        return;
    };
    let (start, form) = match disk.kind.as_deref() {
        None => return,
        Some("Managed") => ("/subscriptions/", MANAGED),
        Some(_) => ("https://", BLOB),
    };
    if !disk.disk_uri.starts_with(start) {
        let at = path.child("diskURI");
        errors.push(FieldError::not_supported(&at, &disk.disk_uri, &[form]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iscsi_knows_three_kinds_of_names() {
        for name in [
            "iqn.2001-04.com.example:storage.disk1",
            "iqn.2001-04.com.example:a:b",
            "iqniqn.2001-04.a:b",
            "eui.0123456789ABCDEF",
            "naa.0123456789abcdef0123456789abcdef",
        ] {
            assert!(iscsi_name(name).is_empty(), "{name}");
        }
        for name in [
            "iqn.2001-4.com.example:disk",
            "iqn.2001-04.com.example",
            "iqn.2001-04.com.example:with space",
            "iqn.2001-04.com_example:disk",
            "eui.0123456789ABCDE",
            "naa.0123456789abcdef",
            "gr\u{fc}n",
            "",
        ] {
            assert!(!iscsi_name(name).is_empty(), "{name}");
        }
        let words = iscsi_name_of_kinds("other");
        assert_eq!(
            words,
            ["must be valid format starting with iqn, eui, or naa"]
        );
    }

    #[test]
    fn hosts_and_ports_have_a_colon_between_them() {
        for pair in ["host:1", "[fd00::1]:1", ":", "host:"] {
            assert!(is_host_port(pair), "{pair}");
        }
        for pair in [
            "host",
            "fd00::1:1",
            "[fd00::1]",
            "[fd00::1:1",
            "[a]b:1",
            "",
            "a]:1",
        ] {
            assert!(!is_host_port(pair), "{pair}");
        }
    }
}
