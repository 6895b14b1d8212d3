//! Definitions: all options arrive, and the schema passes the checks that servers make.

use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, JSONSchemaProps,
};
use kubist_api::batch::v1::JobTemplateSpec;
use kubist_api::core::v1::ServiceSpec;
use kubist_apimachinery::wire::Wire as _;
use kubist_apimachinery::{Condition, FieldPath, IntOrString, LabelSelector, Quantity, Time};
use kubist_custom_resource::{CustomResource, ListType, Rule, is_established, message_schema};
use kubist_schema::{KnownExpressions, RuleChecker, SchemaOptions, check_schema, check_structural};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A pear.
///
/// It is green.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(
    group = "example.com",
    version = "v1beta1",
    kind = "Pear",
    plural = "pears",
    singular = "pear",
    root = "PearTree",
    namespaced,
    status = "PearStatus",
    shortname = "pr",
    shortname = "px",
    category = "fruit",
    derive = "Eq",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(
        name = "Age",
        type = "date",
        json_path = ".metadata.creationTimestamp",
        description = "since",
        format = "date",
        priority = 1
    ),
    selectable = ".spec.name",
    validation = "self.metadata.name.size() < 20",
    validation(
        rule = "self.spec.replicas >= oldSelf.value().spec.replicas",
        message_expression = "'fewer'",
        reason = "FieldValueForbidden",
        field_path = ".spec.replicas",
        optional_old_self
    ),
    served = true,
    storage = false,
    deprecated = "use v1",
    annotation("a", "b"),
    label("c", "d")
)]
struct PearSpec {
    /// The name.
    #[schemars(length(max = 10))]
    name: String,
    replicas: i32,
    #[schemars(transform = ListType::map("key"))]
    #[schemars(length(max = 5))]
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = Rule::new("self.key != self.value"))]
struct Item {
    #[schemars(length(max = 10))]
    key: String,
    #[schemars(length(max = 10))]
    value: String,
}

impl Eq for PearSpec {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct PearStatus {
    replicas: i32,
    selector: String,
}

fn schema(definition: &CustomResourceDefinition) -> &JSONSchemaProps {
    let schema = definition.spec.versions[0].schema.as_ref().unwrap();
    schema.open_api_v3_schema.as_ref().unwrap()
}

/// Checks what a server checks.
fn check<K: CustomResource>() {
    let definition = K::definition();
    let schema = schema(&definition);
    let errors = check_structural(schema, &FieldPath::ROOT);
    assert!(errors.is_empty(), "{errors:?}");
    let known = KnownExpressions::default();
    let mut rules = RuleChecker::new(&known, false);
    let has_status = definition.spec.versions[0].subresources.is_some();
    let (options, path) = (SchemaOptions::CREATE, FieldPath::ROOT);
    let errors = check_schema(schema, has_status, options, Some(&mut rules), &path);
    assert!(errors.is_empty(), "{}: {errors:?}", K::KIND);
}

#[test]
fn every_option_arrives_in_the_definition() {
    check::<PearTree>();
    let text = PearTree::definition().to_json();
    let mut definition: Value = serde_json::from_slice(&text).unwrap();
    let version = definition["spec"]["versions"][0].take();
    let schema = &version["schema"]["openAPIV3Schema"];
    assert_eq!(definition["metadata"]["annotations"], json!({"a": "b"}));
    assert_eq!(definition["metadata"]["labels"], json!({"c": "d"}));
    assert_eq!(definition["metadata"]["name"], "pears.example.com");
    let names = json!({
        "plural": "pears", "singular": "pear", "kind": "Pear", "listKind": "PearList",
        "shortNames": ["pr", "px"], "categories": ["fruit"],
    });
    assert_eq!(definition["spec"]["names"], names);
    assert_eq!(definition["spec"]["scope"], "Namespaced");
    let facts = [
        "name",
        "served",
        "storage",
        "deprecated",
        "deprecationWarning",
    ];
    let facts = facts.map(|it| version[it].clone());
    assert_eq!(
        facts,
        [
            json!("v1beta1"),
            json!(true),
            json!(false),
            json!(true),
            json!("use v1")
        ]
    );
    let scale = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    });
    assert_eq!(
        version["subresources"],
        json!({"status": {}, "scale": scale})
    );
    let column = json!({
        "name": "Age", "type": "date", "format": "date", "description": "since", "priority": 1,
        "jsonPath": ".metadata.creationTimestamp",
    });
    assert_eq!(version["additionalPrinterColumns"], json!([column]));
    assert_eq!(
        version["selectableFields"],
        json!([{"jsonPath": ".spec.name"}])
    );
    assert_eq!(schema["description"], "A pear.\n\nIt is green.");
    assert_eq!(
        schema["properties"]["spec"]["properties"]["name"]["description"],
        "The name."
    );
    let rules = json!([
        {"rule": "self.metadata.name.size() < 20"},
        {
            "rule": "self.spec.replicas >= oldSelf.value().spec.replicas",
            "messageExpression": "'fewer'", "reason": "FieldValueForbidden",
            "fieldPath": ".spec.replicas", "optionalOldSelf": true,
        },
    ]);
    assert_eq!(schema["x-kubernetes-validations"], rules);
}

macro_rules! kind {
    ($module:ident, $kind:literal, $root:ident, {$($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)?}) => {
        mod $module {
            use super::*;

            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
            #[custom_resource(group = "example.com", version = "v1", kind = $kind)]
            pub(super) struct Spec {
                $($(#[$attribute])* $field: $type,)*
            }
        }
        use $module::$root;
    };
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Choice {
    One(String),
    Two { a: Option<i32> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Tagged {
    One { size: i32 },
    Two { size: i32, name: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Object { a: i32 },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Defaults {
    #[serde(default)]
    list: Vec<String>,
    #[serde(default)]
    optional: Option<String>,
}

kind!(choices, "Choices", Choices, {
    choice: Choice,
    optional: Option<Choice>,
    many: Vec<Option<Choice>>,
    tagged: Tagged,
    maybe: Option<Tagged>,
    untagged: Untagged,
    #[serde(flatten)]
    flat: Tagged,
});
kind!(loose, "Loose", Loose, {
    any: Value,
    map: BTreeMap<String, Option<Choice>>,
    pair: (i32, String, Choice),
    unit: (),
    result: Result<i32, String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
});
kind!(defaulted, "Defaulted", Defaulted, {
    #[serde(default)]
    defaults: Defaults,
    #[serde(default)]
    number: Option<i32>,
});

kind!(kubernetes, "Types", Types, {
    #[schemars(schema_with = "message_schema::<Vec<Condition>>")]
    conditions: Vec<Condition>,
    #[schemars(schema_with = "message_schema::<LabelSelector>")]
    selector: LabelSelector,
    #[schemars(schema_with = "message_schema::<Quantity>")]
    size: Quantity,
    #[schemars(schema_with = "message_schema::<Option<IntOrString>>")]
    port: Option<IntOrString>,
    #[schemars(schema_with = "message_schema::<Time>")]
    time: Time,
    #[schemars(schema_with = "message_schema::<JSONSchemaProps>")]
    recursive: JSONSchemaProps,
});

#[test]
fn types_of_kubernetes_have_schemas_from_their_wire_schemas() {
    check::<Types>();
    let definition = Types::definition();
    let tree: Value = serde_json::from_slice(&schema(&definition).to_json()).unwrap();
    let properties = &tree["properties"]["spec"]["properties"];
    let conditions = &properties["conditions"];
    let expressions = &properties["selector"]["properties"]["matchExpressions"];
    assert_eq!(expressions["x-kubernetes-list-type"], "atomic");
    let required = conditions["items"]["required"].as_array().unwrap();
    assert!(
        required.contains(&json!("lastTransitionTime")),
        "{required:?}"
    );
    assert_eq!(
        properties["size"],
        json!({"x-kubernetes-int-or-string": true})
    );
    assert_eq!(
        properties["time"],
        json!({"type": "string", "format": "date-time"})
    );
    let values = &properties["selector"]["properties"]["matchLabels"]["additionalProperties"];
    assert_eq!(values["type"], "string");
}

kind!(templates, "Templates", Templates, {
    #[schemars(schema_with = "message_schema::<JobTemplateSpec>")]
    job: JobTemplateSpec,
    #[schemars(schema_with = "message_schema::<ServiceSpec>")]
    service: ServiceSpec,
});

#[test]
fn keys_of_lists_that_may_be_left_out_have_defaults_as_servers_require() {
    check::<Templates>();
    let tree: Value = serde_json::from_slice(&schema(&Templates::definition()).to_json()).unwrap();
    let pod = "/properties/spec/properties/job/properties/spec/properties/template/properties/spec";
    let default = |path: &str| tree.pointer(&format!("{path}/default"));
    let ports = "properties/containers/items/properties/ports/items/properties";
    assert_eq!(
        default(&format!("{pod}/{ports}/protocol")),
        Some(&json!("TCP"))
    );
    assert_eq!(default(&format!("{pod}/{ports}/containerPort")), None);
    let secrets = "properties/imagePullSecrets/items/properties";
    assert_eq!(default(&format!("{pod}/{secrets}/name")), Some(&json!("")));
}

#[test]
fn schemas_of_every_form_of_type_pass_the_checks_of_servers() {
    check::<Choices>();
    check::<Loose>();
    check::<Defaulted>();
}

#[test]
fn a_definition_is_established_when_its_condition_is_true() {
    let mut definition = Types::definition();
    assert!(!is_established(None));
    assert!(!is_established(Some(&definition)));
    for (type_, status, expected) in [
        ("NamesAccepted", "True", false),
        ("Established", "False", false),
        ("Established", "True", true),
    ] {
        definition.status.conditions = vec![CustomResourceDefinitionCondition {
            type_: type_.into(),
            status: status.into(),
            ..CustomResourceDefinitionCondition::default()
        }];
        let is = is_established(Some(&definition));
        assert_eq!(is, expected, "{type_} {status}");
    }
}
