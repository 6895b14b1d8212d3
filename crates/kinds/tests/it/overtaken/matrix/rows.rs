//! Kinds of every sort: with and without status, generation, grace period, allocations, time to
//! live and namespace.

use crate::fixture::Fixture;
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, PostOptions, Status};
use kubist_registry::{Created, Rest, UpdatedObject};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) struct Row {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) plural: &'static str,
    /// An object without its name.
    pub(super) tree: fn() -> Value,
    /// A change of the desired state, or `None` if it is immutable.
    pub(super) edit: Option<fn(&mut Value)>,
    /// A change of the status, or `None` if it is not a subresource.
    pub(super) status: Option<fn(&mut Value)>,
    pub(super) scales: bool,
    /// Whether every change of the desired state, and nothing else, raises the generation.
    pub(super) has_generation: bool,
}

/// A finalizer that every object has from the start.
pub(super) const OLD: &str = "x.io/old";

fn container() -> Value {
    json!({"name": "c", "image": "nginx"})
}

pub(super) static CONFIG_MAPS: Row = Row {
    group: "",
    version: "v1",
    plural: "configmaps",
    tree: || json!({"data": {"a": "b"}}),
    edit: Some(|it| it["data"]["a"] = json!("changed")),
    status: None,
    scales: false,
    has_generation: false,
};

pub(super) static PODS: Row = Row {
    group: "",
    version: "v1",
    plural: "pods",
    tree: || json!({"spec": {"nodeName": "n", "containers": [container()]}}),
    edit: Some(|it| it["spec"]["containers"][0]["image"] = json!("changed")),
    status: Some(|it| it["status"]["phase"] = json!("Running")),
    scales: false,
    has_generation: true,
};

pub(super) static DEPLOYMENTS: Row = Row {
    group: "apps",
    version: "v1",
    plural: "deployments",
    tree: || {
        json!({"spec": {
            "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()]},
            },
        }})
    },
    edit: Some(|it| it["spec"]["paused"] = json!(true)),
    status: Some(|it| it["status"]["replicas"] = json!(7)),
    scales: true,
    has_generation: true,
};

pub(super) static SERVICES: Row = Row {
    group: "",
    version: "v1",
    plural: "services",
    tree: || json!({"spec": {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"}]}}),
    edit: Some(|it| it["spec"]["sessionAffinity"] = json!("ClientIP")),
    status: Some(|it| {
        it["status"]["conditions"] = json!([{
            "type": "A", "status": "True", "reason": "R", "message": "",
            "lastTransitionTime": "2024-01-01T00:00:00Z",
        }]);
    }),
    scales: false,
    has_generation: false,
};

pub(super) static EVENTS: Row = Row {
    group: "",
    version: "v1",
    plural: "events",
    tree: || json!({"involvedObject": {"namespace": "default", "name": "p", "kind": "Pod"}}),
    edit: Some(|it| it["message"] = json!("changed")),
    status: None,
    scales: false,
    has_generation: false,
};

pub(super) static NAMESPACES: Row = Row {
    group: "",
    version: "v1",
    plural: "namespaces",
    tree: || json!({}),
    edit: None,
    status: Some(|it| {
        it["status"]["conditions"] = json!([{
            "type": "A", "status": "True", "lastTransitionTime": null,
        }]);
    }),
    scales: false,
    has_generation: false,
};

pub(super) static SIGNING_REQUESTS: Row = Row {
    group: "certificates.k8s.io",
    version: "v1",
    plural: "certificatesigningrequests",
    tree: || {
        json!({"spec": {
            "signerName": "example.com/a", "usages": ["digital signature"],
            "request": REQUEST,
        }})
    },
    edit: None,
    status: None,
    scales: false,
    has_generation: false,
};

pub(super) static DEFINITIONS: Row = Row {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    tree: || {
        json!({"spec": {
            "group": "example.com", "scope": "Namespaced", "names": {},
            "versions": crate::custom::versions(),
        }})
    },
    edit: Some(|it| it["spec"]["versions"][1]["served"] = json!(false)),
    status: Some(|it| {
        it["status"]["conditions"] = json!([{
            "type": "A", "status": "True", "lastTransitionTime": null,
        }]);
    }),
    scales: false,
    has_generation: true,
};

pub(super) static WIDGETS: Row = Row {
    group: "example.com",
    version: "v1",
    plural: "widgets",
    tree: || json!({"spec": {"replicas": 1}}),
    edit: Some(|it| it["spec"]["size"] = json!(5)),
    status: Some(|it| it["status"] = json!({"replicas": 7})),
    scales: true,
    has_generation: true,
};

impl Row {
    pub(super) fn rest(&self, fixture: &Fixture) -> Arc<Rest> {
        fixture.rest(self.group, self.version, self.plural)
    }

    pub(super) fn namespace(&self, fixture: &Fixture) -> &'static str {
        let namespaced = self.rest(fixture).facts().namespaced;
        if namespaced { "default" } else { "" }
    }

    /// Returns the name of an object. The name of a definition includes its group.
    pub(super) fn name(&self, of: &str) -> String {
        match self.plural {
            "customresourcedefinitions" => format!("{of}.example.com"),
            _ => of.to_owned(),
        }
    }

    fn object(&self, rest: &Rest, of: &str) -> Box<dyn AnyObject> {
        let mut tree = (self.tree)();
        tree["metadata"] = json!({
            "name": self.name(of), "finalizers": [OLD], "labels": {"name": of},
        });
        if rest.facts().namespaced {
            tree["metadata"]["namespace"] = json!("default");
        }
        if let Some(names) = tree.pointer_mut("/spec/names") {
            *names = json!({"plural": of, "kind": format!("K{of}")});
        }
        parse(rest, &tree)
    }

    /// Creates an object and returns its resource version.
    pub(super) async fn create(&self, fixture: &Fixture, of: &str) -> Result<u64, Status> {
        let (rest, cx) = (self.rest(fixture), fixture.cx());
        let (namespace, options) = (self.namespace(fixture), PostOptions::default());
        let created = rest.create(&cx, namespace, "", self.object(&rest, of), &options);
        match created.await? {
            Created::Object(stored) => Ok(stored.revision()),
            Created::Status(status) => Err(*status),
        }
    }

    /// Creates the initial object, unless `none` is set, and returns its resource version.
    pub(super) async fn make(&self, fixture: &Fixture, of: &str, none: bool) -> u64 {
        if none {
            return 0;
        }
        let made = self.create(fixture, of).await;
        made.unwrap_or_else(|status| panic!("{} {of}: {status:?}", self.plural))
    }
}

fn parse(rest: &Rest, tree: &Value) -> Box<dyn AnyObject> {
    let mut object = rest.new_object().expect("it has metadata");
    let text = tree.to_string();
    merge_json(&mut *object, text.as_bytes(), &mut DecodeContext::new()).expect("it is valid");
    object
}

/// A patch that edits JSON.
pub(super) struct JsonEdit<'a> {
    pub(super) rest: &'a Rest,
    pub(super) edit: &'a (dyn Fn(&mut Value) + Send + Sync),
}

impl UpdatedObject for JsonEdit<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.ok_or_else(|| Status::not_found(&self.rest.group_resource(), "none"))?;
        let mut tree = to_json_value(old);
        (self.edit)(&mut tree);
        Ok(parse(self.rest, &tree))
    }
}

/// A certificate request, in PEM and base64.
const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmRU\
     QlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTGhXSlA1ZlRDSEQ4ZGpJZGpQemcvOXpLdlN2T2dB\
     NGd3a2xPNUo0ektzekhOWlR1RkRLK1NGUVRwWHpGRkxwCnBnUXJqaFFTdVJkeUhYTEVvVGlSUW5XZ0FEQUtCZ2dx\
     aGtqT1BRUURBZ05KQURCR0FpRUFsSmd2ekk3OWJQYjcKcVZPSmZvS3VzRERXcHZQc0JabDlZcVRXMGtRNzlxMENJ\
     UUNYZHN5U01ZOHNtVktFK2M0dXg3Nkk4RnFvamV2TgprdDBiSUhrU3RxWnNTZz09Ci0tLS0tRU5EIENFUlRJRklD\
     QVRFIFJFUVVFU1QtLS0tLQo=";
