//! Schemas of all built-in kinds and of custom resources beside those of upstream's API server, in
//! the program of `tests/interop/schema`.

use crate::same_types::differences;
use crate::schemas::parse;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_api::{GROUPS, KINDS, Kind, find_kind};
use kubist_apimachinery::wire::to_json_value;
use kubist_field_manager::schema::{Schema, TypeRef};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The program; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_SCHEMA_PROGRAM";
/// Schemas of custom resources by what they are about.
const CUSTOM: &str = include_str!("custom_schemas.json");
/// Manifests with definitions that others use.
const MANIFESTS: &str = "../shared/data/manifests/kube-prometheus/setup";
/// The type of custom objects in the program's answers.
const WIDGET: &str = "com.example.v1.Widget";
/// The number of differences that are shown.
const SHOWN: usize = 30;

/// Returns the schemas that the program prints.
fn ask(program: &OsStr, mode: &str, lines: &str) -> Vec<Schema> {
    let child = Command::new(program)
        .arg(mode)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("the program starts");
    let mut input = child.stdin.take().expect("it is piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(lines.as_bytes()).expect("it reads"));
        child.wait_with_output()
    });
    let output = output.expect("it ends");
    assert!(output.status.success(), "the program fails");
    let text = String::from_utf8(output.stdout).expect("it is text");
    let schemas = text.lines().map(|line| {
        let schema: Value = serde_json::from_str(line).expect("it is JSON");
        parse(&schema)
    });
    schemas.collect()
}

fn expect_none(differing: &[String]) {
    let (count, shown) = (differing.len(), differing.len().min(SHOWN));
    let shown = differing[..shown].join("\n");
    assert!(differing.is_empty(), "{count} differences:\n{shown}");
}

#[test]
fn built_in_types_are_upstreams() {
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("skipped: {PROGRAM} names no program");
        return;
    };
    let theirs = ask(&program, "kinds", "").pop().expect("it answers");
    let objects = || KINDS.iter().filter(|it| it.new_object().is_some());
    let all = Schema::from_wire(objects().map(Kind::schema));
    let (mut compared, mut differing) = (0, Vec::new());
    for kind in objects() {
        let root = TypeRef::of_wire(kind.schema());
        if theirs.resolve(&root).is_none() {
            continue;
        }
        compared += 1;
        let own = Schema::from_wire([kind.schema()]);
        for ours in [&own, &all] {
            differing.extend(differences((ours, &root), (&theirs, &root)));
        }
    }
    for version in GROUPS.iter().flat_map(|it| it.versions) {
        for resource in version.resources {
            let kind = find_kind(resource.group, resource.version, resource.kind);
            let kind = kind.expect("every resource has a kind");
            let root = TypeRef::of_wire(kind.schema());
            let is_known = theirs.resolve(&root).is_some();
            assert!(is_known, "upstream has no {}", root.name);
        }
    }
    expect_none(&differing);
    println!("the types of {compared} built-in kinds agree");
}

#[test]
fn custom_types_are_upstreams() {
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("skipped: {PROGRAM} names no program");
        return;
    };
    let mut schemas: BTreeMap<String, Value> = serde_json::from_str(CUSTOM).expect("it is JSON");
    let of_manifests = of_manifests();
    if of_manifests.is_empty() {
        println!("skipped: there are no manifests in {MANIFESTS}");
    }
    schemas.extend(of_manifests);
    let lines: Vec<String> = schemas.values().map(Value::to_string).collect();
    let theirs = ask(&program, "custom", &(lines.join("\n") + "\n"));
    assert_eq!(theirs.len(), schemas.len());
    let mut differing = Vec::new();
    for ((name, schema), theirs) in schemas.iter().zip(&theirs) {
        let (ours, root) = Schema::from_json_schema(Some(schema).filter(|it| !it.is_null()));
        let found = differences((&ours, &root), (theirs, &TypeRef::named(WIDGET)));
        differing.extend(found.into_iter().map(|it| format!("{name}: {it}")));
    }
    expect_none(&differing);
    println!("the types of {} custom resources agree", schemas.len());
}

#[test]
fn schemas_of_stored_definitions_give_the_same_types() {
    let schemas: BTreeMap<String, Value> = serde_json::from_str(CUSTOM).expect("it is JSON");
    for (name, schema) in schemas.iter().filter(|it| it.1.is_object()) {
        let stored: JSONSchemaProps =
            serde_json::from_value(schema.clone()).expect("it is a schema");
        let (schema, root) = Schema::from_json_schema(Some(schema));
        let (of_stored, stored_root) = Schema::from_json_schema(Some(&to_json_value(&stored)));
        let found = differences((&of_stored, &stored_root), (&schema, &root));
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

/// Returns the schemas of the definitions in manifests, by file and version; none if there are no
/// manifests.
fn of_manifests() -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in std::fs::read_dir(folder.join(MANIFESTS))
        .into_iter()
        .flatten()
    {
        let path = file.expect("it can be listed").path();
        let text = std::fs::read(&path).expect("it can be read");
        for document in kubist_codec::yaml::parse_all(&text).expect("it is YAML") {
            let versions = document.value["spec"]["versions"].as_array();
            for version in versions.into_iter().flatten() {
                let name = format!("{} {}", path.display(), version["name"]);
                let schema = version["schema"]["openAPIV3Schema"].clone();
                found.insert(name, schema);
            }
        }
    }
    found
}
