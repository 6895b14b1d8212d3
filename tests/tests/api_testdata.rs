//! Every built-in kind, filled: JSON to upstream's exact protobuf bytes, and back to equal JSON.

use std::path::Path;

use kubist_api::Kind;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, ReverseWriter, merge_json, merge_protobuf, scan, to_json_value,
    to_protobuf,
};
use serde_json::Value;

/// The envelope as upstream writes it around a message.
fn envelope(kind: &Kind, raw: &[u8]) -> Vec<u8> {
    let mut out = ReverseWriter::default();
    out.prepend_delimited(4, b"");
    out.prepend_delimited(3, b"");
    out.prepend_delimited(2, raw);
    let mark = out.len();
    out.prepend_delimited(2, kind.facts().kind.as_bytes());
    out.prepend_delimited(1, kind.facts().api_version.as_bytes());
    out.prepend_header(1, mark);
    out.prepend(b"k8s\0");
    out.into_vec()
}

/// `json` decodes without problems, encodes to `protobuf` and to JSON equal to `want`, and so does
/// what `protobuf` decodes to.
fn check(kind: &Kind, json: &[u8], protobuf: &[u8], want: &[u8]) -> Result<(), String> {
    let mut cx = DecodeContext::new().strict();
    let mut message = kind.new_message();
    merge_json(&mut *message, json, &mut cx).map_err(|error| format!("from JSON: {error}"))?;
    let problems = cx.take_problems();
    if !problems.is_empty() {
        return Err(format!("unknown fields: {problems:?}"));
    }
    let want: Value = serde_json::from_slice(want).map_err(|error| error.to_string())?;
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

#[test]
fn every_kind_of_the_test_data_has_upstreams_bytes() {
    let Some(folder) = kubist_tests::shared("data/api-testdata/v1.36.0") else {
        return;
    };
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // A watch event is a frame, not a kind; round-trip files are of other versions.
        if name.ends_with(".WatchEvent") || name.contains("after_roundtrip") {
            continue;
        }
        count += 1;
        let json = std::fs::read(&path).unwrap();
        let protobuf = std::fs::read(path.with_extension("pb")).unwrap();
        let meta: Value = serde_json::from_slice(&json).unwrap();
        let (version, kind) = (
            meta["apiVersion"].as_str().unwrap(),
            meta["kind"].as_str().unwrap(),
        );
        let Some(kind) = kubist_api::find_kind_by_api_version(version, kind) else {
            failures.push(format!("{name}: not a kind of ours"));
            continue;
        };
        if let Err(error) = check(kind, &json, &protobuf, &json) {
            failures.push(format!("{name}: {error}"));
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
