//! The selectors of access reviews, as authorizers see them.
//!
//! As upstream, a requirement that cannot be understood is left out: what remains selects more, so
//! that the review never allows what a request would not be.

use kubist_api::authorization::v1::{FieldSelectorAttributes, LabelSelectorAttributes};
use kubist_apimachinery::{FieldSelector, FieldTerm, Operator, Requirement, Selector};

/// Returns a field selector; none if it selects everything.
pub(super) fn fields(attributes: &FieldSelectorAttributes) -> Option<FieldSelector> {
    if !attributes.raw_selector.is_empty() {
        return attributes.raw_selector.parse().ok();
    }
    let terms = attributes.requirements.iter().filter_map(|it| {
        let [value] = &it.values[..] else { return None };
        let negated = match it.operator.as_str() {
            "In" => false,
            "NotIn" => true,
            _ => return None,
        };
        Some(FieldTerm {
            field: it.key.clone(),
            negated,
            value: value.clone(),
        })
    });
    let selector = FieldSelector::new(terms);
    (!selector.is_everything()).then_some(selector)
}

/// Returns a label selector; none if it selects everything.
pub(super) fn labels(attributes: &LabelSelectorAttributes) -> Option<Selector> {
    if !attributes.raw_selector.is_empty() {
        return attributes.raw_selector.parse().ok();
    }
    let requirements = attributes.requirements.iter().filter_map(|it| {
        let operator = match it.operator.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => return None,
        };
        Requirement::new(it.key.clone(), operator, it.values.iter().cloned()).ok()
    });
    let selector = Selector::new(requirements);
    (!selector.is_everything()).then_some(selector)
}
