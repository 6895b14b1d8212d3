//! PriorityClasses.

use crate::shared::{fill, rules};
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct PriorityClasses;

/// The highest value for user-defined classes.
const VALUE_MAX: i32 = 1_000_000_000;
/// Upstream's own classes.
const SYSTEM: [(&str, i32); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

impl KindStrategy for PriorityClasses {
    type Kind = PriorityClass;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        // The generation stays 1 after updates, as upstream.
        generation: Generation::Custom(|_, _| false),
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut PriorityClass) {
        fill::option(&mut object.preemption_policy, "PreemptLowerPriority");
    }
    fn validate(&self, new: &PriorityClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let name = new.metadata.name.as_str();
        if name.starts_with("system-") {
            let known = SYSTEM.iter().find(|(system, _)| *system == name);
            let problem = match known {
                None => Some(format!("{name} is not a known system priority class")),
                Some((_, value)) if *value != new.value => {
                    Some(format!("value of {name} PriorityClass must be {value}"))
                }
                Some(_) => None,
            };
            if let Some(problem) = problem {
                let detail = format!(
                    "priority class names with 'system-' prefix are reserved for system use \
                     only. error: {problem}"
                );
                let path = FieldPath::new("metadata").child("name");
                errors.push(FieldError::forbidden(&path, detail));
            }
        } else if new.value > VALUE_MAX {
            let detail = format!("maximum allowed value of a user defined priority is {VALUE_MAX}");
            errors.push(FieldError::forbidden(&FieldPath::new("value"), detail));
        }
        if let Some(policy) = &new.preemption_policy {
            let path = FieldPath::new("preemptionPolicy");
            rules::one_of(
                &mut errors,
                policy,
                &["PreemptLowerPriority", "Never"],
                &path,
            );
        }
        errors
    }
    fn validate_update(&self, new: &PriorityClass, old: &PriorityClass) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if new.value != old.value {
            let path = FieldPath::new("value");
            errors.push(FieldError::forbidden(
                &path,
                "may not be changed in an update.",
            ));
        }
        if new.preemption_policy != old.preemption_policy {
            let path = FieldPath::new("preemptionPolicy");
            let shown = new
                .preemption_policy
                .as_ref()
                .map_or_else(BadValue::null, BadValue::json);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
}
