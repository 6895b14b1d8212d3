//! `Options`: the options of a request, as webhooks and policies see them.

use super::operation::Operation;
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{DeleteOptions, PostOptions};
use serde_json::{Map, Value};

/// The options of a request.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "requests have no others")]
pub enum Options<'a> {
    /// None: CONNECT.
    None,
    /// Those of a create, an update or a patch.
    Post(&'a PostOptions),
    /// Those of a delete.
    Delete(&'a DeleteOptions),
}

impl Options<'_> {
    /// Returns the document on the wire: `CreateOptions`, `UpdateOptions` or `DeleteOptions` by the
    /// operation (as upstream, never `PatchOptions`); `None` if there is none.
    pub fn to_json(self, operation: Operation) -> Option<Value> {
        let (kind, members) = match self {
            Self::None => return None,
            Self::Delete(options) => ("DeleteOptions", to_json_value(options)),
            Self::Post(options) if operation == Operation::Create => {
                ("CreateOptions", of_post(options))
            }
            Self::Post(options) => ("UpdateOptions", of_post(options)),
        };
        let mut document = Map::new();
        document.insert("kind".to_owned(), kind.into());
        document.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
        if let Value::Object(members) = members {
            let own = members
                .into_iter()
                .filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion"));
            document.extend(own);
        }
        Some(Value::Object(document))
    }
}

fn of_post(options: &PostOptions) -> Value {
    let mut members = Map::new();
    if options.dry_run {
        members.insert("dryRun".to_owned(), Value::Array(vec!["All".into()]));
    }
    if !options.field_manager.is_empty() {
        let manager = options.field_manager.as_str().into();
        members.insert("fieldManager".to_owned(), manager);
    }
    if let Some(validation) = options.field_validation {
        members.insert("fieldValidation".to_owned(), validation.as_str().into());
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_documents_of_the_operation() {
        let mut options = PostOptions {
            dry_run: true,
            ..PostOptions::default()
        };
        options.field_manager = "me".into();
        let made = Options::Post(&options).to_json(Operation::Update);
        let expected = json!({
            "kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"],
            "fieldManager": "me",
        });
        assert_eq!(made, Some(expected));
        let made = Options::Delete(&DeleteOptions::now()).to_json(Operation::Delete);
        let expected = json!({
            "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "gracePeriodSeconds": 0,
        });
        assert_eq!(made, Some(expected));
        assert_eq!(Options::None.to_json(Operation::Connect), None);
    }
}
