//! `Surrounding`: the object around a default, so that metadata rules can be applied to it.

use serde_json::{Map, Value};

/// The steps from an object to a value in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Surrounding(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Item,
}

impl Surrounding {
    pub(super) fn member(&self, name: &str) -> Self {
        self.below(Step::Member(name.to_owned()))
    }

    pub(super) fn item(&self) -> Self {
        self.below(Step::Item)
    }

    fn below(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Returns an object with the value in its place; none if the object itself would not be one.
    pub(super) fn around(&self, value: Value) -> Option<Map<String, Value>> {
        let mut value = value;
        for step in self.0.iter().rev() {
            value = match step {
                Step::Member(name) => Map::from_iter([(name.clone(), value)]).into(),
                Step::Item => vec![value].into(),
            };
        }
        match value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Takes the value out of its place; none if it is no longer there.
    ///
    /// # Errors
    /// Something around it has another type, as upstream's text says.
    pub(super) fn take(&self, object: Map<String, Value>) -> Result<Option<Value>, String> {
        let mut value = Value::Object(object);
        for step in &self.0 {
            let next = match (step, value) {
                (Step::Member(name), Value::Object(mut members)) => members.remove(name),
                (Step::Item, Value::Array(items)) => items.into_iter().next(),
                (Step::Member(name), _) => return Err(format!(".{name} must be of object type")),
                (Step::Item, _) => return Err("[] must be of array type".to_owned()),
            };
            match next {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}
