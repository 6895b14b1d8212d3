//! `Plan`: a sequence under construction.

use crate::area::Area;
use crate::catalogue::{Catalogue, Kind};
use crate::memory::encoded_around_references;
use crate::mutation;
use crate::random::Random;
use crate::step::{Body, Edit, Step};
use serde_json::{Value, json};

/// An object that an earlier step creates. The request may have failed.
#[derive(Clone, Debug)]
pub(crate) struct Made<'a> {
    pub(crate) kind: &'a Kind,
    /// The step that creates it.
    pub(crate) step: usize,
    pub(crate) name: String,
    pub(crate) path: String,
    /// As it was sent.
    pub(crate) object: Value,
}

/// A sequence under construction.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) random: Random,
    pub(crate) area: Area,
    pub(crate) steps: Vec<Step>,
    pub(crate) made: Vec<Made<'a>>,
    /// Collections and objects to read at the end.
    touched: Vec<String>,
    names: usize,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, random: Random, area: Area) -> Self {
        Self {
            catalogue,
            random,
            area,
            steps: Vec::new(),
            made: Vec::new(),
            touched: Vec::new(),
            names: 0,
        }
    }

    /// A request that is not added yet.
    pub(crate) fn step(&self, method: &'static str, path: impl Into<String>) -> Step {
        Step::new(self.steps.len(), self.area, method, path)
    }

    /// Adds a step and returns its number.
    pub(crate) fn push(&mut self, step: Step) -> usize {
        let id = step.id;
        self.steps.push(step);
        id
    }

    /// Reads this path at the end of the sequence.
    pub(crate) fn touch(&mut self, path: &str) {
        if !self.touched.iter().any(|it| it == path) {
            self.touched.push(path.to_owned());
        }
    }

    /// Adds the reads at the end.
    pub(crate) fn finish(mut self) -> Vec<Step> {
        for path in std::mem::take(&mut self.touched) {
            let step = self.step("GET", path);
            self.push(step);
        }
        self.steps
    }

    /// Returns a name that no other object of the sequence has.
    pub(crate) fn next_name(&mut self, kind: &Kind) -> String {
        self.names += 1;
        kind.name(self.names)
    }

    /// Returns a valid object of a kind, with a new name.
    pub(crate) fn object(&mut self, kind: &Kind) -> Value {
        let name = self.next_name(kind);
        kind.object(&name, &mut self.random)
    }

    /// Creates an object of a kind.
    pub(crate) fn create(&mut self, kind: &'a Kind) -> Made<'a> {
        let object = self.object(kind);
        self.create_object(kind, object, false)
    }

    /// Creates this object, perhaps with options.
    pub(crate) fn create_object(
        &mut self,
        kind: &'a Kind,
        object: Value,
        may_have_options: bool,
    ) -> Made<'a> {
        let mut step = self.step("POST", kind.collection()).json(object.clone());
        if may_have_options {
            step = self.with_write_options(step);
        }
        let id = self.push(step);
        let name = match object["metadata"]["name"].as_str() {
            Some(name) => name.to_owned(),
            None => format!("{{{{{id}.name}}}}"),
        };
        let in_path = encoded_around_references(&name);
        let path = format!("{}/{in_path}", kind.collection());
        if kind.is_namespaced {
            self.touch(&kind.collection());
        } else {
            self.touch(&path);
        }
        let made = Made {
            kind,
            step: id,
            name,
            path,
            object,
        };
        self.made.push(made.clone());
        made
    }

    /// Returns an earlier object, or creates one of any kind.
    pub(crate) fn some(&mut self) -> Made<'a> {
        if !self.made.is_empty() && self.random.percent(85) {
            let number = self.random.below(self.made.len());
            return self.made[number].clone();
        }
        let kind = self.catalogue.any(&mut self.random);
        self.create(kind)
    }

    /// Returns an earlier object of a kind, or creates one.
    pub(crate) fn some_of(&mut self, plural: &str) -> Made<'a> {
        let kind = self.catalogue.kind(plural);
        let of_kind = |made: &&Made<'a>| made.kind.plural == plural;
        let made: Vec<Made<'a>> = self.made.iter().filter(of_kind).cloned().collect();
        if made.is_empty() || self.random.percent(20) {
            return self.create(kind);
        }
        self.random.pick(&made).clone()
    }

    /// Returns a few mutations of an object of this form.
    pub(crate) fn edits(&mut self, object: &Value) -> Vec<Edit> {
        let count = 1 + self.random.below(2);
        let edit = |_| mutation::edit(object, self.catalogue, &mut self.random);
        (0..count).map(edit).collect()
    }

    /// Returns an edit of the object that each server returned on creation.
    pub(crate) fn changed(&mut self, made: &Made<'_>) -> Body {
        let edits = self.edits(&made.object);
        Body::Answer {
            step: made.step,
            edits,
        }
    }

    /// Adds a write, perhaps with options, which may be invalid.
    pub(crate) fn with_write_options(&mut self, mut step: Step) -> Step {
        let long = "m".repeat(129);
        let long = long.as_str();
        let options: [(&str, &str); 17] = [
            ("dryRun", "All"),
            ("dryRun", "All"),
            ("dryRun", "some"),
            ("dryRun", ""),
            ("fieldValidation", "Strict"),
            ("fieldValidation", "Strict"),
            ("fieldValidation", "Warn"),
            ("fieldValidation", "Ignore"),
            ("fieldValidation", "strict"),
            ("fieldManager", "me"),
            ("fieldManager", long),
            ("fieldManager", "un\u{7}printable"),
            ("pretty", "true"),
            ("pretty", "x"),
            ("force", "true"),
            ("unknownOption", "1"),
            ("timeout", "nonsense"),
        ];
        for share in [35, 10] {
            if self.random.percent(share) {
                let (name, value) = *self.random.pick(&options);
                step = step.query(name, value);
            }
        }
        step
    }

    /// Returns `DeleteOptions` with these fields.
    pub(crate) fn delete_options(fields: &Value) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        if let (Some(to), Some(from)) = (options.as_object_mut(), fields.as_object()) {
            to.extend(from.clone());
        }
        options
    }
}
