//! What `cargo metadata` says of the members of the workspace, as far as the checks read it.

use crate::process::{Outcome, output};
use serde::Deserialize;
use std::path::PathBuf;

/// The members.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
}

/// One member.
#[derive(Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) manifest_path: PathBuf,
    /// What its manifest says to other tools.
    #[serde(default)]
    pub(super) metadata: serde_json::Value,
}

/// What a member takes, for whichever platform.
#[derive(Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) optional: bool,
    pub(super) path: Option<String>,
}

/// Asks cargo.
pub(super) fn read() -> Outcome<Metadata> {
    let said = output("cargo", &["metadata", "--no-deps", "--format-version=1"])?;
    Ok(serde_json::from_str(&said)?)
}
