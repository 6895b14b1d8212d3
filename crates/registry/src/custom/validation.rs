//! Validation of custom objects by the schema of their version, in upstream's order: the schema,
//! the scale, embedded resources, lists that are sets or maps, CEL rules.

use crate::custom::pipeline::Pipeline;
use crate::custom::scale::ScalePaths;
use kubist_apimachinery::wire::{Message as _, to_json, to_json_value};
use kubist_apimachinery::{CustomObject, FieldError, FieldPath};
use kubist_schema::{
    RuleErrors, Schema, Steps, blocked_rules, validate, validate_embedded, validate_list_types,
    validate_list_types_update, validate_rules, validate_update,
};
use serde_json::Value;

/// The field that has a subresource of its own.
const STATUS: &str = "status";

/// Validates the objects of one version. The errors that are `known` are those of the metadata:
/// with some of them, rules are not evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Validation {
    pub(crate) pipeline: Pipeline,
    pub(crate) scale: Option<ScalePaths>,
}

impl Validation {
    /// Validates a new object.
    pub(crate) fn create(&self, new: &CustomObject, known: &[FieldError]) -> Vec<FieldError> {
        let schema = self.pipeline.schema();
        let tree = schema.map(|_| whole(new));
        let mut errors = Vec::new();
        if let (Some(schema), Some(tree)) = (schema, &tree) {
            errors.extend(validate(
                tree,
                schema,
                &FieldPath::ROOT,
                &mut Steps::default(),
            ));
        }
        errors.extend(self.scale_errors(new, ScalePaths::check_spec));
        if let Some(schema) = schema {
            errors.extend(validate_embedded(new.content(), schema, &FieldPath::ROOT));
            errors.extend(validate_list_types(new.content(), schema, &FieldPath::ROOT));
        }
        if let Some(tree) = &tree {
            return self.rules(errors, known, tree, None).errors;
        }
        errors
    }

    /// Validates an update. Errors in what does not change pass.
    pub(crate) fn update(
        &self,
        new: &CustomObject,
        old: &CustomObject,
        known: &[FieldError],
    ) -> RuleErrors {
        let schema = self.pipeline.schema();
        let trees = schema.map(|_| (whole(new), whole(old)));
        let mut errors = Vec::new();
        if let (Some(schema), Some(trees)) = (schema, &trees) {
            let steps = &mut Steps::default();
            errors.extend(validate_update(
                &trees.0,
                &trees.1,
                schema,
                &FieldPath::ROOT,
                steps,
            ));
        }
        errors.extend(self.scale_errors(new, ScalePaths::check_spec));
        if let Some(schema) = schema {
            errors.extend(validate_embedded(new.content(), schema, &FieldPath::ROOT));
            errors.extend(list_type_errors(new, old, schema));
        }
        match &trees {
            Some(trees) => self.rules(errors, known, &trees.0, Some(&trees.1)),
            None => RuleErrors::from(errors),
        }
    }

    /// Validates an update through the `status` subresource.
    pub(crate) fn status_update(
        &self,
        new: &CustomObject,
        old: &CustomObject,
        known: &[FieldError],
    ) -> RuleErrors {
        let schema = self.pipeline.schema();
        let mut errors = Vec::new();
        let of_status = schema.and_then(|it| it.property(STATUS));
        if let (Some(schema), Some(status)) = (of_status, new.content().get(STATUS)) {
            let before = old.content().get(STATUS).unwrap_or(&Value::Null);
            let (path, steps) = (FieldPath::new(STATUS), &mut Steps::default());
            errors.extend(validate_update(status, before, schema, &path, steps));
        }
        errors.extend(self.scale_errors(new, ScalePaths::check_status));
        if let Some(schema) = schema {
            errors.extend(list_type_errors(new, old, schema));
        }
        if self.pipeline.rules().is_none() {
            return RuleErrors::from(errors);
        }
        self.rules(errors, known, &whole(new), Some(&whole(old)))
    }

    /// Adds the errors of the CEL rules of a whole object, unless other errors forbid that.
    fn rules(
        &self,
        mut errors: Vec<FieldError>,
        known: &[FieldError],
        new: &Value,
        old: Option<&Value>,
    ) -> RuleErrors {
        let (Some(schema), Some(rules)) = (self.pipeline.schema(), self.pipeline.rules()) else {
            return RuleErrors::from(errors);
        };
        if let Some(error) = blocked_rules(known).or_else(|| blocked_rules(&errors)) {
            errors.push(error);
            return RuleErrors::from(errors);
        }
        let mut found = validate_rules(new, old, schema, rules, &FieldPath::ROOT);
        errors.append(&mut found.errors);
        RuleErrors { errors, ..found }
    }

    fn scale_errors(
        &self,
        object: &CustomObject,
        check: fn(&ScalePaths, &CustomObject) -> Vec<FieldError>,
    ) -> Vec<FieldError> {
        let scale = self.scale.as_ref();
        scale.map_or_else(Vec::new, |paths| check(paths, object))
    }
}

fn list_type_errors(new: &CustomObject, old: &CustomObject, schema: &Schema) -> Vec<FieldError> {
    validate_list_types_update(new.content(), old.content(), schema, &FieldPath::ROOT)
}

/// Returns an object as its schema sees it. Schemas restrict names of the metadata only, so managed
/// fields, which can be most of an object, are one text: it is equal if they are.
fn whole(object: &CustomObject) -> Value {
    let mut tree = object.content().clone();
    if let Some(kind) = &object.schema().kind {
        tree.insert("apiVersion".to_owned(), kind.api_version.into());
        tree.insert("kind".to_owned(), kind.kind.into());
    }
    let mut metadata = object.metadata.clone();
    let managed = std::mem::take(&mut metadata.managed_fields);
    let mut metadata = to_json_value(&metadata);
    if let (false, Value::Object(members)) = (managed.is_empty(), &mut metadata) {
        let text: Vec<u8> = managed.iter().flat_map(|it| to_json(it)).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        members.insert("managedFields".to_owned(), text.into());
    }
    tree.insert("metadata".to_owned(), metadata);
    Value::Object(tree)
}
