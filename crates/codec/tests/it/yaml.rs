//! YAML against manifests and upstream's own output, where they are at hand, and against noise.

use kubist_codec::yaml::{parse, parse_all, to_yaml};
use proptest::prelude::*;
use serde_json::Value;
use std::path::PathBuf;

/// A folder of shared data, if this checkout has one beside it.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared")
        .join(folder);
    if !path.is_dir() {
        println!("skipped: ../shared/{folder} is not there");
        return None;
    }
    Some(path)
}

fn files(folder: PathBuf, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn upstreams_yaml_is_printed_byte_for_byte() {
    let Some(folder) = shared("data/api-testdata/v1.36.0") else {
        return;
    };
    let files = files(folder, "yaml");
    assert!(files.len() > 100);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let json = std::fs::read(path.with_extension("json")).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let document = parse(text.as_bytes()).unwrap();
        assert_eq!(document.value, json, "{}", path.display());
        assert!(document.duplicates.is_empty());
        assert_eq!(to_yaml(&json), text, "{}", path.display());
    }
}

#[test]
fn manifests_of_real_projects_survive_a_round_trip() {
    let Some(folder) = shared("data/manifests") else {
        return;
    };
    let files = files(folder, "yaml");
    assert!(files.len() > 50);
    let mut objects = 0;
    for path in files {
        let text = std::fs::read(&path).unwrap();
        for document in parse_all(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())) {
            assert!(document.value["kind"].is_string(), "{}", path.display());
            let printed = to_yaml(&document.value);
            assert_eq!(
                parse(printed.as_bytes()).unwrap().value,
                document.value,
                "{printed}"
            );
            objects += 1;
        }
    }
    assert!(objects > 100, "{objects}");
}

fn tree() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "\\PC{0,30}",
        "[ \\n\\t:#'\"a\\-]{0,12}",
        "[0-9eE.xob_+:-]{0,8}",
        "([a-z]{1,12} ){8,20}",
        Just("\u{85}\u{2028}\u{feff}\r".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(value in tree()) {
        let printed = to_yaml(&value);
        let read = parse(printed.as_bytes());
        prop_assert!(read.is_ok(), "{:?}\n{}", read, printed);
        prop_assert_eq!(read.unwrap().value, value, "{}", printed);
    }

    #[test]
    fn noise_never_panics(
        text in "[ \\n\\t:#'\"a\\-&*!|>{}\\[\\],?%@<~0-9]{0,60}",
        bytes: Vec<u8>,
    ) {
        drop(parse_all(text.as_bytes()));
        drop(parse_all(&bytes));
    }
}
