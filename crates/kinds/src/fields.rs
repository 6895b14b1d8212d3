//! Kind-specific error texts for fields that are not selectable.

use kubist_api::ResourceFacts;
use kubist_apimachinery::{FieldSelector, Status};

/// Checks the fields of a selector. `selectable` are the strategy's fields besides name and
/// namespace. Other fields get the general error text, unless the kind has its own.
///
/// # Errors
/// 400 for the first field that the kind refuses with its own error text.
pub(crate) fn check(
    facts: &ResourceFacts,
    fields: &FieldSelector,
    selectable: &[&str],
) -> Result<(), Status> {
    for term in fields.terms() {
        let field = term.field.as_str();
        if let Some(message) = refusal(facts, field, selectable.contains(&field)) {
            return Err(Status::bad_request(message));
        }
    }
    Ok(())
}

fn refusal(facts: &ResourceFacts, field: &str, is_known: bool) -> Option<String> {
    let is_name = field == "metadata.name";
    let is_namespace = field == "metadata.namespace";
    match (facts.group, facts.plural) {
        ("", "namespaces" | "nodes") | ("certificates.k8s.io", _) if is_namespace => {
            Some(format!("field label not supported: {field}"))
        }
        ("resource.k8s.io", "resourceslices") if !(is_known || is_name) => {
            let (group, version, kind) = (facts.group, facts.version, facts.kind);
            Some(format!(
                "field label not supported for {group}/{version}, Kind={kind}: {field}"
            ))
        }
        ("batch", "jobs") if !(is_known || is_name || is_namespace) => {
            Some(format!("field label {field:?} not supported for Job"))
        }
        _ => None,
    }
}
