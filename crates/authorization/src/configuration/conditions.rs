//! `MatchConditions`: under which conditions a webhook is asked, in CEL.

use crate::ReviewSpec;
use kubist_cel::declared::{Declared, Field, Kind, ListKind, Object};
use kubist_cel::{Activation, Budget, Environment, Program, Type, Value, Version, admission};
use std::sync::{Arc, LazyLock};

const REQUEST: &str = "request";

/// Conditions that must all be true. None are always.
#[derive(Debug, Default)]
pub struct MatchConditions {
    conditions: Vec<(String, Program)>,
}

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    Environment::new(Version::STORED).extend([(REQUEST, request_type().cel_type())])
});

impl MatchConditions {
    /// Adds a condition.
    ///
    /// # Errors
    /// Upstream's words for why it does not compile.
    pub(super) fn add(&mut self, expression: &str) -> Result<(), String> {
        let program = admission::compile(&ENVIRONMENT, expression, &[Type::Bool])?;
        self.conditions.push((expression.to_owned(), program));
        Ok(())
    }

    /// Reports whether a webhook is to be asked. One false condition decides, whatever the others
    /// are.
    ///
    /// # Errors
    /// A condition fails, and none is false.
    pub fn match_request(&self, spec: &ReviewSpec) -> Result<bool, String> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let request = spec.for_conditions();
        let mut errors: Vec<String> = Vec::new();
        for (text, program) in &self.conditions {
            let activation = Activation::new().bind_result(REQUEST, Value::dynamic(&request));
            match program.evaluate(&activation, Budget::default()).value {
                Ok(Value::Bool(true)) => {}
                Ok(Value::Bool(false)) => return Ok(false),
                Ok(_) => errors.push(format!(
                    "cel evaluation error: expression '{text}' eval result type should be bool"
                )),
                Err(error) => errors.push(format!(
                    "cel evaluation error: expression '{text}' resulted in error: {error}"
                )),
            }
        }
        match &errors[..] {
            [] => Ok(true),
            [only] => Err(only.clone()),
            several => Err(format!("[{}]", several.join(", "))),
        }
    }
}

fn of(kind: Kind) -> Arc<Declared> {
    Arc::new(Declared::new(kind, u64::MAX, 0))
}

fn text() -> Arc<Declared> {
    of(Kind::String)
}

fn list(items: Arc<Declared>) -> Arc<Declared> {
    of(Kind::List(items, ListKind::Atomic))
}

fn object<const N: usize>(name: &str, fields: [(&str, Arc<Declared>); N]) -> Arc<Declared> {
    let fields = fields.map(|(name, declared)| Field::new(name, declared));
    of(Kind::Object(Arc::new(Object::new(name, fields.to_vec()))))
}

fn request_type() -> Arc<Declared> {
    let requirement = object(
        "kubernetes.SelectorRequirement",
        [
            ("key", text()),
            ("operator", text()),
            ("values", list(text())),
        ],
    );
    let selector = |name| {
        let requirements = list(Arc::clone(&requirement));
        object(
            name,
            [("rawSelector", text()), ("requirements", requirements)],
        )
    };
    let resource = object(
        "kubernetes.ResourceAttributes",
        [
            ("namespace", text()),
            ("verb", text()),
            ("group", text()),
            ("version", text()),
            ("resource", text()),
            ("subresource", text()),
            ("name", text()),
            (
                "fieldSelector",
                selector("kubernetes.FieldSelectorAttributes"),
            ),
            (
                "labelSelector",
                selector("kubernetes.LabelSelectorAttributes"),
            ),
        ],
    );
    let path = object(
        "kubernetes.NonResourceAttributes",
        [("path", text()), ("verb", text())],
    );
    object(
        "kubernetes.SubjectAccessReviewSpec",
        [
            ("resourceAttributes", resource),
            ("nonResourceAttributes", path),
            ("user", text()),
            ("groups", list(text())),
            ("extra", of(Kind::Map(list(text())))),
            ("uid", text()),
        ],
    )
}
