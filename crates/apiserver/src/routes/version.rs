//! `/version`: which API this server speaks, and what it was built by.

use serde_json::{Value, json};

/// The minor version of the API: 1.36.
pub const API_MINOR: &str = "36";

/// The document. Clients compare `major`, `minor` and `gitVersion`.
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

/// What the labels of `kubernetes_build_info` are called, as upstream.
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

/// The fields of the document that every build has.
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

/// Their values: those of the document.
pub(crate) fn build() -> [String; 9] {
    let document = version();
    FIELDS.map(|name| document[name].as_str().unwrap_or_default().to_owned())
}

/// The architecture as Go calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
