//! Formats objects as upstream's error messages do: with Go field names and with all fields,
//! including empty ones.
//!
//! Upstream's internal types are nearly those of the API. Two differences occur in messages: the
//! order of a Pod's fields, and the host namespaces, which are in the Pod's security context.

use kubist_api::core::v1::{PodSpec, PodTemplateSpec};
use kubist_apimachinery::wire::{JsonScalar, Message, View};
use kubist_apimachinery::{BadValue, Str};
use serde_json::value::RawValue;

/// The fields of a Pod's spec in upstream's order.
const POD_FIELDS: [&str; 36] = [
    "volumes",
    "initContainers",
    "containers",
    "ephemeralContainers",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "nodeSelector",
    "serviceAccountName",
    "automountServiceAccountToken",
    "nodeName",
    "securityContext",
    "imagePullSecrets",
    "hostname",
    "subdomain",
    "setHostnameAsFQDN",
    "affinity",
    "schedulerName",
    "tolerations",
    "hostAliases",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
    "dnsConfig",
    "readinessGates",
    "runtimeClassName",
    "overhead",
    "enableServiceLinks",
    "topologySpreadConstraints",
    "os",
    "schedulingGates",
    "resourceClaims",
    "resources",
    "hostnameOverride",
    "schedulingGroup",
];
/// The fields of a Pod's security context in upstream's order. The first five come from the spec.
const HOST_FIELDS: [&str; 5] = [
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostUsers",
];
const SECURITY_FIELDS: [&str; 13] = [
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "seccompProfile",
    "appArmorProfile",
    "seLinuxChangePolicy",
];
/// Names that begin with an abbreviation or differ in Go.
const ABBREVIATIONS: [(&str, &str); 38] = [
    ("apiGroup", "APIGroup"),
    ("apiVersion", "APIVersion"),
    ("awsElasticBlockStore", "AWSElasticBlockStore"),
    ("cephfs", "CephFS"),
    ("chapAuthDiscovery", "DiscoveryCHAPAuth"),
    ("chapAuthSession", "SessionCHAPAuth"),
    ("csi", "CSI"),
    ("diskURI", "DataDiskURI"),
    ("dnsConfig", "DNSConfig"),
    ("dnsPolicy", "DNSPolicy"),
    ("fc", "FC"),
    ("fsGroup", "FSGroup"),
    ("fsGroupChangePolicy", "FSGroupChangePolicy"),
    ("fsType", "FSType"),
    ("gcePersistentDisk", "GCEPersistentDisk"),
    ("gid", "GID"),
    ("gmsaCredentialSpec", "GMSACredentialSpec"),
    ("gmsaCredentialSpecName", "GMSACredentialSpecName"),
    ("grpc", "GRPC"),
    ("httpGet", "HTTPGet"),
    ("httpHeaders", "HTTPHeaders"),
    ("ip", "IP"),
    ("iqn", "IQN"),
    ("iscsi", "ISCSI"),
    ("iscsiInterface", "ISCSIInterface"),
    ("jsonPath", "JSONPath"),
    ("nfs", "NFS"),
    ("os", "OS"),
    ("pdName", "PDName"),
    ("rbd", "RBD"),
    ("seLinuxChangePolicy", "SELinuxChangePolicy"),
    ("seLinuxOptions", "SELinuxOptions"),
    ("sslEnabled", "SSLEnabled"),
    ("storageos", "StorageOS"),
    ("tcpSocket", "TCPSocket"),
    ("tty", "TTY"),
    ("uid", "UID"),
    ("wwids", "WWIDs"),
];
/// Fields with different names in types with these name prefixes.
const RENAMED: [(&str, &str, &str); 5] = [
    ("Glusterfs", "endpoints", "EndpointsName"),
    ("RBD", "image", "RBDImage"),
    ("RBD", "monitors", "CephMonitors"),
    ("RBD", "pool", "RBDPool"),
    ("RBD", "user", "RadosUser"),
];
/// Fields at a different position: the type, the field, and the field that follows.
const MOVED: [(&str, &str, &str); 3] = [
    ("PersistentVolumeSpec", "flexVolume", "cinder"),
    ("PersistentVolumeSpec", "quobyte", "iscsi"),
    ("Volume", "quobyte", "flexVolume"),
];

/// Formats a message for an error.
pub(crate) fn shown(message: &dyn Message) -> BadValue {
    as_bad_value(text(message))
}

/// Formats a Pod template. Its metadata uses API names.
pub(crate) fn pod_template(template: &PodTemplateSpec) -> BadValue {
    let mut out = String::from("{");
    push_metadata(&mut out, &template.metadata);
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push_str("\"Spec\":");
    out.push_str(&pod_spec(&template.spec));
    out.push('}');
    as_bad_value(out)
}

/// Formats messages for an error.
pub(crate) fn shown_list<M: Message>(messages: &[M]) -> BadValue {
    as_bad_value(list_text(messages))
}

/// Returns messages as JSON.
pub(crate) fn list_text<M: Message>(messages: &[M]) -> String {
    let mut out = String::new();
    push_list(&mut out, messages.iter(), |out, it| push_message(out, it));
    out
}

/// Formats a Pod's spec for an error.
pub(crate) fn shown_pod_spec(spec: &PodSpec) -> BadValue {
    as_bad_value(pod_spec(spec))
}

/// Returns a Pod's spec as JSON.
pub(crate) fn pod_spec(spec: &PodSpec) -> String {
    let mut out = String::from("{");
    for name in POD_FIELDS {
        let index = spec.schema().index_by_name(name, 0);
        push_name(&mut out, name);
        match index.and_then(|index| spec.view(index)) {
            Some(_) if name == "securityContext" => push_pod_security(&mut out, spec),
            Some(view) => push_view(&mut out, view),
            None => out.push_str("null"),
        }
    }
    out.push('}');
    out
}

/// Returns a message as JSON.
pub(crate) fn text(message: &dyn Message) -> String {
    let mut out = String::new();
    push_message(&mut out, message);
    out
}

/// Returns some fields of a message as JSON. `wanted` receives API names.
pub(crate) fn fields(message: &dyn Message, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    push_fields(&mut out, message, wanted);
    out
}

fn as_bad_value(json: String) -> BadValue {
    RawValue::from_string(json).map_or_else(|_| BadValue::null(), |raw| BadValue::json(&raw))
}

fn push_pod_security(out: &mut String, spec: &PodSpec) {
    let Some(context) = &spec.security_context else {
        out.push_str("null");
        return;
    };
    out.push('{');
    let host = HOST_FIELDS.map(|name| (name, spec as &dyn Message));
    let own = SECURITY_FIELDS.map(|name| (name, &**context as &dyn Message));
    for (name, message) in host.into_iter().chain(own) {
        push_name(out, name);
        let index = message.schema().index_by_name(name, 0);
        match index.and_then(|index| message.view(index)) {
            Some(view) => push_view(out, view),
            None => out.push_str("null"),
        }
    }
    out.push('}');
}

/// Writes metadata, which is embedded in Go and uses API names.
fn push_metadata(out: &mut String, metadata: &dyn Message) {
    let json = String::from_utf8(kubist_apimachinery::wire::to_json(metadata));
    let json = json.unwrap_or_default();
    let fields = json.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let fields = fields.unwrap_or_default();
    if !out.ends_with('{') && !fields.is_empty() {
        out.push(',');
    }
    out.push_str(fields);
}

fn push_name(out: &mut String, json: &str) {
    let known = ABBREVIATIONS.iter().find(|(name, _)| *name == json);
    let name = known.map_or_else(|| capitalized(json), |(_, name)| (*name).to_owned());
    push_go_name(out, &name);
}

fn push_go_name(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    push_text(out, name);
    out.push(':');
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(chars)
        .collect()
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

fn push_message(out: &mut String, message: &dyn Message) {
    use kubist_apimachinery::wire::JsonForm;
    match message.schema().form {
        JsonForm::Object => {}
        JsonForm::Scalar => {
            match message.scalar() {
                JsonScalar::Str(text) => push_text(out, &text),
                JsonScalar::Int(value) => out.push_str(&value.to_string()),
                JsonScalar::Bool(value) => out.push_str(&value.to_string()),
                JsonScalar::Float(value) => out.push_str(&value.to_string()),
                JsonScalar::Null => out.push_str("null"),
            }
            return;
        }
        _ => {
            let json = kubist_apimachinery::wire::to_json(message);
            out.push_str(&String::from_utf8_lossy(&json));
            return;
        }
    }
    // Selectors use API names and omit empty fields.
    if message.schema().name == "LabelSelector" {
        let json = kubist_apimachinery::wire::to_json(message);
        out.push_str(&String::from_utf8_lossy(&json));
        return;
    }
    push_fields(out, message, |_| true);
}

fn push_fields(out: &mut String, message: &dyn Message, wanted: impl Fn(&str) -> bool) {
    out.push('{');
    let schema = message.schema();
    let mut names: Vec<&str> = schema.fields.iter().map(|it| it.json).collect();
    for (_, field, other) in MOVED.iter().filter(|(of, ..)| *of == schema.name) {
        names.retain(|it| it != field);
        let at = names.iter().position(|it| it == other);
        names.insert(at.unwrap_or(names.len()), field);
    }
    for name in names.into_iter().filter(|it| wanted(it)) {
        let index = schema.index_by_name(name, 0);
        let view = index.and_then(|index| message.view(index));
        if let Some(View::Message(metadata)) = view
            && name == "metadata"
        {
            push_metadata(out, metadata);
        } else if let Some(view) = view {
            let renamed =
                |(of, from, _): &&(&str, &str, &str)| schema.name.starts_with(of) && *from == name;
            match RENAMED.iter().find(renamed) {
                Some((_, _, to)) => push_go_name(out, to),
                None => push_name(out, name),
            }
            push_view(out, view);
        }
    }
    out.push('}');
}

fn push_list<T>(out: &mut String, items: impl Iterator<Item = T>, push: impl Fn(&mut String, T)) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        out.push_str("null");
        return;
    }
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        push(out, item);
    }
    out.push(']');
}

fn push_view(out: &mut String, view: View<'_>) {
    let null = |out: &mut String| out.push_str("null");
    match view {
        View::Bool(value) | View::OptBool(Some(value)) => out.push_str(&value.to_string()),
        View::I32(value) | View::OptI32(Some(value)) => out.push_str(&value.to_string()),
        View::I64(value) | View::OptI64(Some(value)) => out.push_str(&value.to_string()),
        View::F64(value) | View::OptF64(Some(value)) => out.push_str(&value.to_string()),
        View::Str(text) | View::OptStr(Some(text)) => push_text(out, text),
        View::Bytes(bytes) | View::OptBytes(Some(bytes)) => push_text(out, &bytes.to_base64()),
        View::Message(message) | View::OptMessage(Some(message)) => push_message(out, message),
        View::StrList(list) => push_list(out, list.iter(), |out, it: &Str| push_text(out, it)),
        View::BoolList(list) => {
            push_list(out, list.iter(), |out, it| out.push_str(&it.to_string()));
        }
        View::I32List(list) => push_list(out, list.iter(), |out, it| out.push_str(&it.to_string())),
        View::I64List(list) => push_list(out, list.iter(), |out, it| out.push_str(&it.to_string())),
        View::BytesList(list) => {
            push_list(out, list.iter(), |out, it| push_text(out, &it.to_base64()));
        }
        View::MessageList(list) => {
            let items = (0..list.len()).filter_map(|index| list.at(index));
            push_list(out, items, push_message);
        }
        View::StrMap(map) => push_map(out, map.iter(), |out, it: &Str| push_text(out, it)),
        View::BytesMap(map) => {
            push_map(out, map.iter(), |out, it| push_text(out, &it.to_base64()));
        }
        View::MessageMap(map) => push_map(out, map.entries(), push_message),
        _ => null(out),
    }
}

fn push_map<'a, T>(
    out: &mut String,
    entries: impl Iterator<Item = (&'a Str, T)>,
    push: impl Fn(&mut String, T),
) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        out.push_str("null");
        return;
    }
    out.push('{');
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_text(out, key);
        out.push(':');
        push(out, value);
    }
    out.push('}');
}
