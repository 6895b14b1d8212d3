//! Adds `kind` and `apiVersion` to the claim templates of StatefulSets in JSON, as upstream does.
//!
//! No other nested object in the API has a kind. Therefore it is written into the finished JSON
//! instead of being a field of every type.

use kubist_api::{Kind, apps};
use kubist_apimachinery::wire::Json;
use kubist_apimachinery::{AnyObject, Status};
use serde_json::Value;
use std::any::Any;

/// The text before the templates. It cannot occur elsewhere in a StatefulSet: quotes within strings
/// are escaped, and maps hold strings, not lists.
const BEFORE: &[u8] = br#""volumeClaimTemplates":["#;
const KIND: &[u8] = br#""kind":"PersistentVolumeClaim","apiVersion":"v1","#;

/// Reports whether objects of a kind contain objects with a kind of their own.
pub(crate) fn has_kinds(kind: &Kind) -> bool {
    kind.facts().kind == "StatefulSet"
}

/// Returns the JSON of `object`, with the kinds of claim templates if it is a StatefulSet.
pub(crate) fn with_kinds(json: Vec<u8>, object: &dyn AnyObject) -> Result<Vec<u8>, Status> {
    let any: &dyn Any = object;
    let Some(set) = any.downcast_ref::<apps::v1::StatefulSet>() else {
        return Ok(json);
    };
    let claims = &set.spec.volume_claim_templates;
    let start = json.windows(BEFORE.len()).position(|it| it == BEFORE);
    let (Some(start), false) = (start, claims.is_empty()) else {
        return Ok(json);
    };
    let mut out = Vec::with_capacity(json.len() + claims.len() * KIND.len());
    let (head, mut rest) = json.split_at(start + BEFORE.len());
    out.extend_from_slice(head);
    for claim in claims {
        // Each template appears as it would alone, after a brace and before a comma or the end.
        let alone = serde_json::to_vec(&Json::part(claim)).map_err(Status::internal_error)?;
        let end = rest.len().min(alone.len() + 1);
        let (template, after) = rest.split_at(end);
        let (brace, fields) = template.split_at(template.len().min(1));
        out.extend_from_slice(brace);
        out.extend_from_slice(KIND);
        out.extend_from_slice(fields);
        rest = after;
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Adds the kinds to a JSON tree. Patches use this to work on the same JSON as clients.
pub(crate) fn add_to_tree(tree: &mut Value, kind: &Kind) {
    if !has_kinds(kind) {
        return;
    }
    let templates = tree.pointer_mut("/spec/volumeClaimTemplates");
    for template in templates
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Value::Object(template) = template {
            template.insert("kind".to_owned(), Value::from("PersistentVolumeClaim"));
            template.insert("apiVersion".to_owned(), Value::from("v1"));
        }
    }
}
