//! The committed types are what the generator writes, in its other forms, too. To write them again:
//! `kubist codegen crates/codegen/tests/data/figs.yaml --out crates/codegen/tests/it/crds.rs`.

use kubist_codegen::{MARKER, Options, generate, read_definitions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DEFINITIONS: &[u8] = include_bytes!("../data/figs.yaml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/crds")
}

/// Returns all files of the folder.
fn committed(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            committed(&path, &format!("{prefix}{name}/"), files);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            files.insert(format!("{prefix}{name}"), text);
        }
    }
}

#[test]
fn the_committed_types_are_what_is_generated() {
    let definitions = read_definitions(DEFINITIONS).unwrap();
    let generated = generate(&definitions, &Options::default()).unwrap();
    assert_eq!(generated.len(), 3);
    let files = generated.files();
    let mut found = BTreeMap::new();
    committed(&folder(), "", &mut found);
    let top = std::fs::read_to_string(folder().with_extension("rs")).unwrap();
    found.insert("mod.rs".to_owned(), top);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        found.keys().collect::<Vec<_>>()
    );
    for (path, text) in &files {
        assert_eq!(text, &found[path], "{path}");
        assert!(text.lines().take(4).any(|it| it == MARKER), "{path}");
    }
}

#[test]
fn order_and_repetition_of_definitions_change_nothing() {
    let definitions = read_definitions(DEFINITIONS).unwrap();
    let mut others: Vec<_> = definitions.iter().rev().cloned().collect();
    others.extend(definitions.clone());
    let of = |definitions: &[_]| generate(definitions, &Options::default()).unwrap();
    assert_eq!(of(&definitions).files(), of(&others).files());
    assert_eq!(of(&definitions).to_text(), of(&others).to_text());
}

#[test]
fn one_text_has_all_types_in_modules() {
    let definitions = read_definitions(DEFINITIONS).unwrap();
    let text = generate(&definitions, &Options::default())
        .unwrap()
        .to_text();
    for line in [
        "pub mod fruit_example_com {",
        "    pub mod v1alpha1 {",
        "        pub use self::string::StringKind;",
        "            pub struct FigSpec {",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(text.lines().all(|it| it == it.trim_end()));
}

#[test]
fn the_path_of_the_crate_derives_and_times_are_options() {
    let definitions = read_definitions(DEFINITIONS).unwrap();
    let options = Options {
        krate: "kubist::custom_resource".to_owned(),
        derives: vec!["my::Derive".to_owned()],
        times_as_strings: true,
    };
    let text = generate(&definitions, &options).unwrap().to_text();
    assert!(!text.contains("kubist_custom_resource"), "{text}");
    assert!(!text.contains("Option<Time>"), "{text}");
    assert!(text.contains("crate = kubist::custom_resource"), "{text}");
    assert!(text.contains("use kubist::custom_resource::apimachinery::{"));
    let derives = text.matches("my::Derive").count();
    assert_eq!(derives, text.matches("#[derive(").count());
}
