//! `/openapi/v3`: an index, and a document for each group version and for the paths above them.
//! `/openapi/v2`: one document.
//!
//! The documents have what clients use: schemas with descriptions, list keys and patch strategies
//! (`kubectl explain`, strategic merge), and operations with media types and parameters (`kubectl
//! apply` looks for `fieldValidation`). Those of built-in groups are built on first use and cached;
//! the index builds all of them once for their hashes.

mod connections;
mod custom_schema;
mod definitions;
mod descriptions;
mod non_resource_paths;
mod operation;
mod operations;
mod schemas;
mod v2;

use crate::response::body::Body;
use crate::response::{ApiResponse, TEXT};
use crate::version::API_MINOR;
use bytes::Bytes;
use definitions::defined;
use descriptions::Descriptions;
use http::header::{CACHE_CONTROL, ETAG, EXPIRES, LOCATION, VARY};
use http::{HeaderValue, StatusCode};
use kubist_api::{GROUPS, GroupFacts, VersionFacts};
use kubist_apimachinery::wire::Schema;
use kubist_codec::negotiate::parse_accept;
use kubist_registry::{ServedGroup, ServedVersion, Stored};
use non_resource_paths::NonResourcePath;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;
use std::time::Duration;
use time::OffsetDateTime;

const JSON: &str = "application/json";

/// The OpenAPI documents of a server.
#[derive(Debug, Default)]
pub(crate) struct OpenApi {
    /// Paths and hashes of the built-in documents.
    index: OnceLock<Vec<(String, String)>>,
    documents: Vec<Document>,
    old: [OnceLock<Bytes>; 2],
}

/// A built-in document.
#[derive(Debug)]
struct Document {
    /// Without the leading slash.
    path: String,
    topic: Topic,
    made: OnceLock<Bytes>,
}

/// The subject of a document.
#[derive(Clone, Copy, Debug)]
enum Topic {
    NonResourcePath(NonResourcePath),
    Version(&'static GroupFacts, &'static VersionFacts),
}

/// A request for a document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentRequest<'a> {
    /// The path below `/openapi/v3/`.
    pub(crate) path: &'a str,
    /// The hash that the client knows.
    pub(crate) hash: Option<&'a str>,
    pub(crate) if_none_match: Option<&'a str>,
    pub(crate) accept: Option<&'a str>,
    /// Time since the Unix epoch.
    pub(crate) now: Duration,
}

impl OpenApi {
    /// Bytes parsed to build a document.
    pub(crate) const BYTES: usize = Descriptions::BYTES;

    pub(crate) fn new() -> Self {
        let always = NonResourcePath::ALWAYS
            .into_iter()
            .map(Topic::NonResourcePath);
        let groups = GROUPS.iter().filter(|it| !it.name.is_empty());
        let groups = groups.map(|it| Topic::NonResourcePath(NonResourcePath::Group(it)));
        let versions = group_versions().map(|(group, version)| Topic::Version(group, version));
        let topics = always.chain(groups).chain(versions);
        let documents = topics.map(|topic| Document {
            path: topic.path(),
            topic,
            made: OnceLock::new(),
        });
        Self {
            index: OnceLock::new(),
            documents: documents.collect(),
            old: Default::default(),
        }
    }

    /// Returns the document of `/openapi/v2` in the format that an Accept header prefers.
    pub(crate) fn old_document(
        &self,
        served: &[ServedGroup],
        stored: &[Stored],
        accept: Option<&str>,
    ) -> ApiResponse {
        let Some(form) = v2::Form::of(accept) else {
            return vary(not_acceptable(), ["Accept-Encoding", "Accept"]);
        };
        let [json, protobuf] = &self.old;
        let made = match form {
            v2::Form::Json => json,
            v2::Form::Protobuf => protobuf,
        };
        let bytes = made.get_or_init(|| {
            let descriptions = Descriptions::read();
            let roots = group_versions()
                .filter(|it| is_served(served, *it))
                .flat_map(|it| paths(it, served, &descriptions).1);
            let schemas = non_resource_paths::add_schemas(roots.collect(), &descriptions);
            v2::document(&schemas, form).into()
        });
        let defined = defined(served, stored);
        let bytes = if defined.is_empty() {
            bytes.clone()
        } else {
            let types = defined.iter().flat_map(definitions::Defined::old_types);
            v2::with_types(bytes, &types.collect(), form).into()
        };
        let answer = ApiResponse::whole(form.media_type(), bytes);
        vary(answer, ["Accept-Encoding", "Accept"])
    }

    /// Returns the index, including stored definitions. `add` adds the documents of other servers.
    pub(crate) fn index(
        &self,
        served: &[ServedGroup],
        stored: &[Stored],
        add: impl FnOnce(&mut Map<String, Value>),
    ) -> ApiResponse {
        let built_in = self.index.get_or_init(|| {
            let descriptions = Descriptions::read();
            let documents = self.documents.iter();
            documents
                .filter(|it| it.topic.is_served(served))
                .map(|it| {
                    (
                        it.path.clone(),
                        tag(&it.topic.document(served, &descriptions)),
                    )
                })
                .collect()
        });
        let defined = defined(served, stored);
        let defined = defined.iter().map(|it| (it.path(), it.tag()));
        let paths = defined.chain(built_in.iter().cloned());
        let entry = |(path, hash): (String, String)| {
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, json!({"serverRelativeURL": url}))
        };
        let mut paths: Map<String, Value> = paths.map(entry).collect();
        add(&mut paths);
        let text = json!({"paths": paths}).to_string();
        // Upstream's index has a text content type.
        ApiResponse::whole(TEXT, text)
    }

    /// Reports whether a path below `/openapi/v3/` is that of a built-in document.
    pub(crate) fn is_built_in(&self, path: &str) -> bool {
        self.documents.iter().any(|it| it.path == path)
    }

    /// Returns a document. With its current hash it may be cached for ever; any other hash
    /// redirects to the current one.
    pub(crate) fn document(
        &self,
        served: &[ServedGroup],
        stored: &[Stored],
        asked: DocumentRequest<'_>,
    ) -> Option<ApiResponse> {
        let mut documents = self.documents.iter();
        let built_in = documents.find(|it| it.path == asked.path && it.topic.is_served(served));
        if let Some(document) = built_in {
            let make = || {
                document
                    .topic
                    .document(served, &Descriptions::read())
                    .into()
            };
            let bytes = document.made.get_or_init(make);
            return answer(asked, &tag(bytes), || bytes.clone());
        }
        let defined = defined(served, stored);
        let document = defined.iter().find(|it| it.path() == asked.path)?;
        let make = || document.document(&Descriptions::read()).into();
        answer(asked, &document.tag(), make)
    }
}

/// Returns the response to a request for a document, which is built if needed.
fn answer(
    asked: DocumentRequest<'_>,
    current: &str,
    make: impl FnOnce() -> Bytes,
) -> Option<ApiResponse> {
    let is_json = |media_type: &str| (media_type == JSON).then_some(());
    if accepted(asked.accept, is_json).is_none() {
        return Some(vary(not_acceptable(), ["Accept"]));
    }
    let tag = format!("\"{current}\"");
    let mut answer = if asked.hash.is_some_and(|it| it != current) {
        let mut answer = ApiResponse::new(StatusCode::MOVED_PERMANENTLY, JSON, Body::empty());
        let url = format!("/openapi/v3/{}?hash={current}", asked.path);
        let url = HeaderValue::from_str(&url).ok()?;
        answer.headers.insert(LOCATION, url);
        answer
    } else if asked.if_none_match == Some(tag.as_str()) {
        ApiResponse::not_modified()
    } else {
        ApiResponse::whole(JSON, make())
    };
    if asked.hash == Some(current) {
        answer = answer.with_header(CACHE_CONTROL, "public, immutable");
        answer
            .headers
            .extend(in_a_year(asked.now).map(|it| (EXPIRES, it)));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        answer.headers.insert(ETAG, tag);
    }
    Some(vary(answer, ["Accept"]))
}

/// Cache lifetime, in headers that need a number.
fn in_a_year(now: Duration) -> Option<HeaderValue> {
    let now = OffsetDateTime::from_unix_timestamp(i64::try_from(now.as_secs()).ok()?).ok()?;
    // The last day of a leap February does not exist a year later.
    let then = now.replace_year(now.year() + 1);
    let then = then.unwrap_or(now.checked_add(time::Duration::days(366))?);
    let (weekday, month) = (then.weekday().to_string(), then.month().to_string());
    let (day, year) = (then.day(), then.year());
    let (hour, minute, second) = then.time().as_hms();
    let text =
        format!("{weekday:.3}, {day:02} {month:.3} {year} {hour:02}:{minute:02}:{second:02} UTC");
    HeaderValue::from_str(&text).ok()
}

/// Upstream's body is empty.
fn not_acceptable() -> ApiResponse {
    ApiResponse::bare(StatusCode::NOT_ACCEPTABLE)
}

fn vary<const N: usize>(mut answer: ApiResponse, names: [&'static str; N]) -> ApiResponse {
    for name in names {
        answer.headers.append(VARY, HeaderValue::from_static(name));
    }
    answer
}

/// Returns the preferred format of an Accept header. `form` maps media types; wildcards mean JSON.
fn accepted<T>(accept: Option<&str>, form: impl Fn(&str) -> Option<T>) -> Option<T> {
    let header = accept.unwrap_or_default();
    if header.trim().is_empty() {
        return form(JSON);
    }
    parse_accept(header).iter().find_map(|clause| {
        let media_type = &clause.media_type;
        match (&*media_type.main, &*media_type.sub) {
            ("*" | "application", "*") => form(JSON),
            (main, sub) => form(&format!("{main}/{sub}")),
        }
    })
}

impl Topic {
    fn path(self) -> String {
        match self {
            Self::NonResourcePath(entrance) => entrance.path(),
            Self::Version(group, version) => path(group, version),
        }
    }

    /// Whether it is enabled, which does not change while a server runs.
    fn is_served(self, served: &[ServedGroup]) -> bool {
        match self {
            Self::NonResourcePath(NonResourcePath::Group(group)) => {
                let mut versions = group.versions.iter();
                versions.any(|version| is_served(served, (group, version)))
            }
            Self::NonResourcePath(_) => true,
            Self::Version(group, version) => is_served(served, (group, version)),
        }
    }

    fn document(self, served: &[ServedGroup], descriptions: &Descriptions) -> Vec<u8> {
        match self {
            Self::NonResourcePath(entrance) => entrance.document(descriptions),
            Self::Version(group, version) => document((group, version), served, descriptions),
        }
    }
}

fn group_versions() -> impl Iterator<Item = GroupVersion> {
    let versions = |group: &'static GroupFacts| group.versions.iter().map(move |it| (group, it));
    GROUPS.iter().flat_map(versions)
}

type GroupVersion = (&'static GroupFacts, &'static VersionFacts);

/// Returns the enabled resources of a built-in group version, if any.
fn served_version(
    served: &[ServedGroup],
    (group, version): GroupVersion,
) -> Option<&ServedVersion> {
    let mut groups = served.iter().filter(|it| it.name == *group.name);
    groups.find_map(|it| it.version(version.version))
}

fn is_served(served: &[ServedGroup], version: GroupVersion) -> bool {
    served_version(served, version).is_some()
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
    format!("{:016X}", crate::response::etag::of_bytes(bytes))
}

/// Collects the paths of a group version, and the schemas that they reference.
fn paths(
    (group, version): GroupVersion,
    served: &[ServedGroup],
    descriptions: &Descriptions,
) -> (Value, Vec<&'static Schema>) {
    let served = served_version(served, (group, version));
    operations::paths(
        path(group, version),
        group.name,
        version,
        served,
        descriptions,
    )
}

/// Returns the document of a group version as JSON.
fn document(
    (group, version): GroupVersion,
    served: &[ServedGroup],
    descriptions: &Descriptions,
) -> Vec<u8> {
    let (paths, roots) = paths((group, version), served, descriptions);
    let mut schemas = schemas::reachable(roots, descriptions);
    if !group.name.is_empty() {
        schemas::register(&mut schemas, group.name, version.version);
    }
    whole(paths, schemas)
}

/// Returns a built-in document.
fn whole(paths: Value, schemas: Map<String, Value>) -> Vec<u8> {
    let mut components = json!({"securitySchemes": {"BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }}});
    if !schemas.is_empty() {
        components["schemas"] = Value::Object(schemas);
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": format!("1.{API_MINOR}")},
        "paths": paths,
        "components": components,
    })
    .to_string()
    .into_bytes()
}

#[cfg(test)]
mod tests;
