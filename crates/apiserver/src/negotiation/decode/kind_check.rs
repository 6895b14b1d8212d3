//! Checks that the `apiVersion` and `kind` of a body are those of the resource, with upstream's
//! texts.

use super::errors::{refused_as, unrecognized};
use crate::negotiation::go_decode;
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{FieldError, FieldPath, FieldValidation, GroupKind, Status};

/// Upstream's scheme of kinds, as it appears in error texts that clients compare.
pub(super) const SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

/// Refuses a malformed `apiVersion`.
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

/// Bytes of a body without a kind that its error quotes.
const QUOTED_BYTES_MAX: usize = 64 << 10;

/// Custom objects must name their kind. Where unknown fields are ignored, upstream's decoder finds
/// that out before it forgets what it has to decode, so the error is another one.
pub(super) fn check_named(
    expected: &'static Kind,
    (api_version, kind): (Option<&str>, Option<&str>),
    validation: FieldValidation,
    body: &[u8],
) -> Result<(), Status> {
    if !expected.is_custom() || kind.is_some_and(|it| !it.is_empty()) {
        return Ok(());
    }
    let why = missing_kind(body);
    if validation != FieldValidation::Ignore {
        return Err(unrecognized(expected, &why, body));
    }
    let named = api_version.filter(|it| !it.is_empty());
    let version = named.unwrap_or_else(|| expected.facts().api_version);
    let version = version.rsplit('/').next().unwrap_or_default();
    Err(refused_as(expected, version, &why))
}

/// Returns the error of a custom object without a kind.
pub(crate) fn missing_kind(json: &[u8]) -> String {
    let quoted = json.get(..QUOTED_BYTES_MAX).unwrap_or(json);
    let quoted = String::from_utf8_lossy(quoted);
    format!("Object 'Kind' is missing in '{quoted}'")
}

/// Reports whether an older version of a kind is decoded as the current one: it has the same
/// fields.
fn is_deprecated_alias(expected: &'static Kind, api_version: &str, kind: &str) -> bool {
    let facts = expected.facts();
    (facts.group, facts.kind) == ("policy", "Eviction")
        && (api_version, kind) == ("policy/v1beta1", "Eviction")
}

/// Compares the type in a body with that of the resource. Names may be absent, except in custom
/// objects. `json` is the body if it is text.
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
    // Upstream can convert between kinds of the same name, in any group.
    if found.is_some() && kind == facts.kind {
        return Err(Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            facts.api_version
        )));
    }
    let text = wrong_kind_text(expected, api_version, kind, json);
    let (expected, version) = (facts.kind, quote(version));
    Err(Status::bad_request(format!(
        "{kind} in version {version} cannot be handled as a {expected}: {text}"
    )))
}

/// Kinds that upstream accepts in any version.
const UNVERSIONED: [&str; 5] = [
    "Status",
    "APIVersions",
    "APIGroupList",
    "APIGroup",
    "APIResourceList",
];

/// Kinds of responses, which upstream decodes in clients only.
const OF_CLIENTS: [&str; 2] = ["PartialObjectMetadata", "PartialObjectMetadataList"];

/// Returns the error of an object of another kind. Upstream first decodes it as what it claims to
/// be.
pub(crate) fn wrong_kind_text(
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
    go_decode::first_error(json, found.schema()).unwrap_or_else(|| {
        let version = known_as.rsplit('/').next().unwrap_or_default();
        let (package, internal) = (internal_package(facts.group), facts.kind);
        format!("converting ({version}.{kind}) to ({package}.{internal}): unknown conversion")
    })
}

/// Returns the kind of another version in a body, if upstream considers both the same kind.
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

/// Returns the error of an object whose kind or version is not that of the custom resource.
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

/// Returns the error of a kind that is not registered in a scheme.
pub(crate) fn not_registered(api_version: &str, kind: &str, scheme: &str) -> String {
    let (kind, version) = (quote(kind), quote(api_version));
    format!("no kind {kind} is registered for version {version} in scheme \"{scheme}\"")
}

/// Returns the Go package of a group's internal types.
pub(crate) fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        "internal.apiserver.k8s.io" => "apiserverinternal",
        _ => group.split('.').next().unwrap_or_default(),
    }
}
