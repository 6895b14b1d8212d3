//! `kubist new`. `cargo xtask interop --only new` builds and tests what it makes.

use crate::command::{fail, run, succeed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().expect("it is there")
}

/// Returns the files under a folder with their text, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("it is in it");
            let text = std::fs::read_to_string(&path).expect("it is text");
            files.insert(name.to_string_lossy().replace('\\', "/"), text);
        }
    }
    files
}

#[test]
fn a_new_project_is_the_first_operator_of_the_guide() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["new", "first-operator", "--kind", "Website"];
    let said = succeed(folder.path(), &arguments, b"");
    let said = String::from_utf8(said).expect("it is text");
    let first = "made first-operator, an operator for Website of example.com/v1\n";
    assert!(said.starts_with(first), "{said}");

    let made = files(&folder.path().join("first-operator"));
    let example = files(&root().join("examples/first-operator/src"));
    assert_eq!(example.len(), 5);
    for (name, text) in &example {
        let made = made.get(&format!("src/{name}"));
        let advice = "change examples/first-operator and the template in crates/kubist together";
        assert_eq!(made, Some(text), "src/{name}: {advice}");
    }
    let others: Vec<&str> = made.keys().map(String::as_str).collect();
    let others: Vec<&str> = others.into_iter().filter(|it| !it.contains('/')).collect();
    assert_eq!(
        others,
        [
            ".dockerignore",
            ".gitignore",
            "Cargo.toml",
            "Dockerfile",
            "README.md"
        ]
    );
    let manifest = &made["Cargo.toml"];
    let source = r#"kubist = { git = "https://github.com/kubist-rs/kubist", "#;
    assert_eq!(manifest.matches(source).count(), 2, "{manifest}");
}

#[test]
fn a_project_has_its_names_everywhere_and_its_files_parse() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = root();
    let checkout = root.to_str().expect("it is text");
    let project = folder.path().join("operators/cache-cluster-operator");
    let name = project.to_str().expect("it is text");
    let arguments = [
        "new",
        name,
        "--group",
        "cache.example.org",
        "--path",
        checkout,
    ];
    succeed(folder.path(), &arguments, b"");

    for (name, text) in files(&project) {
        assert!(
            !text.contains("{{"),
            "{name} has a name that is not filled in"
        );
        assert!(
            !text.contains("Website"),
            "{name} has the kind of the guide"
        );
    }
    let manifests = std::fs::read_to_string(project.join("src/manifests.rs")).expect("text");
    assert!(manifests.contains("\"cache-cluster-operator-system\""));
    let kind = std::fs::read_to_string(project.join("src/kind.rs")).expect("text");
    assert!(kind.contains(r#"(group = "cache.example.org", version"#));

    assert!(kind.contains(r#"(kind = "CacheCluster", status = "CacheClusterStatus")"#));

    let mut parse = Command::new("rustfmt");
    parse.args(["--check", "--edition", "2024"]);
    let parsed = parse.arg(project.join("src/main.rs")).output();
    let parsed = parsed.expect("rustfmt is a part of this project's toolchain");
    let why = String::from_utf8_lossy(&parsed.stdout);
    assert!(parsed.status.success() && why.is_empty(), "{why}");
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--offline", "--no-deps", "--format-version=1"]);
    let read = metadata.current_dir(&project).output().expect("cargo runs");
    let why = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success(), "{why}");
    let read: serde_json::Value = serde_json::from_slice(&read.stdout).expect("it is JSON");
    let package = &read["packages"][0];
    assert_eq!(package["name"], "cache-cluster-operator");
    let path = package["dependencies"][0]["path"]
        .as_str()
        .expect("by path");
    assert_eq!(Path::new(path), root.join("crates/kubist"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("shop");
    std::fs::create_dir(&project).expect("it can be made");
    succeed(folder.path(), &["new", "shop"], b""); // it is empty
    let before = files(&project);

    let error = fail(folder.path(), &["new", "shop"], b"");
    assert!(error.contains("shop is there and not empty"), "{error}");
    assert_eq!(files(&project), before);
    std::fs::write(folder.path().join("bakery"), "bread").expect("it can be written");
    let error = fail(folder.path(), &["new", "bakery"], b"");
    assert!(
        error.contains("bakery is there and is no folder"),
        "{error}"
    );
}

#[test]
fn what_would_not_build_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, expected) in [
        (
            ["new", "Shop", "--group=example.com"],
            "it must begin with a lower-case letter",
        ),
        (["new", "match", "--group=example.com"], "is taken by Rust"),
        (["new", "..", "--group=example.com"], ".. has no name"),
        (
            ["new", "shop", "--kind=Deployment"],
            "would hide Deployment",
        ),
        (
            ["new", "shop", "--group=shop"],
            "lower-case DNS name with a dot",
        ),
    ] {
        let output = run(folder.path(), &arguments, b"");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let error = fail(folder.path(), &["new", "shop", "--path=nowhere"], b"");
    assert!(
        error.contains("nowhere is no checkout of Kubist"),
        "{error}"
    );
    assert_eq!(files(folder.path()), BTreeMap::new());
}
