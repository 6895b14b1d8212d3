//! `Predicate`: the selectors of a list or a watch, against one object at a time.
//!
//! Names come from the key and labels from the scanned metadata, so an object is decoded only for
//! fields beyond those.

mod field_rules;

use crate::strategy::ALWAYS_SELECTABLE;
use crate::{Stored, Strategy};
use field_rules::FieldRules;
use kubist_apimachinery::{FieldSelector, LabelMatcher, Selector, Status};
use std::sync::Arc;

/// Label and field selectors of one resource.
#[derive(Clone, Debug)]
pub struct Predicate {
    labels: Selector,
    fields: FieldSelector,
    /// The same, ready for many objects.
    ready: Arc<Ready>,
    strategy: Arc<dyn Strategy>,
}

#[derive(Debug, Default)]
struct Ready {
    /// None for selectors so short that looking up each key costs less than looking at all labels.
    labels: Option<LabelMatcher>,
    fields: FieldRules,
}

/// Requirements and values of a short selector.
const SHORT_MAX: usize = 16;

impl Ready {
    fn new(labels: &Selector, fields: &FieldSelector) -> Self {
        let requirements = labels.requirements().iter();
        let length: usize = requirements.map(|it| 1 + it.values().len()).sum();
        Self {
            labels: (length > SHORT_MAX).then(|| labels.matcher()),
            fields: FieldRules::new(fields),
        }
    }
}

impl Predicate {
    /// The selectors, if the kind has those fields. 400 if not.
    pub fn new(
        labels: Selector,
        fields: FieldSelector,
        strategy: Arc<dyn Strategy>,
    ) -> Result<Self, Status> {
        let more = strategy.selectable_fields();
        for term in fields.terms() {
            let field = term.field.as_str();
            if ALWAYS_SELECTABLE.contains(&field) || more.contains(&field) {
                continue;
            }
            let message = if more.is_empty() {
                let [name, namespace] = ALWAYS_SELECTABLE;
                format!("{field:?} is not a known field selector: only {name:?}, {namespace:?}")
            } else {
                format!("field label not supported: {field}")
            };
            return Err(Status::bad_request(message));
        }
        Ok(Self {
            ready: Arc::new(Ready::new(&labels, &fields)),
            labels,
            fields,
            strategy,
        })
    }

    /// Selects everything.
    pub fn everything(strategy: Arc<dyn Strategy>) -> Self {
        Self {
            labels: Selector::everything(),
            fields: FieldSelector::everything(),
            ready: Arc::default(),
            strategy,
        }
    }

    /// The value that every selected object has in a field, if the selectors ask for one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.fields.exact(field)
    }

    /// What is special about the kind that they are for.
    pub(crate) fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Whether everything is selected.
    pub fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// The name that every selected object has, if the selectors ask for one.
    pub fn name(&self) -> Option<&str> {
        self.fields.exact("metadata.name")
    }

    /// Whether nothing but one name is asked for: whatever is under a key of that name is selected.
    pub(crate) fn is_a_name(&self) -> bool {
        match self.fields.terms() {
            [term] => term.field == "metadata.name" && !term.negated && self.labels.is_everything(),
            _ => false,
        }
    }

    /// The namespace that every selected object has, if the selectors ask for one.
    pub fn namespace(&self) -> Option<&str> {
        self.fields.exact("metadata.namespace")
    }

    /// Whether an object is selected. An object that cannot be read is not.
    pub fn matches(&self, stored: &Stored, namespace: &str, name: &str) -> bool {
        if !self.labels.is_everything() {
            let matched = stored.with_labels(|_, labels| match &self.ready.labels {
                None => self.labels.matches(|key| labels.get(key)),
                Some(matcher) => matcher.matches(labels.iter()),
            });
            if !matched.unwrap_or(false) {
                return false;
            }
        }
        self.ready
            .fields
            .iter()
            .all(|rule| match rule.field.as_str() {
                "metadata.name" => rule.matches(name),
                "metadata.namespace" => rule.matches(namespace),
                field => match stored.object() {
                    Ok(object) => rule.matches(&self.strategy.field(&**object, field)),
                    Err(_) => false,
                },
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlainStrategy;
    use kubist_api::core::v1::Pod;

    fn predicate(labels: &str, fields: &str) -> Result<Predicate, Status> {
        let strategy = PlainStrategy {
            fields: &["spec.nodeName"],
            ..PlainStrategy::default()
        };
        let labels = labels.parse().expect("the selector is valid");
        let fields = fields.parse().expect("the selector is valid");
        Predicate::new(labels, fields, Arc::new(strategy))
    }

    fn pod() -> Stored {
        let mut pod = Pod::default();
        pod.metadata.name = "p".into();
        pod.metadata.labels.insert("app".into(), "web".into());
        pod.spec.node_name = "n1".into();
        let kind = kubist_api::find_kind("", "v1", "Pod").expect("pods are built in");
        let stored = Stored::from_object(kind, 0, Box::new(pod));
        Stored::from_raw(kind, 5, stored.raw().expect("it encodes").to_vec().into())
    }

    #[test]
    fn labels_names_and_fields_select() {
        for (labels, fields, expected) in [
            ("", "", true),
            ("app=web", "", true),
            ("app!=web", "", false),
            ("!other", "metadata.name=p", true),
            ("", "metadata.name!=p", false),
            ("", "metadata.namespace=ns,spec.nodeName=n1", true),
            ("app", "spec.nodeName!=n1", false),
            ("app", "spec.nodeName=", false),
        ] {
            let predicate = predicate(labels, fields).expect("the fields are known");
            assert_eq!(
                predicate.matches(&pod(), "ns", "p"),
                expected,
                "{labels} {fields}"
            );
        }
    }

    #[test]
    fn unknown_fields_are_refused() {
        let status = predicate("", "spec.none=x").expect_err("there is no such field");
        assert_eq!(
            (status.code, &*status.message),
            (400, "field label not supported: spec.none")
        );
    }
}
