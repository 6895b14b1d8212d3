//! Upstream's default flow schemas and priority levels.
//!
//! `bootstrap.jsonl` has an object on each line, as a kube-apiserver v1.36 makes them.

use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{KubeObject, Status};

const OBJECTS: &str = include_str!("bootstrap.jsonl");

/// Returns the default objects of a kind.
///
/// # Errors
/// A line is not an object.
pub(crate) fn of_kind<K: Wire + KubeObject>() -> Result<Vec<K>, Status> {
    let begin = format!("{{\"kind\":\"{}\",", K::KIND);
    let lines = OBJECTS.lines().filter(|it| it.starts_with(&begin));
    let parsed = lines.map(|it| K::from_json(it.as_bytes(), &mut DecodeContext::new()));
    let failed = |error| Status::internal_error(format!("a default of flow control: {error}"));
    parsed.map(|it| it.map_err(failed)).collect()
}

/// Returns a default object by its name.
pub(crate) fn named<K: Wire + KubeObject>(name: &str) -> Option<K> {
    let mut all = of_kind::<K>().ok()?.into_iter();
    all.find(|it| *it.metadata().name == *name)
}

/// The objects whose spec nobody may change.
pub(crate) fn is_mandatory(name: &str) -> bool {
    matches!(name, "exempt" | "catch-all")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};

    #[test]
    fn every_default_schema_has_its_level() {
        let schemas: Vec<FlowSchema> = of_kind().expect("they are valid");
        let levels: Vec<PriorityLevelConfiguration> = of_kind().expect("they are valid");
        assert_eq!((schemas.len(), levels.len()), (11, 8));
        for schema in schemas {
            let level = &schema.spec.priority_level_configuration.name;
            assert!(
                levels.iter().any(|it| it.metadata.name == *level),
                "{level}"
            );
        }
    }
}
