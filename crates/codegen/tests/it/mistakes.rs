//! Definitions that have no types, and texts that are no definitions.

use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_codegen::{GenerateError, Options, ReadError, generate, read_definitions};
use serde_json::{Value, json};

fn definition(versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "figs.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Fig", "plural": "figs"},
            "versions": versions,
        },
    })
}

fn version(name: &str, schema: Value) -> Value {
    json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}

fn outcome(definitions: &[Value]) -> Result<String, GenerateError> {
    let list = json!({"kind": "List", "items": definitions}).to_string();
    let definitions = read_definitions(list.as_bytes()).unwrap();
    generate(&definitions, &Options::default()).map(|it| it.to_text())
}

#[test]
fn text_that_is_no_definition_is_an_error_or_nothing() {
    assert_eq!(read_definitions(b"").unwrap(), []);
    assert_eq!(
        read_definitions(b"kind: Pod\n---\n- 1\n---\nkind: List\n").unwrap(),
        []
    );
    let error = read_definitions(b"a: 1\nb: [2\n").unwrap_err();
    assert!(
        matches!(error, ReadError::Syntax { line: 2.., .. }),
        "{error:?}"
    );
    let error = read_definitions(b"a: 1\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: 1\n");
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("document at line "), "{error}");
    assert!(error.contains("spec"), "{error}");
    let old = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n";
    let error = read_definitions(old.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("convert it to apiextensions.k8s.io/v1"),
        "{error}"
    );
}

#[test]
fn a_typed_list_need_not_repeat_its_kind() {
    let mut item = definition(json!([]));
    item.as_object_mut().unwrap().remove("kind");
    item.as_object_mut().unwrap().remove("apiVersion");
    let list = json!({"kind": "CustomResourceDefinitionList", "items": [item]}).to_string();
    assert_eq!(read_definitions(list.as_bytes()).unwrap().len(), 1);
}

#[test]
fn a_definition_without_names_or_schema_is_an_error() {
    let mut nameless = definition(json!([version("v1", json!({"type": "object"}))]));
    nameless["spec"]["names"] = json!({"plural": "figs"});
    let error = outcome(&[nameless]).unwrap_err().to_string();
    assert_eq!(error, "figs.example.com: spec.names.kind is missing");
    let shapeless = definition(json!([{"name": "v1", "served": true, "storage": true}]));
    let error = outcome(&[shapeless]).unwrap_err();
    assert!(matches!(error, GenerateError::NoSchema { .. }), "{error}");
}

#[test]
fn different_definitions_of_a_kind_are_an_error() {
    let one = definition(json!([version("v1", json!({"type": "object"}))]));
    let mut other = one.clone();
    other["spec"]["scope"] = "Cluster".into();
    let error = outcome(&[one, other]).unwrap_err();
    assert!(matches!(error, GenerateError::Duplicate { .. }), "{error}");
}

#[test]
fn groups_that_share_a_module_share_no_names() {
    let one = definition(json!([version("v1", json!({"type": "object"}))]));
    let mut other = one.clone();
    other["spec"]["group"] = "example-com".into();
    other["metadata"]["name"] = "figs.example-com".into();
    let text = outcome(&[one, other]).unwrap();
    assert!(text.contains("pub use self::fig::Fig;"), "{text}");
    assert!(text.contains("pub use self::fig_2::Fig as Fig2;"), "{text}");
}

#[test]
fn a_schema_that_is_too_large_is_an_error() {
    let fields = (0..21_000).map(|it| {
        let schema =
            json!({"type": "object", "properties": {format!("f{it}"): {"type": "string"}}});
        (format!("f{it}"), schema)
    });
    let schema = json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()});
    let error = outcome(&[definition(json!([version("v1", schema)]))]).unwrap_err();
    assert!(matches!(error, GenerateError::TooLarge { .. }), "{error}");
}

#[test]
fn a_schema_that_is_too_deep_is_an_error_of_the_parser_or_ends_in_any_value() {
    let mut schema = json!({"type": "string"});
    let mut typed = JSONSchemaProps {
        type_: "string".into(),
        ..Default::default()
    };
    for _ in 0..150 {
        schema = json!({"type": "object", "properties": {"a": schema}});
        typed = JSONSchemaProps {
            type_: "object".into(),
            properties: [("a".into(), Box::new(typed))].into(),
            ..Default::default()
        };
    }
    let text = definition(json!([version("v1", schema)])).to_string();
    assert!(read_definitions(text.as_bytes()).is_err());

    let whole = definition(json!([version("v1", json!({"type": "object"}))])).to_string();
    let mut definitions = read_definitions(whole.as_bytes()).unwrap();
    let schema = definitions[0].spec.versions[0].schema.as_mut().unwrap();
    schema.open_api_v3_schema = Some(Box::new(typed));
    let text = generate(&definitions, &Options::default())
        .unwrap()
        .to_text();
    assert!(text.contains("pub a: Option<Value>"), "{text}");
    assert!(text.matches("pub struct").count() > 90);
}

#[test]
fn names_and_texts_of_definitions_stay_within_their_quotes_and_comments() {
    let schema = json!({
        "type": "object",
        "description": "one\r\ntwo */ \u{2028} \"\nstruct A;",
        "properties": {"a\"b\\": {"type": "string", "enum": ["\"#]", "\\", "\n"]}},
    });
    let mut hostile = definition(json!([version("v1", schema)]));
    hostile["spec"]["group"] = "example.com\"]\nstruct B".into();
    let text = outcome(&[hostile]).unwrap();
    for line in text.lines().map(str::trim_start) {
        assert!(!line.starts_with("struct"), "{text}");
    }
    assert!(text.contains(r#"rename = "a\"b\\""#), "{text}");
    assert!(
        text.contains(r#"group = "example.com\"]\nstruct B""#),
        "{text}"
    );
}

#[test]
fn names_of_any_kind_have_files_of_their_own_and_are_identifiers() {
    let names = [
        ("example.com", "Mod"),
        ("mod", "Fig"),
        ("a.example.com", "日本"),
        ("b.example.com", "1st"),
    ];
    let definitions = names.map(|(group, kind)| {
        let mut it = definition(json!([version("v1", json!({"type": "object"}))]));
        it["metadata"]["name"] = format!("figs.{group}").into();
        it["spec"]["group"] = group.into();
        it["spec"]["names"]["kind"] = kind.into();
        it
    });
    let list = json!({"kind": "List", "items": definitions}).to_string();
    let definitions = read_definitions(list.as_bytes()).unwrap();
    let files = generate(&definitions, &Options::default()).unwrap().files();
    // Rust looks for a module `v1` in `v1.rs` and in `v1/mod.rs`, and takes neither of two.
    let modules: Vec<&str> = files.keys().map(String::as_str).collect();
    let modules: Vec<&str> = modules
        .into_iter()
        .filter(|it| it.ends_with("mod.rs"))
        .collect();
    assert_eq!(modules, ["mod.rs"]);
    let text = &files["mod.rs"];
    assert!(
        text.contains("pub mod mod_;") && text.contains("pub mod example_com;"),
        "{text}"
    );
    let text = &files["example_com/v1.rs"];
    assert!(text.contains("pub use self::mod_::Mod;"), "{text}");
    for (file, name) in [
        ("a_example_com/v1/field.rs", "Kind"),
        ("b_example_com/v1/_1st.rs", "Kind1st"),
    ] {
        let text = &files[file];
        assert!(text.contains(&format!("pub struct {name} {{")), "{text}");
    }
}
