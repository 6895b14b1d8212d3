//! Checks that the `apiVersion` and `kind` of a body are those of the resource, with upstream's texts.

use super::errors::unrecognized;
use crate::negotiation::go_decode;
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{FieldError, FieldPath, GroupKind, Status};

/// What upstream calls the table of its kinds, in texts that clients compare.
const SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

/// Refuses an `apiVersion` that has no group and version.
pub(super) fn check_group_version(
    expected: &'static Kind,
    api_version: Option<&str>,
    body: &[u8],
) -> Result<(), Status> {
    let text = api_version.unwrap_or_default();
    if expected.is_custom() || text.matches('/').count() < 2 {
        return Ok(());
    }
    let why = format!("unexpected GroupVersion string: {text}");
    Err(unrecognized(expected, &why, body))
}

/// Bytes of a body without a kind that its refusal quotes.
const QUOTED_BYTES_MAX: usize = 64 << 10;

/// What a custom object is must be said.
pub(super) fn check_named(
    expected: &'static Kind,
    kind: Option<&str>,
    body: &[u8],
) -> Result<(), Status> {
    if !expected.is_custom() || kind.is_some_and(|it| !it.is_empty()) {
        return Ok(());
    }
    Err(unrecognized(expected, &missing_kind(body), body))
}

/// What is wrong with a custom object that does not say what it is.
pub(crate) fn missing_kind(json: &[u8]) -> String {
    let quoted = json.get(..QUOTED_BYTES_MAX).unwrap_or(json);
    let quoted = String::from_utf8_lossy(quoted);
    format!("Object 'Kind' is missing in '{quoted}'")
}

/// Whether a kind of an older version is read as it is now: it has the same fields.
fn is_deprecated_alias(expected: &'static Kind, api_version: &str, kind: &str) -> bool {
    let facts = expected.facts();
    (facts.group, facts.kind) == ("policy", "Eviction")
        && (api_version, kind) == ("policy/v1beta1", "Eviction")
}

/// Compares what a body says it is with what the resource has. Absent names are fine, except in
/// custom objects. `json` is the body if it is text.
pub(super) fn check_kind(
    expected: &'static Kind,
    api_version: Option<&str>,
    kind: Option<&str>,
    json: &[u8],
    name: impl FnOnce() -> String,
) -> Result<(), Status> {
    let facts = expected.facts();
    let absent = if expected.is_custom() {
        ""
    } else {
        facts.api_version
    };
    let api_version = api_version.filter(|it| !it.is_empty()).unwrap_or(absent);
    let kind = kind.filter(|it| !it.is_empty()).unwrap_or(facts.kind);
    if (api_version, kind) == (facts.api_version, facts.kind)
        || is_deprecated_alias(expected, api_version, kind)
    {
        return Ok(());
    }
    if expected.is_custom() {
        return Err(other_custom(expected, api_version, kind, &name()));
    }
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let found = find_kind_by_api_version(api_version, kind);
    // Kinds of one name are one to upstream, in whatever group: it can convert them.
    if found.is_some() && kind == facts.kind {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            facts.api_version
        )));
    }
    let text = foreign(expected, api_version, kind, json);
    let (expected, version) = (facts.kind, quote(version));
    Err(Status::bad_request(format!(
        "{kind} in version {version} cannot be handled as a {expected}: {text}"
    )))
}

/// Kinds that upstream knows in whichever version they say they are of.
const UNVERSIONED: [&str; 5] = [
    "Status",
    "APIVersions",
    "APIGroupList",
    "APIGroup",
    "APIResourceList",
];

/// Kinds of answers, which upstream decodes in clients only.
const OF_CLIENTS: [&str; 2] = ["PartialObjectMetadata", "PartialObjectMetadataList"];

/// Why an object of another kind cannot be one of a built-in kind. Upstream decodes it as what it
/// says it is before it finds that out.
pub(crate) fn foreign(
    expected: &'static Kind,
    api_version: &str,
    kind: &str,
    json: &[u8],
) -> String {
    let facts = expected.facts();
    let known_as = if UNVERSIONED.contains(&kind) {
        "v1"
    } else {
        api_version
    };
    let found = find_kind_by_api_version(known_as, kind);
    let Some(found) = found.filter(|_| !OF_CLIENTS.contains(&kind)) else {
        return not_registered(api_version, kind, SCHEME);
    };
    go_decode::mistake(json, found.schema()).unwrap_or_else(|| {
        let version = known_as.rsplit('/').next().unwrap_or_default();
        let (package, internal) = (internal_package(facts.group), facts.kind);
        format!("converting ({version}.{kind}) to ({package}.{internal}): unknown conversion")
    })
}

/// The kind of another version that a body says it is of, if upstream reads both as one.
pub(crate) fn other_version(
    expected: &'static Kind,
    api_version: &str,
    kind: &str,
) -> Option<&'static Kind> {
    let found = find_kind_by_api_version(api_version, kind)?;
    let internal = |kind: &'static Kind| {
        let facts = kind.facts();
        let package = match (facts.group, facts.kind) {
            ("extensions", "DaemonSet" | "Deployment" | "ReplicaSet") => "apps",
            ("extensions", "Ingress" | "NetworkPolicy") => "networking",
            (group, _) => internal_package(group),
        };
        (package, facts.kind)
    };
    (internal(found) == internal(expected)).then_some(found)
}

/// The refusal of an object that is of another kind or version than a custom resource.
fn other_custom(expected: &'static Kind, api_version: &str, kind: &str, name: &str) -> Status {
    let facts = expected.facts();
    if api_version != facts.api_version {
        return Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            facts.api_version
        ));
    }
    let detail = format!("must be {}", facts.kind);
    let error = FieldError::invalid(&FieldPath::new("kind"), kind, detail);
    Status::invalid(&GroupKind::new(facts.group, kind), name, &[error])
}

/// That a scheme does not know a kind.
pub(crate) fn not_registered(api_version: &str, kind: &str, scheme: &str) -> String {
    let (kind, version) = (quote(kind), quote(api_version));
    format!("no kind {kind} is registered for version {version} in scheme \"{scheme}\"")
}

/// The Go package of upstream's internal types of a group.
pub(crate) fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        _ => group.split('.').next().unwrap_or_default(),
    }
}
