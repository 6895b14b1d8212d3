//! Column descriptions, with the texts of upstream's tables.

use kubist_api::{Column, ResourceFacts};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Descriptions by resource and column name. Those under the empty resource are the defaults.
type Texts = BTreeMap<String, BTreeMap<String, String>>;

static TEXTS: LazyLock<Texts> =
    LazyLock::new(|| serde_json::from_str(include_str!("descriptions.json")).unwrap_or_default());

/// Returns the description of a resource's column. Some columns have none.
pub(super) fn of(facts: &ResourceFacts, column: &Column) -> &'static str {
    match facts.group {
        // Both groups have the same objects.
        "" | "events.k8s.io" => text(facts.plural, column.name),
        group => text(&format!("{}.{group}", facts.plural), column.name),
    }
}

/// Returns the description of a column of scales.
pub(super) fn of_scale(column: &Column) -> &'static str {
    text("scales.autoscaling", column.name)
}

/// Returns the default description of a column name.
pub(crate) fn of_any(column: &str) -> &'static str {
    text("", column)
}

fn text(resource: &str, column: &str) -> &'static str {
    let texts = &*TEXTS;
    [resource, ""]
        .iter()
        .find_map(|resource| texts.get(*resource)?.get(column))
        .map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::{SCALE_COLUMNS, column_descriptions, scale_descriptions, table_columns};
    use super::*;
    use kubist_api::GROUPS;
    use std::collections::BTreeSet;

    fn resources() -> impl Iterator<Item = &'static ResourceFacts> {
        GROUPS
            .iter()
            .flat_map(|it| it.versions)
            .flat_map(|it| it.resources)
    }

    #[test]
    fn every_column_has_a_description_except_those_that_upstream_leaves_empty() {
        let mut silent = BTreeSet::new();
        for facts in resources() {
            let (columns, texts) = (table_columns(facts), column_descriptions(facts));
            assert_eq!(columns.len(), texts.len(), "{}", facts.plural);
            let pairs = columns.iter().zip(texts);
            silent.extend(
                pairs
                    .filter(|(_, texts)| texts.is_empty())
                    .map(|(column, _)| (facts.plural, column.name)),
            );
        }
        let expected = [
            ("leasecandidates", "BinaryVersion"),
            ("leasecandidates", "EmulationVersion"),
            ("runtimeclasses", "Handler"),
        ];
        assert_eq!(silent, BTreeSet::from(expected));
        assert!(scale_descriptions().iter().all(|it| !it.is_empty()));
    }

    #[test]
    fn every_description_belongs_to_a_column() {
        let mut columns: BTreeSet<(String, &str)> = SCALE_COLUMNS
            .iter()
            .map(|it| ("scales.autoscaling".to_owned(), it.name))
            .collect();
        for facts in resources() {
            let resource = match facts.group {
                "" => facts.plural.to_owned(),
                group => format!("{}.{group}", facts.plural),
            };
            for column in table_columns(facts) {
                columns.insert((String::new(), column.name));
                columns.insert((resource.clone(), column.name));
            }
        }
        assert!(TEXTS.len() > 50, "{}", TEXTS.len());
        for (resource, texts) in &*TEXTS {
            for (column, text) in texts {
                let key = (resource.clone(), column.as_str());
                assert!(columns.contains(&key), "nothing is {key:?}");
                let double = !resource.is_empty() && text == of_any(column);
                assert!(!double, "{key:?} says what all say");
            }
        }
    }

    #[test]
    fn descriptions_are_upstreams() {
        let pods = resources().find(|it| (it.group, it.plural) == ("", "pods"));
        let texts = column_descriptions(pods.expect("there are Pods"));
        assert!(texts[0].starts_with("Name must be unique within a namespace. "));
        assert_eq!(
            texts[1],
            "The aggregate readiness state of this pod for accepting traffic."
        );
        assert!(texts[4].starts_with("CreationTimestamp is a timestamp"));
        let events = |group: &str| {
            let found = resources().find(|it| (it.group, it.plural) == (group, "events"));
            column_descriptions(found.expect("there are Events"))
        };
        assert_eq!(events(""), events("events.k8s.io"));
        assert_eq!(events("")[3], "The object that this event is about.");
    }
}
