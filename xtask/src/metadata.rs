//! The members of the workspace, as `cargo metadata` lists them.

use crate::process::{Outcome, output};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The members of the workspace.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// A member, with the fields of its manifest that the checks read.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) manifest_path: PathBuf,
    /// `[package.metadata]`, which other tools read.
    #[serde(default)]
    pub(crate) metadata: serde_json::Value,
    /// The registries it may be published to; any if absent, none if empty.
    publish: Option<Vec<String>>,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) readme: Option<String>,
    #[serde(default)]
    pub(crate) keywords: Vec<String>,
    #[serde(default)]
    pub(crate) categories: Vec<String>,
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

impl Package {
    /// Reports whether the crate may be published.
    pub(crate) fn is_published(&self) -> bool {
        self.publish.is_none()
    }
}

/// A dependency of a member, on any platform.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
    pub(crate) path: Option<String>,
}

/// Runs `cargo metadata`.
pub(crate) fn read() -> Outcome<Metadata> {
    let json = output("cargo", &["metadata", "--no-deps", "--format-version=1"])?;
    Ok(serde_json::from_str(&json)?)
}
