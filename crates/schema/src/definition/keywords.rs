//! Rules of the keywords of every schema in a definition.

use super::list_rules;
use super::options::SchemaOptions;
use super::rule_checker::RuleChecker;
use super::rules::{RuleSite, RuleStep};
use crate::place::{Place, Problems};
use crate::rules::field_path::Paths;
use kubist_api::apiextensions::v1::{JSONSchemaProps, ValidationRule};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};

/// The types of OpenAPI.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

const EMPTY: &str = "must be non-empty if specified";
const LINES: &str = "must not contain line breaks";

/// The rules that depend on what is around a schema.
#[derive(Clone, Copy, Default)]
struct Around<'a> {
    /// Why defaults are forbidden; none if they are allowed.
    forbidden_defaults: Option<ForbiddenDefaults<'a>>,
    is_in_metadata: bool,
    /// The first schema around it whose values cannot be correlated.
    uncorrelated: Option<&'a Place<'a>>,
    /// The schema with its parents, if rules are compiled here.
    site: Option<&'a RuleSite<'a>>,
}

#[derive(Clone, Copy)]
enum ForbiddenDefaults<'a> {
    InTopLevel(&'a str),
    InAdditionalProperties,
}

/// Checks keywords; collects errors of schemas and errors of rules.
pub(super) struct Keywords<'a, 'k> {
    options: SchemaOptions,
    rules: Option<&'a mut RuleChecker<'k>>,
    of_schema: Problems,
    of_rules: Vec<FieldError>,
}

/// Reports whether the type is one of OpenAPI.
pub(super) fn has_valid_type(schema: &JSONSchemaProps) -> bool {
    schema.type_.is_empty() || TYPES.contains(&schema.type_.as_str())
}

impl<'r, 'k> Keywords<'r, 'k> {
    pub(super) fn new(options: SchemaOptions, rules: Option<&'r mut RuleChecker<'k>>) -> Self {
        Self {
            options,
            rules,
            of_schema: Problems::default(),
            of_rules: Vec::new(),
        }
    }

    /// Returns the errors of schemas and of rules.
    pub(super) fn into_errors(self) -> (Vec<FieldError>, Vec<FieldError>) {
        (self.of_schema.into_list(), self.of_rules)
    }

    pub(super) fn check_root(&mut self, schema: &JSONSchemaProps, at: &Place<'_>) {
        let site = RuleSite {
            schema,
            parent: None,
            step: RuleStep::Root,
        };
        let around = Around {
            site: self.rules.is_some().then_some(&site),
            ..Around::default()
        };
        self.check(schema, around, true, at);
    }

    fn check(
        &mut self,
        schema: &JSONSchemaProps,
        around: Around<'_>,
        is_root: bool,
        at: &Place<'_>,
    ) {
        let count = self.of_schema.len();
        self.supported(schema, around, at);
        if schema.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                          quadratic";
            self.of_schema.forbid(at, "uniqueItems", detail);
        }
        self.additional_properties(schema, around, at);
        self.properties(schema, around, is_root, at);
        self.junctors(schema, around, at);
        self.items(schema, around, at);
        let dependencies = Place::Child(at, "dependencies");
        for (name, dependency) in &schema.dependencies {
            if let Some(schema) = dependency.schema.as_deref() {
                let at = Place::Key(&dependencies, name);
                self.check(schema, without_rules(around), false, &at);
            }
        }
        list_rules::check(&mut self.of_schema, schema, self.options, at);
        self.rules(schema, around, count, at);
    }

    /// Checks for keywords that are not supported, at all or here.
    fn supported(&mut self, schema: &JSONSchemaProps, around: Around<'_>, at: &Place<'_>) {
        let problems = &mut self.of_schema;
        if self.options.requires_valid_types && !has_valid_type(schema) {
            problems.add_child(at, "type", |path| {
                FieldError::not_supported_text(path, &schema.type_, &TYPES)
            });
        }
        if let Some(why) = around.forbidden_defaults
            && schema.default.is_some()
        {
            problems.add_child(at, "default", |path| {
                let detail = match why {
                    ForbiddenDefaults::InTopLevel(name) => {
                        format!("must not be set in top-level {name}")
                    }
                    ForbiddenDefaults::InAdditionalProperties => {
                        "must not be set inside additionalProperties applying to object metadata"
                            .to_owned()
                    }
                };
                FieldError::forbidden(path, detail)
            });
        }
        for (is_used, name, detail) in unsupported(schema) {
            if is_used {
                problems.forbid(at, name, detail);
            }
        }
        if around.is_in_metadata && schema.x_kubernetes_embedded_resource {
            let detail = "must not be used inside of resource meta";
            problems.forbid(at, "x-kubernetes-embedded-resource", detail);
        }
    }

    fn additional_properties(
        &mut self,
        schema: &JSONSchemaProps,
        around: Around<'_>,
        at: &Place<'_>,
    ) {
        let Some(additional) = schema.additional_properties.as_deref() else {
            return;
        };
        let restricts = !additional.allows || additional.schema.is_some();
        if !schema.properties.is_empty() && restricts {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.of_schema.forbid(at, "additionalProperties", detail);
        }
        let Some(schema) = additional.schema.as_deref() else {
            return;
        };
        let forbidden = Some(ForbiddenDefaults::InAdditionalProperties);
        let forbidden = forbidden.filter(|_| around.is_in_metadata);
        let site = below(around, schema, RuleStep::AdditionalProperties);
        let around = Around {
            forbidden_defaults: forbidden.or(around.forbidden_defaults),
            site: site.as_ref(),
            ..around
        };
        self.check(
            schema,
            around,
            false,
            &Place::Child(at, "additionalProperties"),
        );
    }

    fn properties(
        &mut self,
        schema: &JSONSchemaProps,
        around: Around<'_>,
        is_root: bool,
        at: &Place<'_>,
    ) {
        let map_type = schema.x_kubernetes_map_type.as_deref();
        let is_other = !matches!(map_type, None | Some("granular" | "atomic"));
        let uncorrelated = around.uncorrelated.or_else(|| is_other.then_some(at));
        let around = Around {
            uncorrelated,
            ..around
        };
        let properties = Place::Child(at, "properties");
        for (name, property) in &schema.properties {
            let mut around = around;
            let is_resource = is_root || schema.x_kubernetes_embedded_resource;
            if is_resource && META_FIELDS.contains(&name.as_str()) {
                around.is_in_metadata = true;
                if is_root {
                    around.forbidden_defaults = Some(ForbiddenDefaults::InTopLevel(name));
                }
            }
            let site = below(around, property, RuleStep::Property(name));
            let around = Around {
                site: site.as_ref(),
                ..around
            };
            self.check(property, around, false, &Place::Key(&properties, name));
        }
    }

    fn junctors(&mut self, schema: &JSONSchemaProps, around: Around<'_>, at: &Place<'_>) {
        let around = without_rules(around);
        if let Some(not) = schema.not.as_deref() {
            self.check(not, around, false, &Place::Child(at, "not"));
        }
        for (name, junctor) in [
            ("allOf", &schema.all_of),
            ("oneOf", &schema.one_of),
            ("anyOf", &schema.any_of),
        ] {
            let at = Place::Child(at, name);
            for (index, schema) in junctor.iter().enumerate() {
                self.check(schema, around, false, &Place::Index(&at, index));
            }
        }
        let at = Place::Child(at, "definitions");
        for (name, schema) in &schema.definitions {
            self.check(schema, around, false, &Place::Key(&at, name));
        }
    }

    fn items(&mut self, schema: &JSONSchemaProps, around: Around<'_>, at: &Place<'_>) {
        let Some(of_items) = schema.items.as_deref() else {
            return;
        };
        // Items correlate only in lists of type map.
        let is_map = schema.x_kubernetes_list_type.as_deref() == Some("map");
        let around = Around {
            uncorrelated: around.uncorrelated.or_else(|| (!is_map).then_some(at)),
            ..around
        };
        let items = Place::Child(at, "items");
        if let Some(schema) = of_items.schema.as_deref() {
            let site = below(around, schema, RuleStep::Items);
            let around = Around {
                site: site.as_ref(),
                ..around
            };
            self.check(schema, around, false, &items);
        }
        // A list of schemas is an error, so rules in it are not compiled.
        let around = without_rules(around);
        for (index, schema) in of_items.json_schemas.iter().enumerate() {
            self.check(schema, around, false, &Place::Index(&items, index));
        }
    }

    /// Checks the texts of rules, and compiles them if there is no error here or below; `count` is
    /// the number of errors before this schema.
    fn rules(
        &mut self,
        schema: &JSONSchemaProps,
        around: Around<'_>,
        count: usize,
        at: &Place<'_>,
    ) {
        if schema.x_kubernetes_validations.is_empty() {
            return;
        }
        let rules = Place::Child(at, "x-kubernetes-validations");
        let paths = Paths::of(schema);
        for (index, rule) in schema.x_kubernetes_validations.iter().enumerate() {
            self.rule_texts(&paths, rule, &Place::Index(&rules, index));
        }
        if self.of_schema.len() > count {
            return;
        }
        if let (Some(site), Some(checker)) = (around.site, self.rules.as_deref_mut()) {
            let uncorrelated: Option<FieldPath> = around.uncorrelated.map(Place::path);
            let errors = checker.check_rules(site, &at.path(), uncorrelated.as_ref());
            self.of_rules.extend(errors);
        }
    }

    fn rule_texts(&mut self, paths: &Paths<'_>, rule: &ValidationRule, at: &Place<'_>) {
        let (text, message) = (rule.rule.trim(), rule.message.trim());
        let has_newline = |text: &str| text.contains(['\n', '\r']);
        if text.is_empty() {
            self.of_schema.require(at, "rule", "rule is not specified");
        } else if has_newline(text) && rule.message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            self.of_schema.require(at, "message", detail);
        } else {
            for (is_wrong, detail) in [
                (!rule.message.is_empty() && message.is_empty(), EMPTY),
                (has_newline(message), LINES),
            ] {
                if is_wrong {
                    self.of_schema.add_child(at, "message", |path| {
                        FieldError::invalid(path, &rule.message, detail)
                    });
                }
            }
        }
        let expression = &rule.message_expression;
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            self.of_schema.require(at, "messageExpression", detail);
        }
        if let Some(reason) = rule.reason.as_ref()
            && !REASONS.contains(&reason.as_str())
        {
            self.of_schema.add_child(at, "reason", |path| {
                FieldError::not_supported(path, BadValue::from(reason), &REASONS)
            });
        }
        let path = &rule.field_path;
        if path.is_empty() {
            return;
        }
        for (is_wrong, detail) in [
            (path.trim().is_empty(), EMPTY),
            (has_newline(path), LINES),
            (!paths.is_valid(path), "must be a valid path"),
        ] {
            if is_wrong {
                self.of_schema
                    .add_child(at, "fieldPath", |at| FieldError::invalid(at, path, detail));
            }
        }
    }
}

/// Returns the site of a schema below another one, if rules are compiled there.
fn below<'a>(
    around: Around<'a>,
    schema: &'a JSONSchemaProps,
    step: RuleStep<'a>,
) -> Option<RuleSite<'a>> {
    around.site.map(|parent| RuleSite {
        schema,
        parent: Some(parent),
        step,
    })
}

fn without_rules(around: Around<'_>) -> Around<'_> {
    Around {
        site: None,
        ..around
    }
}

/// Returns, for each keyword that is not supported: whether it is used, its name, and the text of
/// the error.
fn unsupported(schema: &JSONSchemaProps) -> [(bool, &'static str, &'static str); 8] {
    let items = schema.items.as_deref();
    [
        (!schema.id.is_empty(), "id", "id is not supported"),
        (
            schema.additional_items.is_some(),
            "additionalItems",
            "additionalItems is not supported",
        ),
        (
            !schema.pattern_properties.is_empty(),
            "patternProperties",
            "patternProperties is not supported",
        ),
        (
            !schema.definitions.is_empty(),
            "definitions",
            "definitions is not supported",
        ),
        (
            !schema.dependencies.is_empty(),
            "dependencies",
            "dependencies is not supported",
        ),
        (schema.ref_path.is_some(), "$ref", "$ref is not supported"),
        (
            schema.type_ == "null",
            "type",
            "type cannot be set to null, use nullable as an alternative",
        ),
        (
            items.is_some_and(|it| !it.json_schemas.is_empty()),
            "items",
            "items must be a schema object and not an array",
        ),
    ]
}
