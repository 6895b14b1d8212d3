//! `/openapi/v3`: an index, and a document for each group and version. `/openapi/v2`: one.
//!
//! Documents say what clients ask them: schemas with their types, list keys and patch strategies
//! (`kubectl explain`, strategic merge), and operations with their media types and parameters
//! (`kubectl apply` looks for `fieldValidation`). They have no prose. Each is made when it is
//! first asked for, and kept; the index makes all of them once, to know their hashes.

mod operations;
mod schemas;
mod v2;

use crate::answer::{Answer, TEXT};
use crate::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, LOCATION, VARY};
use http::{HeaderValue, StatusCode};
use kubist_api::{GROUPS, GroupFacts, VersionFacts};
use kubist_registry::ServedGroup;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The documents that were asked for.
#[derive(Debug, Default)]
pub(crate) struct OpenApi {
    index: OnceLock<Bytes>,
    documents: Vec<(String, OnceLock<Bytes>)>,
    old: [OnceLock<Bytes>; 2],
}

impl OpenApi {
    pub(crate) fn new() -> Self {
        let paths = group_versions().map(|(group, version)| path(group, version));
        Self {
            index: OnceLock::new(),
            documents: paths.map(|path| (path, OnceLock::new())).collect(),
            old: Default::default(),
        }
    }

    /// The document of `/openapi/v2`, in the form that an Accept header asks for.
    pub(crate) fn old_document(&self, served: &[ServedGroup], accept: Option<&str>) -> Answer {
        let form = v2::Form::of(accept);
        let [json, protobuf] = &self.old;
        let made = match form {
            v2::Form::Json => json,
            v2::Form::Protobuf => protobuf,
        };
        let bytes = made.get_or_init(|| {
            let roots = group_versions()
                .filter(|it| is_served(served, *it))
                .flat_map(|(group, version)| operations::paths(&path(group, version), version).1);
            v2::document(&schemas::reachable(roots.collect()), form).into()
        });
        Answer::whole(form.media_type(), bytes.clone())
    }

    /// The index.
    pub(crate) fn index(&self, served: &[ServedGroup]) -> Answer {
        let bytes = self.index.get_or_init(|| {
            let paths: Map<String, Value> = group_versions()
                .filter(|it| is_served(served, *it))
                .map(|(group, version)| {
                    let path = path(group, version);
                    let hash = tag(&document(group, version));
                    let url = format!("/openapi/v3/{path}?hash={hash}");
                    (path, json!({"serverRelativeURL": url}))
                })
                .collect();
            json!({"paths": paths}).to_string().into()
        });
        // Upstream's index says that it is text.
        Answer::whole(TEXT, bytes.clone())
    }

    /// The document of a path below `/openapi/v3/`. With a hash, that of the document as it is
    /// now may be kept for ever, and any other leads there.
    pub(crate) fn document(
        &self,
        served: &[ServedGroup],
        path: &str,
        hash: Option<&str>,
        if_none_match: Option<&str>,
    ) -> Option<Answer> {
        let found = self.documents.iter().position(|(it, _)| it == path)?;
        let (group, version) = group_versions().nth(found)?;
        if !is_served(served, (group, version)) {
            return None;
        }
        let made = &self.documents[found].1;
        let bytes = made.get_or_init(|| document(group, version).into());
        let current = tag(bytes);
        let tag = format!("\"{current}\"");
        let mut answer = if hash.is_some_and(|it| it != current) {
            let mut answer = Answer::new(
                StatusCode::MOVED_PERMANENTLY,
                "application/json",
                Body::empty(),
            );
            let url = HeaderValue::from_str(&format!("/openapi/v3/{path}?hash={current}")).ok()?;
            answer.headers.insert(LOCATION, url);
            answer
        } else if if_none_match == Some(tag.as_str()) {
            Answer::not_modified()
        } else {
            Answer::whole("application/json", bytes.clone())
        };
        if hash == Some(current.as_str()) {
            answer = answer.with_header(CACHE_CONTROL, "public, immutable");
        }
        answer = answer.with_header(VARY, "Accept");
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            answer.headers.insert(ETAG, tag);
        }
        Some(answer)
    }
}

fn group_versions() -> impl Iterator<Item = (&'static GroupFacts, &'static VersionFacts)> {
    let versions = |group: &'static GroupFacts| group.versions.iter().map(move |it| (group, it));
    GROUPS.iter().flat_map(versions)
}

/// Whether a version of a built-in group is turned on. That does not change while a server runs.
fn is_served(
    served: &[ServedGroup],
    (group, version): (&'static GroupFacts, &'static VersionFacts),
) -> bool {
    let mut groups = served.iter().filter(|it| it.name == *group.name);
    groups.any(|it| it.version(version.version).is_some())
}

/// `api/v1`, `apis/apps/v1`.
fn path(group: &GroupFacts, version: &VersionFacts) -> String {
    if group.name.is_empty() {
        format!("api/{}", version.version)
    } else {
        format!("apis/{}", version.api_version)
    }
}

fn tag(bytes: &[u8]) -> String {
    format!("{:016X}", crate::hash::of_bytes(bytes))
}

/// The document of a version of a group, as JSON.
fn document(group: &'static GroupFacts, version: &'static VersionFacts) -> Vec<u8> {
    let (paths, roots) = operations::paths(&path(group, version), version);
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas::reachable(roots)},
    });
    document.to_string().into_bytes()
}

#[cfg(test)]
mod tests;
