//! Which messages of the schema become structs, and which are implemented by hand or left out.

use super::schema::Message;

/// Returns the Rust name of a message that `kubist-apimachinery` implements by hand, and whether it
/// is small enough for an `Option` without a box.
pub(super) fn by_hand(full_name: &str) -> Option<(&'static str, bool)> {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.starts_with("io.k8s.apimachinery.pkg.apis.meta.v1.");
    Some(match name {
        "Time" if meta => ("Time", true),
        "MicroTime" if meta => ("MicroTime", true),
        "Duration" if meta => ("Duration", true),
        "FieldsV1" if meta => ("FieldsV1", true),
        "ObjectMeta" if meta => ("ObjectMeta", false),
        "ListMeta" if meta => ("ListMeta", false),
        "OwnerReference" if meta => ("OwnerReference", false),
        "ManagedFieldsEntry" if meta => ("ManagedFieldsEntry", false),
        "LabelSelector" if meta => ("LabelSelector", false),
        "LabelSelectorRequirement" if meta => ("LabelSelectorRequirement", false),
        "Condition" if meta => ("Condition", false),
        "Status" if meta => ("Status", false),
        "StatusDetails" if meta => ("StatusDetails", false),
        "ShardInfo" if meta => ("ShardInfo", false),
        "StatusCause" if meta => ("StatusCause", false),
        "Quantity" if full_name.contains(".api.resource.") => ("Quantity", true),
        "IntOrString" if full_name.contains(".intstr.") => ("IntOrString", true),
        "RawExtension" if full_name.contains(".pkg.runtime.") => ("RawExtension", true),
        "JSON" if full_name.contains("apiextensions") => ("RawJson", true),
        _ => return None,
    })
}

/// Reports messages that are not emitted: the protobuf envelope, tables and list kinds.
fn is_left_out(full_name: &str, message: &Message) -> bool {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.contains(".meta.");
    by_hand(full_name).is_some()
        || full_name.contains(".pkg.runtime.")
        || full_name.contains(".util.")
        || full_name.contains(".api.resource.Q")
        || full_name.starts_with("time.")
        || (meta
            && (name.starts_with("Table")
                || matches!(name, "TypeMeta" | "Timestamp" | "List" | "InternalEvent")))
        || (!message.gvk.is_empty() && is_list_kind(message))
}

/// Reports whether a struct is emitted for a message.
pub(super) fn is_emitted(full_name: &str, message: &Message) -> bool {
    !is_left_out(full_name, message) && !is_plain_list(message)
}

/// Reports list kinds, which have `items` and a `ListMeta`; `List<K>` serves for all of them.
pub(super) fn is_list_kind(message: &Message) -> bool {
    let has = |json: &str, suffix: &str| {
        message
            .fields
            .iter()
            .any(|field| field.json == json && field.type_.ends_with(suffix))
    };
    has("metadata", ".ListMeta") && message.fields.iter().any(|field| field.json == "items")
}

/// Reports named Go lists whose protobuf form is the repeated field itself (`ValidationRules`).
pub(super) fn is_plain_list(message: &Message) -> bool {
    !message.item.is_empty() && message.fields.is_empty()
}
