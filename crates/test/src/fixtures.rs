//! `Fixtures`: objects that a test begins with, from YAML, files, folders and definitions.
//!
//! They are created by requests, as a user would: what the server refuses is an error that names
//! the file, the document and the line. A status is written after its object, as a controller would
//! write it.

mod document;
pub(crate) mod error;

use document::{FixtureDocument, parse};
use error::{FixtureError, FixtureProblem};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::apimachinery::wire::{Encode as _, Encoding};
use kubist::apimachinery::{
    ApiResource, FieldValidation, KubeObject as _, Object as _, PostOptions, Unstructured,
};
use kubist::client::{Api, Client, RestMapper};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of a folder at most.
const FILES_MAX: usize = 10_000;
/// How long a definition may take to be served.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(10);
/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// Objects that are created together.
#[derive(Clone, Debug, Default)]
pub struct Fixtures {
    sources: Vec<Source>,
}

#[derive(Clone, Debug)]
enum Source {
    Text(String),
    Path(PathBuf),
    Definition(Box<CustomResourceDefinition>),
}

impl Fixtures {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Adds the objects of a YAML or JSON text: any number of documents, and lists.
    #[must_use]
    pub fn yaml(mut self, text: impl Into<String>) -> Self {
        self.sources.push(Source::Text(text.into()));
        self
    }

    /// Adds the objects of a file, or of all `.yaml`, `.yml` and `.json` files in a folder and its
    /// folders, in the order of their paths. It is read when the fixtures are created.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.sources.push(Source::Path(path.as_ref().to_path_buf()));
        self
    }

    /// Adds a definition, such as that of a derived kind.
    #[must_use]
    pub fn definition(mut self, definition: CustomResourceDefinition) -> Self {
        self.sources.push(Source::Definition(Box::new(definition)));
        self
    }

    /// Creates everything: definitions first, which are waited for, then namespaces, then the rest
    /// in its order. `eyes` waits.
    pub(crate) async fn create(&self, client: &Client, eyes: &Client) -> Result<(), FixtureError> {
        let mut documents = self.documents()?;
        documents.sort_by_key(FixtureDocument::rank);
        let mut definitions = Vec::new();
        let mapper = RestMapper::new(eyes.clone());
        let mut documents = documents.iter().peekable();
        while let Some(document) = documents.next() {
            create(document, client, &mapper).await?;
            if document.is_definition() {
                definitions.push(document);
            }
            let is_last = documents.peek().is_none_or(|it| !it.is_definition());
            if is_last && !definitions.is_empty() {
                for definition in definitions.drain(..) {
                    established(definition, eyes).await?;
                }
                mapper.invalidate();
            }
        }
        Ok(())
    }

    fn documents(&self) -> Result<Vec<FixtureDocument>, FixtureError> {
        let mut documents = Vec::new();
        let mut texts = 0;
        for source in &self.sources {
            match source {
                Source::Text(text) => {
                    texts += 1;
                    documents.extend(parse(&format!("text {texts}"), text)?);
                }
                Source::Path(path) => {
                    for file in files(path)? {
                        let text = fs::read_to_string(&file);
                        let text = text.map_err(|error| unreadable(&file, error))?;
                        documents.extend(parse(&file.display().to_string(), &text)?);
                    }
                }
                Source::Definition(definition) => documents.push(of_definition(definition)),
            }
        }
        Ok(documents)
    }
}

/// Returns the file, or the files of the folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, FixtureError> {
    let is_folder = fs::metadata(path)
        .map_err(|error| unreadable(path, error))?
        .is_dir();
    if !is_folder {
        return Ok(vec![path.to_path_buf()]);
    }
    let (mut found, mut folders) = (Vec::new(), vec![path.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder, error))?.path();
            if entry.is_dir() {
                folders.push(entry);
            } else if is_manifest(&entry) {
                found.push(entry);
            }
            if found.len() + folders.len() > FILES_MAX {
                let problem = FixtureProblem::TooMany { max: FILES_MAX };
                return Err(of_file(path, problem));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| matches!(it, "yaml" | "yml" | "json"))
}

fn unreadable(path: &Path, error: io::Error) -> FixtureError {
    of_file(path, FixtureProblem::Read(error))
}

fn of_file(path: &Path, problem: FixtureProblem) -> FixtureError {
    FixtureError {
        file: path.display().to_string(),
        document: 0,
        line: 0,
        object: String::new(),
        problem: Box::new(problem),
    }
}

fn of_definition(definition: &CustomResourceDefinition) -> FixtureDocument {
    let text = definition.encode(Encoding::Json).unwrap_or_default();
    let mut object = Unstructured {
        object: serde_json::from_slice(&text).unwrap_or_default(),
    };
    object.set_kind(&ApiResource::of::<CustomResourceDefinition>());
    // The server writes it.
    object.object.remove("status");
    FixtureDocument {
        file: format!("the definition {}", definition.metadata().name),
        number: 1,
        line: 1,
        object,
    }
}

/// Creates an object, and then writes its status, if it has one.
async fn create(
    document: &FixtureDocument,
    client: &Client,
    mapper: &RestMapper,
) -> Result<(), FixtureError> {
    let mut object = document.object.clone();
    let gvk = object.gvk().ok_or_else(|| {
        let field = "apiVersion";
        document.fail(FixtureProblem::Missing { field })
    })?;
    let resource = mapper.of_kind(&gvk).await;
    let resource = resource.map_err(|error| document.fail(FixtureProblem::Kind(error)))?;
    if resource.namespaced && object.namespace().is_empty() {
        object.set_metadata("namespace", NAMESPACE);
    }
    let status = object.object.remove("status").filter(|it| !it.is_null());
    let options = PostOptions {
        field_validation: Some(FieldValidation::Strict),
        ..PostOptions::default()
    };
    let refused = |error| document.fail(FixtureProblem::Refused(error));
    let mut api: Api<Unstructured> = Api::dynamic(client.clone(), &resource);
    if resource.namespaced {
        api = api.in_namespace(object.namespace());
    }
    let mut created = api.create_with(&object, &options).await.map_err(refused)?;
    let Some(status) = status else { return Ok(()) };
    if created.object.get("status") == Some(&status) {
        return Ok(());
    }
    merge(&mut created.object, status);
    api.status()
        .replace(created.name(), &created)
        .await
        .map_err(refused)?;
    Ok(())
}

/// Adds the fields of a status to those that the server has set.
fn merge(object: &mut serde_json::Map<String, Value>, status: Value) {
    match (object.get_mut("status"), status) {
        (Some(Value::Object(known)), Value::Object(status)) => known.extend(status),
        (_, status) => {
            object.insert("status".to_owned(), status);
        }
    }
}

async fn established(document: &FixtureDocument, eyes: &Client) -> Result<(), FixtureError> {
    let definitions: Api<CustomResourceDefinition> = Api::all(eyes.clone());
    let is_established = |it: Option<&CustomResourceDefinition>| {
        it.is_some_and(|it| {
            let mut conditions = it.status.conditions.iter();
            conditions.any(|it| it.type_ == "Established" && it.status == "True")
        })
    };
    let name = document.object.name();
    let waited = definitions.wait_until_within(name, ESTABLISHED_WITHIN, is_established);
    let waited = waited.await.map(drop);
    waited.map_err(|error| document.fail(FixtureProblem::NotEstablished(error)))
}
