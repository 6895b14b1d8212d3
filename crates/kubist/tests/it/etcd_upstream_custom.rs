//! Custom resources of a kube-apiserver and this server on one etcd: definitions and objects
//! written by either are read, updated, applied, watched and deleted through the other, and equal
//! writes are stored as equal bytes.
//!
//! The test is skipped as that of `etcd_upstream` is.

use crate::etcd::{Etcd, Release};
use crate::etcd_peer::{api, create, server};
use crate::etcd_upstream::{KubeApiserver, binary, found};
use futures_util::StreamExt as _;
use kubist::apimachinery::{ListOptions, Object as _, PatchOptions, PostOptions, Unstructured};
use kubist::cache::WatchItem;
use kubist::client::{Api, Client, Patch, WatchOn};
use kubist::storage_etcd::{Config, EtcdKv};
use kubist_storage::KvRead as _;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

/// The time limit for an event.
const PATIENCE: Duration = Duration::from_secs(60);
const GROUP: &str = "both.example.com";

/// A definition with two versions, defaults, a rule, and a status subresource.
pub(crate) fn definition(plural: &str, kind: &str) -> Value {
    let version = |name: &str, is_stored: bool| {
        json!({
            "name": name, "served": true, "storage": is_stored, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "properties": {
                            "size": {"type": "integer", "minimum": 1},
                            "most": {"type": "integer", "default": 5},
                            "note": {"type": "string"},
                            "ports": {
                                "type": "array", "maxItems": 4,
                                "x-kubernetes-list-type": "map",
                                "x-kubernetes-list-map-keys": ["port"],
                                "items": {"type": "object", "required": ["port"], "properties": {
                                    "port": {"type": "integer"},
                                    "protocol": {"type": "string", "default": "TCP"},
                                }},
                            },
                        },
                        "x-kubernetes-validations": [{
                            "rule": "self.size <= self.most", "message": "it is too large",
                        }],
                    },
                    "status": {"type": "object", "properties": {"seen": {"type": "integer"}}},
                },
            }},
        })
    };
    json!({"plural": "customresourcedefinitions", "namespaced": false, "object": {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural, "kind": kind, "listKind": format!("{kind}List")},
            "versions": [version("v1", true), version("v2", false)],
        },
    }})
}

/// Returns an object, with the form of its resource.
pub(crate) fn custom(plural: &str, kind: &str, version: &str, name: &str) -> Value {
    json!({"plural": plural, "namespaced": true, "object": {
        "apiVersion": format!("{GROUP}/{version}"), "kind": kind,
        "metadata": {"name": name, "namespace": "default", "annotations": {"by": "<both>"}},
        "spec": {"size": 1, "note": "a & b", "ports": [{"port": 80}]},
    }})
}

pub(crate) fn object(of: &Value) -> Unstructured {
    Unstructured {
        object: of["object"].as_object().unwrap().clone(),
    }
}

/// A kind of custom resource on one server, in both versions.
struct Side {
    first: Api<Unstructured>,
    second: Api<Unstructured>,
}

impl Side {
    fn new(client: &Client, plural: &str, kind: &str) -> Self {
        let of = |version| api(client.clone(), &custom(plural, kind, version, ""));
        Self {
            first: of("v1"),
            second: of("v2"),
        }
    }
}

/// What a test of two servers needs.
struct Pair<'a> {
    kv: &'a EtcdKv,
    plural: &'a str,
    kind: &'a str,
}

impl Pair<'_> {
    /// Returns the stored text of an object, without what is its own: its name, uid and times.
    async fn stored(&self, object: &Unstructured) -> String {
        let name = object.name();
        let key = format!("/registry/{GROUP}/{}/default/{name}", self.plural);
        let read = self.kv.get(key.as_bytes(), None).await;
        let value = read
            .unwrap()
            .kv
            .unwrap_or_else(|| panic!("nothing at {key}"))
            .value
            .clone();
        let mut text = String::from_utf8(value.to_vec()).unwrap();
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        text = text
            .replace(uid.unwrap(), "UID")
            .replace(&format!("{name:?}"), "NAME");
        for entry in object
            .pointer("/metadata/managedFields")
            .unwrap()
            .as_array()
            .unwrap()
        {
            text = text.replace(entry["time"].as_str().unwrap(), "TIME");
        }
        let created = object.pointer("/metadata/creationTimestamp").unwrap();
        text.replace(created.as_str().unwrap(), "TIME")
    }

    /// An object that one server creates, and the other changes in all ways and deletes. Returns
    /// the stored texts.
    async fn handed_over(&self, from: &Side, to: &Side, name: &str) -> Vec<String> {
        let of = custom(self.plural, self.kind, "v1", name);
        let mut watch = watch_from_now(from).await;
        let manager = PostOptions {
            field_manager: "both".into(),
            ..PostOptions::default()
        };
        let created = from
            .first
            .create_with(&object(&of), &manager)
            .await
            .unwrap();
        assert_eq!(created.pointer("/spec/most"), Some(&json!(5)));
        assert_eq!(
            created.pointer("/spec/ports/0/protocol"),
            Some(&json!("TCP"))
        );
        assert_eq!(found(&to.first, name).await, created, "{name} is read");
        let mut texts = vec![self.stored(&created).await];
        let seconds = [
            found(&from.second, name).await,
            found(&to.second, name).await,
        ];
        assert_eq!(seconds[0], seconds[1], "{name} in v2");

        let both = PatchOptions {
            post: manager,
            ..PatchOptions::default()
        };
        let merge = Patch::Merge(json!({"spec": {"size": 2, "note": null}}));
        let updated = to.first.patch_with(name, &merge, &both).await.unwrap();
        texts.push(self.stored(&updated).await);
        check_refusal(from, to, name).await;
        // Through the other version: it stays stored in the first.
        let labels = Patch::Merge(json!({"metadata": {"labels": {"more": "yes"}}}));
        let labelled = to.second.patch_with(name, &labels, &both).await.unwrap();
        texts.push(self.stored(&labelled).await);
        let wanted = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": self.kind,
            "metadata": {"name": name}, "spec": {"most": 7, "ports": [{"port": 443}]},
        });
        let applier = PatchOptions {
            force: Some(true),
            ..PatchOptions::managed_by("applier")
        };
        let applied = to
            .first
            .patch_with(name, &Patch::Apply(wanted), &applier)
            .await
            .unwrap();
        texts.push(self.stored(&applied).await);
        let status = Patch::Merge(json!({"status": {"seen": 1}, "spec": {"size": 3}}));
        let seen = to.first.patch_status(name, &status).await.unwrap();
        assert_eq!(seen.pointer("/spec/size"), Some(&json!(2)));
        assert_eq!(
            from.first.get(name).await.unwrap(),
            seen,
            "{name} at the end"
        );
        to.first.delete(name).await.unwrap();
        assert!(from.first.get_opt(name).await.unwrap().is_none());

        let expected = [
            ("added", &created),
            ("modified", &updated),
            ("modified", &from_second(&labelled)),
            ("modified", &applied),
            ("modified", &seen),
        ];
        check_events(&mut watch, &expected, name).await;
        texts
    }
}

async fn watch_from_now(side: &Side) -> WatchOn<Unstructured> {
    let listed = side.first.list(&ListOptions::default()).await.unwrap();
    let options = ListOptions {
        resource_version: listed.metadata.resource_version.into(),
        ..ListOptions::default()
    };
    side.first.watch_on(&options).unwrap()
}

/// Checks that both servers refuse a value in the same words.
async fn check_refusal(from: &Side, to: &Side, name: &str) {
    let too_large = Patch::Merge(json!({"spec": {"size": 9}}));
    let mut refusals = Vec::new();
    for side in [to, from] {
        let refused = side.first.patch(name, &too_large).await.unwrap_err();
        refusals.push(refused.to_string());
    }
    assert_eq!(refusals[0], refusals[1]);
    assert!(refusals[0].contains("it is too large"), "{}", refusals[0]);
}

/// Checks that a watch delivers these events, and a deletion at the end.
async fn check_events(
    watch: &mut WatchOn<Unstructured>,
    expected: &[(&str, &Unstructured)],
    name: &str,
) {
    for (event, object) in expected {
        let (found, of) = next(watch).await;
        assert_eq!((found, &of), (*event, *object), "{name}");
    }
    let (event, _) = next(watch).await;
    assert_eq!(event, "deleted", "{name}");
}

/// Returns an object of the second version as the first.
fn from_second(object: &Unstructured) -> Unstructured {
    let mut object = object.clone();
    let version = json!(format!("{GROUP}/v1"));
    object.object.insert("apiVersion".to_owned(), version);
    object
}

async fn next(watch: &mut WatchOn<Unstructured>) -> (&'static str, Unstructured) {
    loop {
        let item = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
        return match item.unwrap() {
            WatchItem::Added(object) => ("added", object),
            WatchItem::Modified(object) => ("modified", object),
            WatchItem::Deleted(object) => ("deleted", object),
            WatchItem::Bookmark { .. } => continue,
            other @ WatchItem::Invalid(_) => panic!("unexpected: {other:?}"),
        };
    }
}

#[tokio::test]
async fn a_kube_apiserver_and_ours_on_one_etcd_serve_the_same_custom_resources() {
    let (Some(binary), Some(etcd)) = (binary(), Etcd::start(Release::Current).await) else {
        return;
    };
    let upstream = KubeApiserver::start(Path::new(&binary), &etcd).await;
    let server = server(&etcd).await;
    let kv = EtcdKv::new(Config::new([etcd.url()])).unwrap();
    for (plural, kind, by_ours) in [("ours", "Our", true), ("theirs", "Their", false)] {
        let of = definition(plural, kind);
        let ours_definitions = api(server.client(), &of);
        let theirs_definitions = api(upstream.client.clone(), &of);
        let definer = [&theirs_definitions, &ours_definitions][usize::from(by_ours)];
        create(definer, &object(&of)).await;
        let ours = Side::new(&server.client(), plural, kind);
        let theirs = Side::new(&upstream.client, plural, kind);
        // Each serves it as soon as it has seen it.
        for side in [&ours, &theirs] {
            let probe = create(&side.first, &object(&custom(plural, kind, "v1", "probe"))).await;
            side.first.delete(probe.name()).await.unwrap();
        }
        let pair = Pair {
            kv: &kv,
            plural,
            kind,
        };
        let first = pair.handed_over(&ours, &theirs, "begun-by-ours").await;
        let second = pair.handed_over(&theirs, &ours, "begun-by-them").await;
        assert_eq!(first.len(), second.len());
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(first, second, "equal writes are stored as equal bytes");
        }
        // A definition that one wrote is deleted, with its objects, by the other.
        let remaining = object(&custom(plural, kind, "v1", "remaining"));
        create(&ours.first, &remaining).await;
        let ender = [&ours_definitions, &theirs_definitions][usize::from(by_ours)];
        let name = format!("{plural}.{GROUP}");
        ender.delete(&name).await.unwrap();
        let gone = async {
            for definitions in [&ours_definitions, &theirs_definitions] {
                while definitions.get_opt(&name).await.unwrap().is_some() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        };
        timeout(PATIENCE, gone).await.expect("the definition goes");
        let key = format!("/registry/{GROUP}/{plural}/default/remaining");
        let read = kv.get(key.as_bytes(), None).await;
        assert!(read.unwrap().kv.is_none(), "its objects go with it");
    }
    server.shutdown().await;
}
