//! Every built-in kind with all fields set: JSON and YAML to upstream's exact protobuf bytes, and
//! back to equal JSON.

use kubist_api::Kind;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, merge_json, merge_protobuf, scan, to_json_value, to_protobuf,
};
use kubist_codec::envelope::{Envelope, wrap};
use serde_json::Value;
use std::path::Path;

/// The envelope around a message, as upstream writes it. That of a watch event has no kind.
fn envelope(kind: &Kind, raw: &[u8]) -> Vec<u8> {
    let facts = kind.facts();
    let (api_version, name) = match facts.kind {
        "WatchEvent" => ("", ""),
        name => (facts.api_version, name),
    };
    wrap(api_version, name, raw)
}

/// Checks that `json` decodes, encodes to `protobuf` and to JSON equal to `want`, and that
/// `protobuf` decodes to the same.
fn check(kind: &Kind, json: &[u8], protobuf: &[u8], want: &[u8]) -> Result<(), String> {
    let mut cx = DecodeContext::new().strict();
    let mut message = kind.new_message();
    merge_json(&mut *message, json, &mut cx).map_err(|error| format!("from JSON: {error}"))?;
    let problems = cx.take_problems();
    if !problems.is_empty() {
        return Err(format!("unknown fields: {problems:?}"));
    }
    let mut want: Value = serde_json::from_slice(want).map_err(|error| error.to_string())?;
    if kind.facts().kind == "WatchEvent" {
        // Upstream's type is a bare struct; Kubist's has a kind like all others.
        want["apiVersion"] = kind.facts().api_version.into();
        want["kind"] = kind.facts().kind.into();
    }
    differs("JSON", &to_json_value(&*message), &want)?;
    let raw = to_protobuf(&*message);
    if envelope(kind, &raw) != protobuf {
        return Err(format!(
            "other protobuf bytes: {}",
            first_difference(kind, &raw, protobuf)
        ));
    }
    let schema = message.schema();
    let metadata = schema.field("metadata").and_then(|field| field.ty.schema());
    if metadata.is_some_and(|metadata| metadata.name == "ObjectMeta") {
        for (bytes, encoding) in [(json, Encoding::Json), (&raw, Encoding::Protobuf)] {
            scan::scan(bytes, encoding, schema, &mut DecodeContext::new())
                .map_err(|error| format!("scan of {encoding:?}: {error}"))?;
        }
    }
    let mut again = kind.new_message();
    merge_protobuf(&mut *again, &raw, &mut cx)
        .map_err(|error| format!("from protobuf: {error}"))?;
    differs("JSON after protobuf", &to_json_value(&*again), &want)
}

fn first_difference(kind: &Kind, raw: &[u8], protobuf: &[u8]) -> String {
    let ours = envelope(kind, raw);
    let at = ours
        .iter()
        .zip(protobuf)
        .take_while(|(left, right)| left == right)
        .count();
    let around = |bytes: &[u8]| {
        String::from_utf8_lossy(&bytes[at.saturating_sub(24)..(at + 24).min(bytes.len())])
            .into_owned()
    };
    format!(
        "at {at}: ours {:?}, theirs {:?}",
        around(&ours),
        around(protobuf)
    )
}

fn differs(what: &str, got: &Value, want: &Value) -> Result<(), String> {
    fn walk(path: &str, got: &Value, want: &Value) -> Option<String> {
        match (got, want) {
            (Value::Object(got), Value::Object(want)) => {
                let keys = got.keys().chain(want.keys());
                keys.into_iter().find_map(|key| {
                    let null = Value::Null;
                    let (left, right) = (got.get(key), want.get(key));
                    if left.is_none() != right.is_none() {
                        return Some(format!("{path}.{key}: got {left:?}, want {right:?}"));
                    }
                    walk(
                        &format!("{path}.{key}"),
                        left.unwrap_or(&null),
                        right.unwrap_or(&null),
                    )
                })
            }
            (Value::Array(got), Value::Array(want)) if got.len() == want.len() => got
                .iter()
                .zip(want)
                .enumerate()
                .find_map(|(i, (got, want))| walk(&format!("{path}[{i}]"), got, want)),
            _ => (got != want).then(|| format!("{path}: got {got}, want {want}")),
        }
    }
    walk("", got, want).map_or(Ok(()), |found| Err(format!("{what} differs at {found}")))
}

/// Returns the kind of a file: from its content, or else from its name.
fn kind_of(name: &str, meta: &Value) -> Option<&'static Kind> {
    if name.ends_with(".WatchEvent") {
        return kubist_api::KINDS
            .iter()
            .find(|kind| kind.facts().kind == "WatchEvent");
    }
    kubist_api::find_kind_by_api_version(meta["apiVersion"].as_str()?, meta["kind"].as_str()?)
}

/// The three files of one object.
fn check_files(path: &Path) -> Result<(), String> {
    let read = |extension: &str| {
        let path = path.with_extension(extension);
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (json, protobuf, yaml) = (read("json")?, read("pb")?, read("yaml")?);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let meta: Value = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    let kind = kind_of(&name, &meta).ok_or("not a kind of ours")?;
    let yaml = kubist_codec::yaml::parse(&yaml).map_err(|error| format!("YAML: {error}"))?;
    let yaml = yaml.value.to_string();
    // Objects of other versions have fields that this version does not know.
    let check = if name.contains("after_roundtrip") || !path.to_string_lossy().contains(OURS) {
        check_other_version
    } else {
        check
    };
    check(kind, &json, &protobuf, &json)?;
    check(kind, yaml.as_bytes(), &protobuf, &json).map_err(|error| format!("YAML: {error}"))
}

/// The version of the test data with the fields of the schema.
const OURS: &str = "/v1.36.0/";

/// Checks that `json` and `protobuf` decode and agree in the fields of this version.
fn check_other_version(kind: &Kind, json: &[u8], protobuf: &[u8], _: &[u8]) -> Result<(), String> {
    let mut cx = DecodeContext::new();
    let mut from_json = kind.new_message();
    merge_json(&mut *from_json, json, &mut cx).map_err(|error| format!("from JSON: {error}"))?;
    let envelope = Envelope::open(protobuf).map_err(|error| error.to_string())?;
    let mut from_protobuf = kind.new_message();
    merge_protobuf(&mut *from_protobuf, envelope.raw, &mut cx)
        .map_err(|error| format!("from protobuf: {error}"))?;
    if to_protobuf(&*from_json) != to_protobuf(&*from_protobuf) {
        return Err("JSON and protobuf are not the same object".to_owned());
    }
    Ok(())
}

/// Checks every version of the test data: fields differ, and the bytes of common ones are equal.
/// Upstream's `after_roundtrip` files are objects of another version, too.
#[test]
fn every_kind_of_the_test_data_has_upstreams_bytes() {
    let Some(folder) = kubist_tests::shared("data/api-testdata") else {
        return;
    };
    let mut failures = Vec::new();
    let mut count = 0;
    for version in std::fs::read_dir(folder).unwrap() {
        for entry in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            count += 1;
            if let Err(error) = check_files(&path) {
                failures.push(format!("{}: {error}", path.display()));
            }
        }
    }
    assert!(count > 0, "no test data");
    assert!(
        failures.is_empty(),
        "{} of {count} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn our_own_objects_have_upstreams_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/objects");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pb") {
            continue;
        }
        count += 1;
        let json = std::fs::read(path.with_extension("json")).unwrap();
        let want = std::fs::read(path.with_extension("go.json")).unwrap();
        let meta: Value = serde_json::from_slice(&json).unwrap();
        let kind = kubist_api::find_kind_by_api_version(
            meta["apiVersion"].as_str().unwrap(),
            meta["kind"].as_str().unwrap(),
        );
        let protobuf = std::fs::read(&path).unwrap();
        let result = check(kind.unwrap(), &json, &protobuf, &want);
        assert_eq!(result, Ok(()), "{}", path.display());
    }
    assert_eq!(count, 7);
}
