//! `merge_definitions`: one definition of several versions.

use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::Str;

/// Definitions cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none.
    #[error("there are no definitions to merge")]
    Empty,
    /// Two definitions are of different kinds.
    #[error("{field} differs: {first:?} and {second:?}; versions of one kind have the same names")]
    Differs {
        /// The field, as in `spec.names.plural`.
        field: &'static str,
        /// The first definition's.
        first: String,
        /// The other definition's.
        second: String,
    },
    /// A version occurs twice.
    #[error("version {version} occurs twice")]
    Repeated {
        /// The version.
        version: Str,
    },
    /// The stored version is not among them.
    #[error("the stored version {stored} is none of {versions:?}")]
    NotStored {
        /// The version that was to be stored.
        stored: String,
        /// All versions.
        versions: Vec<Str>,
    },
}

/// Merges the definitions of the versions of a kind. `stored` is the one storage version, whatever
/// the definitions say; short names, categories, labels and annotations are united. Versions keep
/// their order. With schemas that differ, set `spec.conversion` to a webhook afterwards (see
/// [`Conversions`](crate::Conversions)).
///
/// # Errors
/// They are not versions of one kind, a version occurs twice, or `stored` is none of them.
pub fn merge_definitions(
    definitions: impl IntoIterator<Item = CustomResourceDefinition>,
    stored: &str,
) -> Result<CustomResourceDefinition, MergeError> {
    let mut definitions = definitions.into_iter();
    let mut merged = definitions.next().ok_or(MergeError::Empty)?;
    for other in definitions {
        check_same(&merged, &other)?;
        let names = &mut merged.spec.names;
        unite(&mut names.short_names, other.spec.names.short_names);
        unite(&mut names.categories, other.spec.names.categories);
        for (name, value) in other.metadata.labels {
            merged.metadata.labels.entry(name).or_insert(value);
        }
        for (name, value) in other.metadata.annotations {
            merged.metadata.annotations.entry(name).or_insert(value);
        }
        merged.spec.versions.extend(other.spec.versions);
    }
    let versions: Vec<Str> = merged
        .spec
        .versions
        .iter()
        .map(|it| it.name.clone())
        .collect();
    for (index, version) in versions.iter().enumerate() {
        if versions[..index].contains(version) {
            let version = version.clone();
            return Err(MergeError::Repeated { version });
        }
    }
    if !versions.iter().any(|it| **it == *stored) {
        let stored = stored.to_owned();
        return Err(MergeError::NotStored { stored, versions });
    }
    for version in &mut merged.spec.versions {
        version.storage = *version.name == *stored;
    }
    Ok(merged)
}

fn check_same(
    first: &CustomResourceDefinition,
    second: &CustomResourceDefinition,
) -> Result<(), MergeError> {
    let (one, other) = (&first.spec, &second.spec);
    let fields = [
        ("spec.group", &one.group, &other.group),
        ("spec.scope", &one.scope, &other.scope),
        ("spec.names.plural", &one.names.plural, &other.names.plural),
        (
            "spec.names.singular",
            &one.names.singular,
            &other.names.singular,
        ),
        ("spec.names.kind", &one.names.kind, &other.names.kind),
        (
            "spec.names.listKind",
            &one.names.list_kind,
            &other.names.list_kind,
        ),
    ];
    match fields
        .into_iter()
        .find(|(_, first, second)| first != second)
    {
        None => Ok(()),
        Some((field, first, second)) => {
            let (first, second) = (first.to_string(), second.to_string());
            Err(MergeError::Differs {
                field,
                first,
                second,
            })
        }
    }
}

fn unite(have: &mut Vec<Str>, more: Vec<Str>) {
    for name in more {
        if !have.contains(&name) {
            have.push(name);
        }
    }
}
