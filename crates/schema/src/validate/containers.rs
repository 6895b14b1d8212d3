//! Lists and objects: their sizes, and the values in them.

use super::location::At;
use super::outcome::Outcome;
use super::{Validator, rule};
use crate::correlate::Correlation;
use crate::schema::{AdditionalProperties, Schema, ValueRules};
use hashbrown::HashSet;
use kubist_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value};

impl Validator<'_> {
    pub(super) fn list(
        &mut self,
        out: &mut Outcome,
        items: &[Value],
        schema: &Schema,
        at: At<'_>,
        correlation: Option<Correlation<'_>>,
    ) {
        if let Some(of_items) = schema.items.as_deref() {
            let old = correlation.and_then(|it| Some((it, it.old_items()?)));
            for (index, item) in items.iter().enumerate() {
                if self.steps.is_exhausted() {
                    return;
                }
                let of_item = old.as_ref().and_then(|(it, old)| it.item(item, old));
                let part = self.value(item, of_items, At::Item(&at, index), of_item);
                self.merge(out, part);
            }
        }
        let values = schema.values.as_deref();
        let size = size_of(items.len());
        if let Some(min) = rule(values, ValueRules::items_min)
            && size < min
        {
            self.fail(out, at, |path, name| {
                let detail = format!("{name} in body should have at least {min} items");
                (FieldError::invalid(path, size, detail), None)
            });
        }
        if let Some(max) = rule(values, ValueRules::items_max)
            && size > max
        {
            self.fail(out, at, |path, name| {
                let text = format!("{name} in body should have at most {max} items");
                (too_many(path, size, max), Some(text))
            });
        }
        if values.is_some_and(|it| it.has_unique_items) && has_duplicates(items) {
            self.fail(out, at, |path, name| {
                let detail = format!("{name} in body shouldn't contain duplicates");
                (FieldError::invalid(path, "", detail), None)
            });
        }
    }

    pub(super) fn object(
        &mut self,
        out: &mut Outcome,
        members: &Map<String, Value>,
        schema: &Schema,
        at: At<'_>,
        correlation: Option<Correlation<'_>>,
    ) {
        self.properties_count(out, members, schema, at);
        match &schema.additional_properties {
            Some(AdditionalProperties::Bool(false)) => {
                for key in members.keys().filter(|it| schema.property(it).is_none()) {
                    self.fail(out, at, |path, name| {
                        let detail = format!("{name}.{key} in body is a forbidden property");
                        (FieldError::invalid(path, key, detail), None)
                    });
                }
            }
            Some(AdditionalProperties::Schema(additional)) => {
                for (key, member) in members {
                    if schema.property(key).is_none() && !self.steps.is_exhausted() {
                        let at = (at, At::Member(&at, key));
                        self.member(out, (key, member), additional, at, correlation);
                    }
                }
            }
            _ => {}
        }
        self.properties(out, members, schema, at, correlation);
        let required = schema.values.as_deref().map(|it| &*it.required);
        for key in required.unwrap_or_default() {
            if !members.contains_key(key.as_str()) {
                self.fail(out, At::Member(&at, key), |path, name| {
                    let text = format!("{name} in body is required");
                    (FieldError::required(path, ""), Some(text))
                });
            }
        }
    }

    fn properties_count(
        &mut self,
        out: &mut Outcome,
        members: &Map<String, Value>,
        schema: &Schema,
        at: At<'_>,
    ) {
        let values = schema.values.as_deref();
        let size = size_of(members.len());
        if let Some(min) = rule(values, ValueRules::properties_min)
            && size < min
        {
            self.fail(out, at, |path, name| {
                let detail = format!("{name} in body should have at least {min} properties");
                (FieldError::invalid(path, size, detail), None)
            });
        }
        if let Some(max) = rule(values, ValueRules::properties_max)
            && size > max
        {
            self.fail(out, at, |path, name| {
                let text = format!("{name} in body should have at most {max} properties");
                (too_many(path, size, max), Some(text))
            });
        }
    }

    fn properties(
        &mut self,
        out: &mut Outcome,
        members: &Map<String, Value>,
        schema: &Schema,
        at: At<'_>,
        correlation: Option<Correlation<'_>>,
    ) {
        // Both are in order; the shorter of them decides how long this takes.
        if schema.properties.len() <= members.len() {
            for (name, property) in schema.properties() {
                if let Some(member) = members.get(name) {
                    let at = (at, At::Property(&at, name));
                    self.member(out, (name, member), property, at, correlation);
                }
            }
        } else {
            for (name, member) in members {
                if let Some(property) = schema.property(name) {
                    let at = (at, At::Property(&at, name));
                    self.member(out, (name, member), property, at, correlation);
                }
            }
        }
    }

    /// Validates a member of the object at the first place, which is at the second one.
    fn member(
        &mut self,
        out: &mut Outcome,
        (name, member): (&str, &Value),
        schema: &Schema,
        (above, at): (At<'_>, At<'_>),
        correlation: Option<Correlation<'_>>,
    ) {
        // A change of the version is not visible: both values were converted to the same one.
        let is_type = above.is_root() && matches!(name, "kind" | "apiVersion");
        let correlation = correlation.filter(|_| !is_type);
        let of_member = correlation.and_then(|it| it.member(name));
        let part = self.value(member, schema, at, of_member);
        self.merge(out, part);
    }
}

fn size_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Returns the error of too many items or properties. A negative maximum is not shown.
fn too_many(path: &FieldPath, size: i64, max: i64) -> FieldError {
    let size = usize::try_from(size).ok();
    if let Ok(max) = usize::try_from(max) {
        return FieldError::too_many(path, size, max);
    }
    let mut error = FieldError::too_many(path, size, 0);
    error.detail = "has too many items".into();
    error
}

fn has_duplicates(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    // The text of a number tells its type.
    items.iter().any(|it| !seen.insert(it.to_string()))
}
