//! The version history of an object, and the checks of it.

use super::rows::{OLD, Row};
use super::verbs::{LABEL, NEW, Verb};
use crate::fixture::{Fixture, options};
use kubist_apimachinery::Status;
use kubist_registry::{EventStream, WatchEvent};
use serde_json::Value;

/// The name of an object that is written last. Its event shows that all earlier events have
/// arrived.
const SENTINEL: &str = "sentinel";

pub(super) struct History(EventStream);

/// A version of an object, or its deletion.
pub(super) struct Version {
    revision: u64,
    /// The object, or its last state if it is gone.
    object: Value,
    gone: bool,
}

/// A verb and its result.
pub(super) struct Outcome {
    pub(super) verb: Verb,
    pub(super) ran: Result<u64, Status>,
}

impl History {
    pub(super) async fn begin(fixture: &Fixture, row: &'static Row) -> Self {
        let (rest, cx) = (row.rest(fixture), fixture.cx());
        if Verb::Label.run(fixture, row, SENTINEL, 0).await.is_err() {
            row.make(fixture, SENTINEL, false).await;
        }
        let list = rest.list(&cx, "", &options("limit=1")).await;
        let version = list.expect("it lists").metadata.resource_version;
        let from = options(&format!("resourceVersion={version}"));
        Self(rest.watch(&cx, "", None, &from, None).await.expect("fine"))
    }

    /// Returns the versions of an object since the beginning.
    pub(super) async fn end(
        mut self,
        fixture: &Fixture,
        row: &'static Row,
        of: &str,
    ) -> Vec<Version> {
        let (rest, cx) = (row.rest(fixture), fixture.cx());
        let (namespace, sentinel) = (row.namespace(fixture), row.name(SENTINEL));
        let touch = |it: &mut Value| {
            let now = &mut it["metadata"]["labels"]["touched"];
            let times = now.as_str().and_then(|it| it.parse::<u64>().ok());
            *now = Value::from((times.unwrap_or_default() + 1).to_string());
        };
        let edit = super::rows::JsonEdit {
            rest: &rest,
            edit: &touch,
        };
        let now = kubist_apimachinery::PostOptions::default();
        let touched = rest.update(&cx, namespace, &sentinel, &edit, &now).await;
        let last = touched.expect("it is there").object.revision();
        let mut versions = Vec::new();
        loop {
            for event in self.0.next().await.expect("it goes on") {
                let stored = event.object().expect("it has one");
                let json = stored.json().expect("it can be written");
                let object: Value = serde_json::from_slice(&json).expect("it is JSON");
                let revision = stored.revision();
                if object["metadata"]["name"] == *row.name(of) {
                    let gone = matches!(event, WatchEvent::Deleted(_));
                    versions.push(Version {
                        revision,
                        object,
                        gone,
                    });
                } else if revision >= last {
                    return versions;
                }
            }
        }
    }
}

fn finalizers(object: &Value) -> Vec<&str> {
    let all = object["metadata"]["finalizers"].as_array();
    all.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn is_marked(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Returns the desired state: all fields except the metadata and the status.
fn wanted(object: &Value) -> Value {
    let mut object = object.clone();
    let fields = object.as_object_mut().expect("it is one");
    fields.remove("metadata");
    fields.remove("status");
    object
}

/// Checks that each version follows from the previous one by the rules of one verb, and that the
/// responses match the versions.
pub(super) fn check(
    row: &Row,
    before: u64,
    versions: &[Version],
    outcomes: &[Outcome],
    place: &str,
) {
    let mut last: Option<&Version> = None;
    for version in versions {
        match last {
            None => assert!(!version.gone, "{place}: it goes before it comes"),
            Some(last) => step(row, last, version, outcomes, place),
        }
        last = (!version.gone).then_some(version);
    }
    for outcome in outcomes {
        match &outcome.ran {
            Ok(revision) => answered(outcome.verb, *revision, before, versions, place),
            Err(status) => {
                let no_finalizer = status.code == 422 && status.message.contains("finalizers");
                let expected = matches!(status.code, 404 | 409) || no_finalizer;
                assert!(expected, "{place}: {:?} {status:?}", outcome.verb);
            }
        }
    }
}

fn step(row: &Row, last: &Version, version: &Version, outcomes: &[Outcome], place: &str) {
    let (old, new) = (&last.object, &version.object);
    assert!(version.revision > last.revision, "{place}");
    assert_eq!(old["metadata"]["uid"], new["metadata"]["uid"], "{place}");
    if version.gone {
        let left = finalizers(old);
        assert!(!left.contains(&NEW), "{place}: gone past a finalizer");
        let removes = |it: &Outcome| matches!(it.verb, Verb::RemoveFinalizer | Verb::Replace);
        let removed = outcomes.iter().any(removes);
        assert!(
            left.is_empty() || (removed && left == [OLD]),
            "{place}: {left:?}"
        );
        assert!(row.plural != "namespaces", "{place}: nobody has cleared it");
        return;
    }
    assert!(!is_marked(old) || is_marked(new), "{place}: it came back");
    let (edited, settled) = (wanted(old) != wanted(new), old["status"] != new["status"]);
    if row.status.is_some() {
        assert!(!(edited && settled), "{place}: one verb writes one part");
    }
    if row.has_generation {
        let generation = |it: &Value| it["metadata"]["generation"].as_i64().unwrap_or_default();
        let raised = generation(new) > generation(old);
        let marked = is_marked(new) && !is_marked(old);
        assert!(!edited || raised, "{place}: {old} {new}");
        let noted = old["metadata"]["annotations"] != new["metadata"]["annotations"];
        let noted = noted && row.plural == "deployments";
        assert!(!raised || edited || marked || noted, "{place}: {old} {new}");
    }
    let kept = |of: &dyn Fn(&Value) -> bool| !of(old) || of(new);
    let label = |it: &Value| !it["metadata"]["labels"][LABEL].is_null();
    assert!(kept(&label), "{place}: a label is lost");
    let finalizer = |it: &Value| finalizers(it).contains(&NEW);
    assert!(kept(&finalizer), "{place}: a finalizer is lost");
}

fn answered(verb: Verb, revision: u64, before: u64, versions: &[Version], place: &str) {
    let at = versions.iter().position(|it| it.revision == revision);
    let following = || {
        let first = versions.iter().position(|it| it.revision == before);
        versions.get(first.expect("it was there") + 1)
    };
    match verb {
        Verb::Put => {
            let at = at.unwrap_or_else(|| panic!("{place}: {revision} never was"));
            let is_next = at > 0 && versions[at - 1].revision == before;
            assert!(is_next || revision == before, "{place}: on {before}");
        }
        Verb::DeleteThis => {
            let next = following().expect("it is marked or gone");
            assert!(next.gone || is_marked(&next.object), "{place}");
        }
        Verb::Delete | Verb::DeleteNow | Verb::DeleteCollection => {}
        _ => assert!(at.is_some(), "{place}: {revision} never was"),
    }
}
