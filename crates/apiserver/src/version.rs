//! `/version`: the API version of this server, and its build.

use serde_json::{Value, json};

/// The minor version of the API: 1.36.
pub const API_MINOR: &str = "36";

/// Returns the document. Clients compare `major`, `minor` and `gitVersion`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": API_MINOR,
        "emulationMajor": "1",
        "emulationMinor": API_MINOR,
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": format!("v1.{API_MINOR}.0+kubist-{}", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// The label names of `kubernetes_build_info`, as upstream.
pub(crate) const BUILD_LABELS: [&str; 9] = [
    "major",
    "minor",
    "git_version",
    "git_commit",
    "git_tree_state",
    "build_date",
    "go_version",
    "compiler",
    "platform",
];

/// The corresponding fields of the document.
pub(crate) const FIELDS: [&str; 9] = [
    "major",
    "minor",
    "gitVersion",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
];

/// Returns the label values, taken from the document.
pub(crate) fn build() -> [String; 9] {
    let document = version();
    FIELDS.map(|name| document[name].as_str().unwrap_or_default().to_owned())
}

/// Returns the architecture by Go's name.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
