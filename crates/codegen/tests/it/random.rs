//! Random definitions, with names and texts of any characters: what is generated is Rust, names are
//! unique where they must be, and every name of a field occurs with its spelling.

use kubist_codegen::{Options, generate, read_definitions};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use syn::{Fields, Item};

/// Names that meet after their conversion, keywords, and any others.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "a", "aB", "a_b", "AB", "aBs", "a-b", "self", "Self", "type", "other", "spec", "status",
            "", "_", "1", "metadata", "Option", "String",
        ]).prop_map(str::to_owned),
        1 => ".{0,12}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    let words = prop::collection::vec(name(), 0..5);
    prop_oneof![
        Just(json!({"type": "integer", "format": "int32"})),
        Just(json!({"type": "number", "nullable": true})),
        Just(json!({"type": "boolean", "default": true})),
        Just(json!({"type": "string", "format": "date-time"})),
        Just(json!({"x-kubernetes-int-or-string": true})),
        Just(json!({"x-kubernetes-preserve-unknown-fields": true})),
        words.prop_map(|it| json!({"type": "string", "enum": it})),
    ]
}

/// A schema with a description.
fn schema() -> impl Strategy<Value = Value> {
    let nested = scalar().prop_recursive(5, 40, 5, |inner| {
        let fields = prop::collection::btree_map(name(), inner.clone(), 1..5);
        let object = (fields, any::<bool>(), any::<bool>());
        prop_oneof![
            inner
                .clone()
                .prop_map(|it| json!({"type": "array", "items": it})),
            inner.prop_map(|it| json!({"type": "object", "additionalProperties": it})),
            object.prop_map(|(fields, required, open)| {
                let names: Vec<&String> = fields.keys().filter(|_| required).collect();
                let mut schema = json!({"type": "object", "required": names, "properties": fields});
                if open {
                    schema["x-kubernetes-preserve-unknown-fields"] = true.into();
                }
                schema
            }),
        ]
    });
    let texts = prop_oneof!["(?s).{0,80}", "( {0,6}(```|- |[a-z ]{1,40})\n){0,6}"];
    (nested, texts).prop_map(|(mut schema, text)| {
        schema["description"] = text.into();
        schema
    })
}

fn text_of(properties: &Map<String, Value>) -> String {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "figs.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Fig", "plural": "figs"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
            }],
        },
    });
    let definitions = read_definitions(definition.to_string().as_bytes()).unwrap();
    let files = generate(&definitions, &Options::default()).unwrap().files();
    files["example_com/v1/fig.rs"].clone()
}

/// Checks the items of a module.
fn check(text: &str) -> Result<(), TestCaseError> {
    let file = syn::parse_file(text);
    let file = file.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    let mut types = BTreeSet::new();
    let mut take = |name: String| {
        prop_assert!(types.insert(name.clone()), "{name} is taken\n{text}");
        Ok(())
    };
    for item in &file.items {
        let mut names = BTreeSet::new();
        match item {
            Item::Struct(it) => {
                take(it.ident.to_string())?;
                prop_assert!(matches!(it.fields, Fields::Named(_)));
                for field in &it.fields {
                    let name = field.ident.as_ref().unwrap().to_string();
                    prop_assert!(names.insert(name.clone()), "{name} is taken\n{text}");
                }
            }
            Item::Enum(it) => {
                take(it.ident.to_string())?;
                for variant in &it.variants {
                    let name = variant.ident.to_string();
                    prop_assert!(names.insert(name.clone()), "{name} is taken\n{text}");
                }
            }
            Item::Use(_) | Item::Impl(_) => {}
            _ => prop_assert!(false, "an item that was not expected\n{text}"),
        }
    }
    Ok(())
}

/// Checks that no comment has code that would be a doctest.
fn check_comments(text: &str) -> Result<(), TestCaseError> {
    let mut in_fence = false;
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("///") else {
            prop_assert!(!in_fence, "an open fence in {text}");
            continue;
        };
        let comment = comment.strip_prefix(' ').unwrap_or(comment);
        let is_fence = |mark: &str| comment == mark || comment == format!("{mark}text");
        if is_fence("```") || is_fence("~~~") {
            prop_assert_eq!(in_fence, !comment.ends_with("text"), "{}", text);
            in_fence = !in_fence;
        } else if !in_fence {
            prop_assert!(
                !comment.contains("```") && !comment.contains("~~~"),
                "{text}"
            );
            prop_assert!(!comment.starts_with("    "), "{text}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_definition_becomes_rust_with_unique_names(
        properties in prop::collection::btree_map(name(), schema(), 1..6)
    ) {
        let properties: Map<String, Value> = properties.into_iter().collect();
        let text = text_of(&properties);
        check(&text)?;
        check_comments(&text)?;
    }
}
