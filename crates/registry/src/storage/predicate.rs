//! `Predicate`: label and field selectors, matched against one object at a time.
//!
//! A predicate of a custom resource may come with a conversion: objects are then converted before
//! they are matched, since a conversion can change labels and fields.
//!
//! Names come from the key and labels from the scanned metadata, so an object is decoded only for
//! other fields.

mod field_rules;
pub(crate) mod wanted;

use crate::storage::convert::ConvertStored;
use crate::stored::Stored;
use crate::strategy::{ALWAYS_SELECTABLE, Strategy};
use field_rules::FieldRules;
use kubist_apimachinery::{FieldSelector, LabelMatcher, Operator, Selector, Status, Str};
use std::sync::Arc;
use wanted::{Origin, Wanted};

/// Label and field selectors of one resource. Clones share them.
#[derive(Clone, Debug)]
pub struct Predicate {
    ready: Arc<Ready>,
    strategy: Arc<dyn Strategy>,
    conversion: Option<Arc<dyn ConvertStored>>,
}

/// The selectors in the most compact and fastest form: each watch holds one.
#[derive(Debug, Default)]
struct Ready {
    labels: Labels,
    fields: FieldRules,
    /// The cost of a match beside the scan of the object, in equivalent scanned bytes.
    cost: usize,
}

#[derive(Debug, Default)]
enum Labels {
    #[default]
    All,
    /// So short that a lookup of each key costs less than a scan of all labels.
    Short(Selector),
    /// The selector is kept unless it is so long that no index helps.
    Long(LabelMatcher, Option<Box<Selector>>),
}

/// The maximum of requirements and values of a short selector.
const SHORT_MAX: usize = 16;
/// The maximum of requirements and values that are looked up in an index.
const INDEXED_MAX: usize = 256;
/// The cost of one requirement, in equivalent scanned bytes.
const REQUIREMENT: usize = 32;

impl Ready {
    fn new(labels: Selector, fields: &FieldSelector) -> Self {
        let requirements = labels.requirements().iter();
        let length: usize = requirements.map(|it| 1 + it.values().len()).sum();
        let labels = if labels.is_everything() {
            Labels::All
        } else if length > SHORT_MAX {
            Labels::Long(
                labels.matcher(),
                (length <= INDEXED_MAX).then(|| Box::new(labels)),
            )
        } else {
            Labels::Short(labels)
        };
        let fields = FieldRules::new(fields);
        // In a longer selector, only requirements on the object's own labels are tested.
        let tried = length.min(SHORT_MAX) + fields.iter().count();
        Self {
            labels,
            fields,
            cost: tried * REQUIREMENT,
        }
    }
}

impl Predicate {
    /// Creates a predicate. 400 if a field is not selectable for the kind.
    pub fn new(
        labels: Selector,
        fields: FieldSelector,
        strategy: Arc<dyn Strategy>,
    ) -> Result<Self, Status> {
        let more = strategy.facts().selectable_fields;
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
            ready: Arc::new(Ready::new(labels, &fields)),
            strategy,
            conversion: None,
        })
    }

    /// Creates a predicate that selects everything.
    pub fn everything(strategy: Arc<dyn Strategy>) -> Self {
        Self {
            ready: Arc::default(),
            strategy,
            conversion: None,
        }
    }

    /// Sets that objects are converted before they are matched.
    #[must_use]
    pub(crate) fn after(mut self, conversion: Arc<dyn ConvertStored>) -> Self {
        self.conversion = Some(conversion);
        self
    }

    /// Returns the conversion of objects before they are matched.
    pub(crate) fn conversion(&self) -> Option<&Arc<dyn ConvertStored>> {
        self.conversion.as_ref()
    }

    /// Returns the value that the selectors require for a field, if any.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.ready.fields.exact(field)
    }

    /// Returns the strategy of the kind.
    pub(crate) fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Reports whether everything is selected.
    pub fn is_everything(&self) -> bool {
        matches!(self.ready.labels, Labels::All) && self.ready.fields.is_empty()
    }

    /// Returns the cost of a match beside the scan of the object, in equivalent scanned bytes.
    pub(crate) fn cost(&self) -> usize {
        self.ready.cost
    }

    /// Returns the name that the selectors require, if any.
    pub fn name(&self) -> Option<&str> {
        self.exact("metadata.name")
    }

    /// Reports whether the only condition is one name, so that any object under a key of that name
    /// matches.
    pub(crate) fn is_a_name(&self) -> bool {
        matches!(self.ready.labels, Labels::All) && self.ready.fields.is_one_value("metadata.name")
    }

    /// Returns what the selectors require, as far as an index can find it. `has_field`: the fields
    /// that the index has.
    pub(crate) fn wanted(&self, has_field: impl Fn(&str) -> bool) -> Vec<Wanted<'_, Str>> {
        let selector = match &self.ready.labels {
            Labels::All | Labels::Long(_, None) => None,
            Labels::Short(selector) => Some(selector),
            Labels::Long(_, selector) => selector.as_deref(),
        };
        let requirements = selector.into_iter().flat_map(Selector::requirements);
        let labels = requirements.filter_map(|it| {
            let values = match it.operator() {
                Operator::Equals | Operator::DoubleEquals | Operator::In => Some(it.values()),
                // A label that does not exist is neither greater nor less.
                Operator::Exists | Operator::GreaterThan | Operator::LessThan => None,
                Operator::NotEquals | Operator::NotIn | Operator::DoesNotExist => return None,
            };
            Some(Wanted {
                origin: Origin::Label,
                name: it.key(),
                values,
            })
        });
        let fields = self.ready.fields.iter().filter_map(|rule| {
            let value = rule.equal().filter(|_| has_field(&rule.field))?;
            Some(Wanted {
                origin: Origin::Field,
                name: &rule.field,
                values: Some(std::slice::from_ref(value)),
            })
        });
        labels.chain(fields).collect()
    }

    /// Returns the namespace that the selectors require, if any.
    pub fn namespace(&self) -> Option<&str> {
        self.exact("metadata.namespace")
    }

    /// Reports whether an object matches. An object that cannot be decoded does not.
    pub fn matches(&self, stored: &Stored, namespace: &str, name: &str) -> bool {
        let matched = match &self.ready.labels {
            Labels::All => Ok(true),
            Labels::Short(selector) => {
                stored.with_labels(|_, labels| selector.matches(|key| labels.get(key)))
            }
            Labels::Long(matcher, _) => {
                stored.with_labels(|_, labels| matcher.matches(labels.iter()))
            }
        };
        if !matched.unwrap_or(false) {
            return false;
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
    use crate::stored::scheme::StoredKind;
    use crate::strategy::PlainStrategy;
    use crate::strategy::facts::StrategyFacts;
    use kubist_api::core::v1::Pod;

    fn predicate(labels: &str, fields: &str) -> Result<Predicate, Status> {
        let strategy = PlainStrategy(StrategyFacts {
            selectable_fields: &["spec.nodeName"],
            ..StrategyFacts::PLAIN
        });
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
        let kind = StoredKind::plain(kind);
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
