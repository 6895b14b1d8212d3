//! Upstream's default flow schemas and priority levels.
//!
//! `bootstrap.jsonl` has an object on each line, as a kube-apiserver v1.36 makes them. They are
//! parsed once.

use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{KubeObject, Status};
use std::sync::LazyLock;

const OBJECTS: &str = include_str!("bootstrap.jsonl");

/// The default objects of a kind, or why there are none.
type Parsed<K> = LazyLock<Result<Vec<K>, String>>;

static SCHEMAS: Parsed<FlowSchema> = LazyLock::new(parsed);
static LEVELS: Parsed<PriorityLevelConfiguration> = LazyLock::new(parsed);

/// A kind with default objects.
pub(crate) trait Defaulted: Wire + KubeObject {
    /// The objects, once they are parsed.
    fn parsed() -> &'static Parsed<Self>;
}

impl Defaulted for FlowSchema {
    fn parsed() -> &'static Parsed<Self> {
        &SCHEMAS
    }
}

impl Defaulted for PriorityLevelConfiguration {
    fn parsed() -> &'static Parsed<Self> {
        &LEVELS
    }
}

/// Returns the default objects of a kind.
///
/// # Errors
/// A line is not an object.
pub(crate) fn of_kind<K: Defaulted>() -> Result<&'static [K], Status> {
    let parsed = K::parsed().as_ref();
    parsed.map(Vec::as_slice).map_err(Status::internal_error)
}

fn parsed<K: Wire + KubeObject>() -> Result<Vec<K>, String> {
    let begin = format!("{{\"kind\":\"{}\",", K::KIND);
    let lines = OBJECTS.lines().filter(|it| it.starts_with(&begin));
    let parsed = lines.map(|it| K::from_json(it.as_bytes(), &mut DecodeContext::new()));
    let failed = |error| format!("a default of flow control: {error}");
    parsed.map(|it| it.map_err(failed)).collect()
}

/// Returns a default object by its name.
pub(crate) fn named<K: Defaulted>(name: &str) -> Option<&'static K> {
    let mut all = of_kind::<K>().ok()?.iter();
    all.find(|it| *it.metadata().name == *name)
}

/// The objects whose spec nobody may change.
pub(crate) fn is_mandatory(name: &str) -> bool {
    matches!(name, "exempt" | "catch-all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_schema_has_its_level() {
        let schemas: &[FlowSchema] = of_kind().expect("they are valid");
        let levels: &[PriorityLevelConfiguration] = of_kind().expect("they are valid");
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
