//! `OpenAPI` documents without descriptions: Kubist has its own.

use serde_json::Value;

/// Removes every description, but not properties of that name: a description is a string, a
/// property an object. A reference that was wrapped to have a description is unwrapped.
pub(crate) fn undescribe(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "description" || !value.is_string());
            fields.values_mut().for_each(undescribe);
            if fields.len() == 1
                && let Some(Value::Array(all)) = fields.get_mut("allOf")
                && let [reference] = &mut all[..]
            {
                *value = reference.take();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(undescribe),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::undescribe;

    #[test]
    fn descriptions_go_and_properties_of_that_name_stay() {
        let mut document = json!({
            "info": {"title": "Kubernetes"},
            "paths": {"/api/": {"get": {"description": "d", "parameters": [
                {"name": "description", "description": "d", "in": "query"},
            ]}}},
            "components": {"schemas": {"io.A": {
                "description": "d",
                "required": ["description"],
                "properties": {
                    "description": {"type": "string", "description": "d"},
                    "spec": {"allOf": [{"$ref": "io.B"}], "description": "d"},
                    "status": {"allOf": [{"$ref": "io.B"}], "description": "d", "default": {}},
                },
            }}},
        });
        undescribe(&mut document);
        let expected = json!({
            "info": {"title": "Kubernetes"},
            "paths": {"/api/": {"get": {"parameters": [{"name": "description", "in": "query"}]}}},
            "components": {"schemas": {"io.A": {
                "required": ["description"],
                "properties": {
                    "description": {"type": "string"},
                    "spec": {"$ref": "io.B"},
                    "status": {"allOf": [{"$ref": "io.B"}], "default": {}},
                },
            }}},
        });
        assert_eq!(document, expected);
    }
}
