//! The resource names of an encryption configuration: `secrets`, `deployments.apps`, `*.apps`, `*.`
//! for the core group, `*.*`.

use super::{ConfigurationProblem, EncryptionConfigurationError, list, text, wrong};
use kubist_apimachinery::{FieldPath, GroupResource};
use serde_json::Value;

const STAR: &str = "*";
/// Resources that upstream stores but does not serve.
const WITHOUT_REST: [&str; 3] = [
    "apiserveripinfo",
    "serviceipallocations",
    "servicenodeportallocations",
];

pub(super) fn read(
    value: Option<&Value>,
    path: &FieldPath,
) -> Result<Vec<GroupResource>, EncryptionConfigurationError> {
    let mut resources: Vec<GroupResource> = Vec::new();
    for (index, item) in list(value, path, "resource")?.iter().enumerate() {
        let path = path.index(index);
        let resource = name(text(Some(item), &path)?).map_err(|problem| wrong(&path, problem))?;
        if resources.contains(&resource) {
            return Err(wrong(&path, ConfigurationProblem::Duplicate));
        }
        resources.push(resource);
    }
    for (index, resource) in resources.iter().enumerate() {
        if masking(&resources, resource).is_some() {
            return Err(wrong(&path.index(index), ConfigurationProblem::Overlap));
        }
    }
    Ok(resources)
}

fn name(text: &str) -> Result<GroupResource, ConfigurationProblem> {
    if text == STAR {
        return Err(ConfigurationProblem::Star);
    }
    if text.chars().any(char::is_uppercase) {
        return Err(ConfigurationProblem::Capitals);
    }
    let (plural, group) = text.split_once('.').unwrap_or((text, ""));
    let partial = |part: &str| part != STAR && part.contains(STAR);
    if plural.is_empty() {
        return Err(ConfigurationProblem::Missing);
    }
    if partial(plural) || partial(group) {
        return Err(ConfigurationProblem::PartialStar);
    }
    match (plural, group) {
        (STAR, STAR) => {}
        (_, STAR) => return Err(ConfigurationProblem::AcrossGroups),
        (_, "events.k8s.io") => return Err(ConfigurationProblem::EventsGroup),
        (_, "extensions") => return Err(ConfigurationProblem::ExtensionsGroup),
        (plural, "") if WITHOUT_REST.contains(&plural) => {
            return Err(ConfigurationProblem::NoRest);
        }
        _ => {}
    }
    Ok(GroupResource::new(group, plural))
}

/// Returns the wildcard rule among `rules` that covers `resource`, if any.
pub(super) fn masking(rules: &[GroupResource], resource: &GroupResource) -> Option<String> {
    let wider = [
        GroupResource::new(resource.group.clone(), STAR),
        GroupResource::new(STAR, STAR),
    ];
    let mut masking = wider.iter().filter(|it| *it != resource);
    let found = masking.find(|it| rules.contains(it))?;
    Some(format!("{}.{}", found.resource, found.group))
}
