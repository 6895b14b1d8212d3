//! Sentences of a small schema.

use super::*;
use serde_json::json;

fn schema() -> Schema {
    let schema = json!({
        "version": "1", "commonKinds": {}, "groups": [],
        "messages": {
            "io.k8s.api.core.v1.Volume": {"go": "k8s.io/api/core/v1.Volume", "fields": [
                {"go": "Name", "json": "name", "type": "string"},
                {"go": "Source", "type": "io.k8s.api.core.v1.Source", "inline": true},
            ]},
            "io.k8s.api.core.v1.Source": {"go": "k8s.io/api/core/v1.Source", "fields": [
                {"go": "Path", "json": "path", "type": "string"},
            ]},
            "io.k8s.api.node.v1.Node": {"go": "k8s.io/api/node/v1.Node", "fields": [
                {"go": "Name", "json": "name", "type": "string"},
            ]},
        },
    });
    serde_json::from_value(schema).expect("it is a schema")
}

fn file(package: &str, name: &str, text: &str) -> File {
    File {
        package: package.to_owned(),
        path: format!("{package}/{name}.json"),
        text: text.to_owned(),
    }
}

fn mistakes(files: &[File]) -> String {
    let found = Sentences::new(files, &schema());
    let found = found.expect_err("something is wrong");
    let (_, found) = found.split_once('\n').expect("each has a line");
    found.to_owned()
}

const SOURCE: &str = r#"{"Source": {"": "Where it is.", "path": "A path on the node"}}"#;

#[test]
fn an_inline_field_has_its_sentence_at_its_declaration_or_at_its_use() {
    let volume = r#"{"Volume": {"": "A folder.", "name": "Its name."}}"#;
    let files = [file("core.v1", "a", volume), file("core.v1", "b", SOURCE)];
    let sentences = Sentences::new(&files, &schema()).expect("nothing is wrong");
    let [volume, source] = ["io.k8s.api.core.v1.Volume", "io.k8s.api.core.v1.Source"];
    assert_eq!(sentences.of_type(volume), Some("A folder."));
    let path = sentences.of_field([volume, source], "path");
    assert_eq!(path, Some("A path on the node."), "with its full stop");
    assert_eq!(sentences.of_field([volume], "path"), None);
    let volume = r#"{"Volume": {"": "A folder.", "name": "Its name.", "path": "Of the folder."}}"#;
    let files = [file("core.v1", "a", volume), file("core.v1", "b", SOURCE)];
    let sentences = Sentences::new(&files, &schema()).expect("nothing is wrong");
    let path = sentences.of_field(["io.k8s.api.core.v1.Volume", source], "path");
    assert_eq!(path, Some("Of the folder."));
}

#[test]
fn a_package_has_all_sentences_or_none() {
    assert!(Sentences::new(&[], &schema()).is_ok());
    let partly = file("node.v1", "a", r#"{"Node": {"": "A machine."}}"#);
    assert!(
        Sentences::new(&[partly], &schema()).is_ok(),
        "other packages may be partly documented"
    );
    let volume = file("core.v1", "a", r#"{"Volume": {"": "A folder."}}"#);
    assert_eq!(
        mistakes(&[volume]),
        "core.v1: Source.: has no sentence\n\
         core.v1: Source.path: has no sentence\n\
         core.v1/a.json: Volume.name: has no sentence"
    );
}

#[test]
fn mistakes_are_reported_with_file_and_field() {
    let volume = r#"{
        "Volume": {"": "A.", "name": "B.", "name": "C.", "size": "D."},
        "Volumes": {"": "Many."}
    }"#;
    let again = r#"{"Volume": {"": "A."}}"#;
    let files = [
        file("core.v1", "a", volume),
        file("core.v1", "b", SOURCE),
        file("core.v1", "c", again),
        file("core.v2", "a", "{}"),
        file("node.v1", "a", r#"{"Node": []}"#),
    ];
    assert_eq!(
        mistakes(&files),
        "core.v1/a.json: Volume.name: has two sentences\n\
         core.v1/a.json: Volume.size: no such field\n\
         core.v1/a.json: Volumes: no such type\n\
         core.v1/c.json: Volume: also in core.v1/a.json\n\
         core.v1/c.json: Volume.: has two sentences\n\
         core.v2/a.json: no such package\n\
         node.v1/a.json: invalid type: sequence, expected an object at line 1 column 9"
    );
}

#[test]
fn a_sentence_is_one_line_that_a_comment_can_hold() {
    let long = "a".repeat(rustdoc::WORD_MAX + 1);
    for (sentence, expected) in [
        (" ", Some("is empty")),
        ("Two\nlines.", Some("is not a single line of text")),
        ("`code.", Some("has a backtick without its pair")),
        (long.as_str(), Some("has a word that is longer than a line")),
        ("A `b c`: <https://d.e>, [f].", None),
    ] {
        assert_eq!(mistake(sentence), expected);
    }
}
