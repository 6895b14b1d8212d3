//! The words in which some kinds refuse a field that their objects cannot be selected by.

use kubist_api::ResourceFacts;
use kubist_apimachinery::{FieldSelector, Status};

/// Checks the fields of a selector. `selectable` are those that the strategy has beside name and
/// namespace; what it does not have is refused in the words for all kinds unless it is here.
///
/// # Errors
/// 400 for the first field that the kind refuses in words of its own.
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
