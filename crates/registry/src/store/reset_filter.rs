//! `reset_filter`: the field filter of a path, by the fields that its strategy resets.

use crate::strategy::Strategy;
use crate::strategy::facts::StatusKeeps;
use crate::strategy::reset_fields::ResetFields;
use kubist_field_manager::{FieldFilter, PathElement, PathMatcher};

/// Paths of field names.
type Paths = &'static [&'static [&'static str]];

/// Returns the filter of the fields that can have owners after a write through a subresource, or
/// through the object itself if its name is empty; `None` if all can. `strategy` is that of the
/// object, and `has_status` whether its status is a subresource.
///
/// ```
/// use kubist_field_manager::FieldSet;
/// use kubist_registry::{PlainStrategy, reset_filter};
/// let filter = reset_filter(&PlainStrategy::default(), true, "").expect("the status is reset");
/// let fields = FieldSet::from_json(r#"{"f:spec":{},"f:status":{"f:phase":{}}}"#)?;
/// assert_eq!(filter.apply(fields).to_json(), r#"{"f:spec":{}}"#);
/// # Ok::<(), kubist_field_manager::FieldsV1Error>(())
/// ```
pub fn reset_filter(
    strategy: &dyn Strategy,
    has_status: bool,
    subresource: &str,
) -> Option<FieldFilter> {
    let facts = strategy.facts();
    let reset = if subresource.is_empty() {
        facts.reset_fields
    } else {
        let strategy = strategy.subresource(subresource);
        strategy.map_or(ResetFields::ByStore, |it| it.facts().reset_fields)
    };
    match reset {
        ResetFields::ByStore => {
            exclude(reset_by_store(subresource, has_status, facts.status_keeps))
        }
        ResetFields::Paths(paths) => exclude(paths),
        ResetFields::AllBut(prefixes) => Some(include(prefixes)),
    }
}

/// Returns the fields that the store resets for every kind.
fn reset_by_store(subresource: &str, has_status: bool, keeps: StatusKeeps) -> Paths {
    match (subresource, keeps) {
        ("", _) if has_status => &[&["status"]],
        ("status", StatusKeeps::Everything | StatusKeeps::Most) => &[&["metadata"], &["spec"]],
        ("status", StatusKeeps::Labels) => &[&["metadata", "labels"], &["spec"]],
        ("status", StatusKeeps::Owners) => &[
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
            &["spec"],
        ],
        ("status", StatusKeeps::Nothing) => &[&["spec"]],
        _ => &[],
    }
}

fn exclude(paths: Paths) -> Option<FieldFilter> {
    if paths.is_empty() {
        return None;
    }
    let paths: Vec<Vec<PathElement>> = paths.iter().map(|path| elements(path)).collect();
    Some(FieldFilter::exclude(paths.iter().map(Vec::as_slice)))
}

fn elements(path: &[&str]) -> Vec<PathElement> {
    path.iter().map(|name| PathElement::from(*name)).collect()
}

fn include(prefixes: &[&[Option<&str>]]) -> FieldFilter {
    let prefixes = prefixes.iter().map(|prefix| {
        let elements = prefix.iter().map(|name| name.map(PathElement::from));
        elements.collect::<Vec<Option<PathElement>>>()
    });
    let prefixes: Vec<Vec<Option<PathElement>>> = prefixes.collect();
    FieldFilter::Include(PathMatcher::prefixes(prefixes.iter().map(Vec::as_slice)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::PlainStrategy;
    use crate::strategy::facts::StrategyFacts;
    use kubist_field_manager::FieldSet;

    const ALL: &str = r#"{"f:metadata":{"f:labels":{},"f:name":{}},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:resources":{"f:limits":{}}}}},"f:status":{"f:phase":{}}}"#;

    #[track_caller]
    fn check(facts: StrategyFacts, has_status: bool, subresource: &str, expected: &str) {
        let all = FieldSet::from_json(ALL).expect("it is a field set");
        let filter = reset_filter(&PlainStrategy(facts), has_status, subresource);
        let kept = filter.map_or_else(|| all.clone(), |it| it.apply(all.clone()));
        assert_eq!(kept.to_json(), expected);
    }

    #[test]
    fn the_store_resets_the_same_fields_of_most_kinds() {
        let spec = r#""f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:resources":{"f:limits":{}}}}}"#;
        let plain = StrategyFacts::PLAIN;
        let metadata = r#""f:metadata":{"f:labels":{},"f:name":{}}"#;
        check(plain, true, "", &format!("{{{metadata},{spec}}}"));
        check(plain, false, "", ALL);
        check(plain, true, "resize", ALL);
        let status = r#""f:status":{"f:phase":{}}"#;
        let named = format!(r#"{{"f:metadata":{{"f:name":{{}}}},{status}}}"#);
        check(plain, true, "status", &named);
        for (status_keeps, expected) in [
            (StatusKeeps::Everything, format!("{{{status}}}")),
            (StatusKeeps::Nothing, format!("{{{metadata},{status}}}")),
        ] {
            let facts = StrategyFacts {
                status_keeps,
                ..plain
            };
            check(facts, true, "status", &expected);
        }
    }

    #[test]
    fn a_strategy_can_reset_other_fields() {
        let facts = |reset_fields| StrategyFacts {
            reset_fields,
            ..StrategyFacts::PLAIN
        };
        let paths = ResetFields::Paths(&[&["spec"], &["metadata", "name"]]);
        let kept = r#"{"f:metadata":{"f:labels":{}},"f:status":{"f:phase":{}}}"#;
        check(facts(paths), true, "", kept);
        check(facts(ResetFields::Paths(&[])), true, "", ALL);
        let kept = r#"{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:resources":{"f:limits":{}}}}}}"#;
        let pattern =
            ResetFields::AllBut(&[&[Some("spec"), Some("containers"), None, Some("resources")]]);
        check(facts(pattern), true, "", kept);
    }
}
