//! `Sentences`: the hand-written documentation of types and fields in `xtask/schema/docs`.
//!
//! Each `<package>/*.json` is an object of messages, and each message an object of fields, in which
//! the empty name stands for the type itself. Reading reports all mistakes at once, with file and
//! field.

mod pairs;

use self::pairs::Pairs;
use super::emitted::{is_emitted, is_list_kind};
use super::rustdoc;
use super::schema::{Message, Schema};
use crate::process::Outcome;
use std::collections::BTreeMap;
use std::path::Path;

/// Packages in which every type and field must have a sentence as soon as one has.
const COMPLETE: [&str; 11] = [
    "admissionregistration.v1",
    "apiextensions.v1",
    "apps.v1",
    "batch.v1",
    "coordination.v1",
    "core.v1",
    "meta.v1",
    "networking.v1",
    "policy.v1",
    "rbac.v1",
    "storage.v1",
];
/// The maximal number of mistakes in an error.
const MISTAKES_MAX: usize = 100;

/// Sentences by the full name of a message and the JSON name of a field.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    by_message: BTreeMap<String, BTreeMap<String, String>>,
    /// The file of each message, without extension.
    files: BTreeMap<String, String>,
}

/// A file of sentences.
struct File {
    /// The last two segments of the package.
    package: String,
    /// The path in error messages.
    path: String,
    text: String,
}

impl Sentences {
    /// Reads all files of a folder, which may be missing.
    pub(crate) fn read(folder: &Path, schema: &Schema) -> Outcome<Self> {
        let mut files = Vec::new();
        for package in entries(folder)? {
            for path in entries(&folder.join(&package))? {
                let text = std::fs::read_to_string(folder.join(&package).join(&path))?;
                files.push(File {
                    path: format!("{package}/{path}"),
                    package: package.clone(),
                    text,
                });
            }
        }
        Ok(Self::new(&files, schema)?)
    }

    /// Returns the sentence of a type.
    pub(crate) fn of_type(&self, full_name: &str) -> Option<&str> {
        self.of_field([full_name], "")
    }

    /// Returns the file with the sentences of a type, without extension.
    pub(crate) fn file_of(&self, full_name: &str) -> Option<&str> {
        self.files.get(full_name).map(String::as_str)
    }

    /// Returns the sentence of a field at the first of these messages that has one.
    pub(crate) fn of_field<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a str>,
        json: &str,
    ) -> Option<&str> {
        let mut messages = messages.into_iter();
        let found = messages.find_map(|message| self.by_message.get(message)?.get(json));
        found.map(String::as_str)
    }

    fn new(files: &[File], schema: &Schema) -> Result<Self, String> {
        let mut reading = Reading {
            schema,
            names: by_package(schema),
            all: Self::default(),
            files: BTreeMap::new(),
            mistakes: Vec::new(),
        };
        for file in files {
            reading.file(file);
        }
        reading.check_complete(files);
        let mistakes = reading.mistakes;
        if mistakes.is_empty() {
            let files = reading.files.into_iter();
            reading.all.files = files
                .map(|(full_name, path)| (full_name.to_owned(), stem(path).to_owned()))
                .collect();
            return Ok(reading.all);
        }
        let mut list = mistakes[..mistakes.len().min(MISTAKES_MAX)].join("\n");
        if mistakes.len() > MISTAKES_MAX {
            let more = (mistakes.len() - MISTAKES_MAX).to_string();
            list.extend(["\nand ", &more, " more"]);
        }
        Err(format!("mistakes in xtask/schema/docs:\n{list}"))
    }
}

/// Returns the name of a file without folders and extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".json").unwrap_or(name)
}

/// Returns the sorted names in a folder; none if there is no folder.
fn entries(folder: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
    }
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

/// Returns full names by the last two segments of their package and by their Go name.
fn by_package(schema: &Schema) -> BTreeMap<String, BTreeMap<&str, &str>> {
    let mut names: BTreeMap<String, BTreeMap<&str, &str>> = BTreeMap::new();
    for (full_name, message) in &schema.messages {
        let mut parts = full_name.rsplit('.').skip(1);
        let version = parts.next().unwrap_or_default();
        let package = format!("{}.{version}", parts.next().unwrap_or_default());
        let go = message.go.rsplit('.').next().unwrap_or_default();
        names.entry(package).or_default().insert(go, full_name);
    }
    names
}

/// Returns the JSON names of a message's fields, and whether the message declares them itself
/// rather than by an inline field.
fn fields<'a>(schema: &'a Schema, message: &'a Message) -> BTreeMap<&'a str, bool> {
    let mut all = BTreeMap::new();
    for field in &message.fields {
        if field.inline {
            let inner = schema.messages.get(field.type_.trim_start_matches('*'));
            let inner = inner.map(|inner| fields(schema, inner)).unwrap_or_default();
            all.extend(inner.into_keys().map(|name| (name, false)));
        } else if !field.json.is_empty() && field.json != "-" {
            all.insert(field.json.as_str(), true);
        }
    }
    all
}

/// The state while files are read.
struct Reading<'a> {
    schema: &'a Schema,
    names: BTreeMap<String, BTreeMap<&'a str, &'a str>>,
    all: Sentences,
    /// The file of each message.
    files: BTreeMap<&'a str, &'a str>,
    mistakes: Vec<String>,
}

impl<'a> Reading<'a> {
    fn file(&mut self, file: &'a File) {
        let path = &file.path;
        let Some(names) = self.names.get(&file.package).cloned() else {
            self.mistakes.push(format!("{path}: no such package"));
            return;
        };
        let messages: Pairs<Pairs<String>> = match serde_json::from_str(&file.text) {
            Ok(messages) => messages,
            Err(error) => {
                self.mistakes.push(format!("{path}: {error}"));
                return;
            }
        };
        for (go, sentences) in messages.0 {
            let full_name = names.get(go.as_str()).copied();
            let message = full_name.and_then(|it| Some((it, self.schema.messages.get(it)?)));
            let Some((full_name, message)) = message else {
                self.mistakes.push(format!("{path}: {go}: no such type"));
                continue;
            };
            if let Some(other) = self.files.insert(full_name, path) {
                self.mistakes.push(format!("{path}: {go}: also in {other}"));
            }
            let place = format!("{path}: {go}");
            self.message(&place, full_name, message, sentences);
        }
    }

    fn message(
        &mut self,
        place: &str,
        full_name: &str,
        message: &Message,
        sentences: Pairs<String>,
    ) {
        let known = fields(self.schema, message);
        let all = self.all.by_message.entry(full_name.to_owned()).or_default();
        for (field, sentence) in sentences.0 {
            let place = format!("{place}.{field}");
            if !field.is_empty() && !known.contains_key(field.as_str()) {
                self.mistakes.push(format!("{place}: no such field"));
                continue;
            }
            if let Some(mistake) = mistake(&sentence) {
                self.mistakes.push(format!("{place}: {mistake}"));
            }
            if all.insert(field, ended(sentence)).is_some() {
                self.mistakes.push(format!("{place}: has two sentences"));
            }
        }
    }

    /// Finds missing sentences in the packages that must be complete.
    fn check_complete(&mut self, files: &[File]) {
        for package in COMPLETE {
            if !files.iter().any(|file| file.package == package) {
                continue;
            }
            for (&go, &full_name) in self.names.get(package).into_iter().flatten() {
                let Some(message) = self.schema.messages.get(full_name) else {
                    continue;
                };
                if !needs_sentences(full_name, message) {
                    continue;
                }
                let file = self.files.get(full_name).copied().unwrap_or(package);
                let own = fields(self.schema, message);
                let own = own
                    .into_iter()
                    .filter_map(|(name, own)| own.then_some(name));
                for field in [""].into_iter().chain(own) {
                    if self.all.of_field([full_name], field).is_none() {
                        let missing = format!("{file}: {go}.{field}: has no sentence");
                        self.mistakes.push(missing);
                    }
                }
            }
        }
    }
}

/// Reports whether a message needs sentences. List kinds do not: theirs follow from the item kind.
fn needs_sentences(full_name: &str, message: &Message) -> bool {
    (message.openapi || is_emitted(full_name, message)) && !is_list_kind(message)
}

/// Returns why a sentence cannot become a doc comment.
fn mistake(sentence: &str) -> Option<&'static str> {
    let is_long = |word: &String| word.chars().count() > rustdoc::WORD_MAX;
    if sentence.trim().is_empty() {
        Some("is empty")
    } else if sentence.contains(char::is_control) || sentence.contains("```") {
        Some("is not a single line of text")
    } else if !sentence.matches('`').count().is_multiple_of(2) {
        Some("has a backtick without its pair")
    } else if rustdoc::words(sentence).iter().any(is_long) {
        Some("has a word that is longer than a line")
    } else {
        None
    }
}

/// Returns the sentence with a full stop.
fn ended(mut sentence: String) -> String {
    sentence.truncate(sentence.trim_end().len());
    if !sentence.ends_with(['.', '!', '?', ')']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests;
