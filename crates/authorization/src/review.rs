//! `ReviewSpec`: what a webhook is asked, as upstream's `SubjectAccessReview` says it.

use crate::{Action, Attributes, ResourceAction};
use kubist_apimachinery::{FieldSelector, Operator, Selector};
use serde_json::{Map, Value, json};

/// The largest sum of the lengths of what a client chooses, with which an answer is kept, as
/// upstream: longer ones would fill the memory.
const KEPT_BYTES_MAX: usize = 10_000;

/// What a webhook is asked about an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewSpec {
    wire: Value,
    is_kept: bool,
}

impl ReviewSpec {
    /// Returns the spec about these attributes.
    pub fn of(attributes: &Attributes<'_>) -> Self {
        let mut spec = user(attributes);
        let chosen = match &attributes.action {
            Action::Resource(it) => {
                spec.insert(
                    "resourceAttributes".to_owned(),
                    resource(attributes.verb, it),
                );
                let texts = [
                    it.namespace,
                    it.group,
                    it.version,
                    it.resource,
                    it.subresource,
                    it.name,
                ];
                texts.iter().map(|it| it.len()).sum()
            }
            Action::Path(path) => {
                let asked = without_empty(json!({"path": path, "verb": attributes.verb}));
                spec.insert("nonResourceAttributes".to_owned(), asked);
                path.len()
            }
        };
        let chosen: usize = chosen;
        Self {
            wire: Value::Object(spec),
            is_kept: chosen + attributes.verb.len() < KEPT_BYTES_MAX,
        }
    }

    /// Returns its JSON.
    pub fn json(&self) -> &Value {
        &self.wire
    }

    /// Reports whether an answer about it may be kept for a while.
    pub fn may_be_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the value of the variable `request` of match conditions: all texts are there, even
    /// empty ones.
    pub(crate) fn for_conditions(&self) -> Value {
        let mut request = self.wire.clone();
        fill(&mut request, &["user", "uid"], "");
        for (name, empty) in [("groups", json!([])), ("extra", json!({}))] {
            if request.get(name).is_none() {
                request[name] = empty;
            }
        }
        if let Some(resource) = request.get_mut("resourceAttributes") {
            let texts = [
                "namespace",
                "verb",
                "group",
                "version",
                "resource",
                "subresource",
                "name",
            ];
            fill(resource, &texts, "");
        }
        if let Some(path) = request.get_mut("nonResourceAttributes") {
            fill(path, &["path", "verb"], "");
        }
        request
    }
}

fn fill(object: &mut Value, names: &[&str], text: &str) {
    for name in names {
        if object.get(name).is_none() {
            object[*name] = text.into();
        }
    }
}

fn user(attributes: &Attributes<'_>) -> Map<String, Value> {
    let user = attributes.user;
    let texts = |of: &[kubist_apimachinery::Str]| -> Value {
        of.iter().map(|it| Value::from(&**it)).collect()
    };
    let extra = user.extra.iter();
    let extra: Map<String, Value> = extra
        .map(|(key, values)| (key.to_string(), texts(values)))
        .collect();
    let mut spec = Map::new();
    let mut say = |name: &str, value: Value, is_empty: bool| {
        if !is_empty {
            spec.insert(name.to_owned(), value);
        }
    };
    say("user", (*user.name).into(), user.name.is_empty());
    say("uid", (*user.uid).into(), user.uid.is_empty());
    say("groups", texts(&user.groups), user.groups.is_empty());
    say("extra", Value::Object(extra), user.extra.is_empty());
    spec
}

fn resource(verb: &str, of: &ResourceAction<'_>) -> Value {
    let mut spec = without_empty(json!({
        "namespace": of.namespace, "verb": verb, "group": of.group, "version": of.version,
        "resource": of.resource, "subresource": of.subresource, "name": of.name,
    }));
    if let Some(requirements) = of
        .fields
        .map(field_requirements)
        .filter(|it| !it.is_empty())
    {
        spec["fieldSelector"] = json!({"requirements": requirements});
    }
    if let Some(requirements) = of
        .labels
        .map(label_requirements)
        .filter(|it| !it.is_empty())
    {
        spec["labelSelector"] = json!({"requirements": requirements});
    }
    spec
}

fn without_empty(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| value.as_str() != Some(""));
    }
    object
}

fn field_requirements(selector: &FieldSelector) -> Vec<Value> {
    let terms = selector.terms().iter().map(|term| {
        let operator = if term.negated { "NotIn" } else { "In" };
        json!({"key": &*term.field, "operator": operator, "values": [&*term.value]})
    });
    terms.collect()
}

/// What cannot be said is left out: what remains selects more, so that nothing is allowed that
/// would not be.
fn label_requirements(selector: &Selector) -> Vec<Value> {
    let requirements = selector.requirements().iter().filter_map(|it| {
        let operator = match it.operator() {
            Operator::Equals | Operator::DoubleEquals | Operator::In => "In",
            Operator::NotEquals | Operator::NotIn => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::GreaterThan | Operator::LessThan => return None,
        };
        let values: Vec<&str> = it.values().iter().map(|it| &**it).collect();
        let mut said = json!({"key": it.key(), "operator": operator});
        if !values.is_empty() {
            said["values"] = json!(values);
        }
        Some(said)
    });
    requirements.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;

    #[test]
    fn a_review_says_what_is_not_empty() {
        let user = User {
            name: "bob".into(),
            groups: vec!["devs".into()],
            ..User::default()
        };
        let fields: FieldSelector = "spec.nodeName=n,metadata.name!=x"
            .parse()
            .expect("it is one");
        let labels: Selector = "a in (b,c),!d".parse().expect("it is one");
        let action = ResourceAction {
            version: "v1",
            resource: "pods",
            namespace: "default",
            fields: Some(&fields),
            labels: Some(&labels),
            ..ResourceAction::default()
        };
        let attributes = Attributes {
            user: &user,
            verb: "list",
            action: Action::Resource(action),
        };
        let spec = ReviewSpec::of(&attributes);
        assert_eq!(
            *spec.json(),
            json!({
                "user": "bob", "groups": ["devs"],
                "resourceAttributes": {
                    "namespace": "default", "verb": "list", "version": "v1", "resource": "pods",
                    "fieldSelector": {"requirements": [
                        {"key": "metadata.name", "operator": "NotIn", "values": ["x"]},
                        {"key": "spec.nodeName", "operator": "In", "values": ["n"]},
                    ]},
                    "labelSelector": {"requirements": [
                        {"key": "a", "operator": "In", "values": ["b", "c"]},
                        {"key": "d", "operator": "DoesNotExist"},
                    ]},
                },
            })
        );
        assert_eq!(spec.for_conditions()["resourceAttributes"]["group"], "");
        let long = "x".repeat(KEPT_BYTES_MAX);
        let attributes = Attributes {
            action: Action::Path(&long),
            ..attributes
        };
        assert!(spec.may_be_kept() && !ReviewSpec::of(&attributes).may_be_kept());
    }
}
