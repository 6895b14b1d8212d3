//! `Sentences`: what people wrote about types and fields, below `xtask/schema/docs`.
//!
//! `<package>/*.json`, each an object of messages, each an object of fields; the empty name is the
//! type itself. What is wrong in them is told all at once, with file and field.

mod pairs;

use std::collections::BTreeMap;
use std::path::Path;

use self::pairs::Pairs;
use super::model::{is_emitted, is_list_kind};
use super::rustdoc;
use super::schema::{Message, Schema};
use crate::process::Outcome;

/// Packages in which every type and field has a sentence, once they have any.
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
/// So many mistakes are told.
const TOLD_MAX: usize = 100;

/// Sentences by the full name of a message and the JSON name of a field.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    said: BTreeMap<String, BTreeMap<String, String>>,
}

/// A file of sentences.
struct File {
    /// The last two segments of a package.
    package: String,
    /// As mistakes tell it.
    path: String,
    text: String,
}

impl Sentences {
    /// Reads all files below a folder. There may be none.
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

    /// What is said of a type.
    pub(crate) fn of_type(&self, full_name: &str) -> Option<&str> {
        self.of_field([full_name], "")
    }

    /// What is said of a field at the first of some messages: its own, and the one that brings it.
    pub(crate) fn of_field<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a str>,
        json: &str,
    ) -> Option<&str> {
        let mut messages = messages.into_iter();
        let found = messages.find_map(|message| self.said.get(message)?.get(json));
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
        reading.complete(files);
        let mistakes = reading.mistakes;
        if mistakes.is_empty() {
            return Ok(reading.all);
        }
        let mut told = mistakes[..mistakes.len().min(TOLD_MAX)].join("\n");
        if mistakes.len() > TOLD_MAX {
            let more = (mistakes.len() - TOLD_MAX).to_string();
            told.extend(["\nand ", &more, " more"]);
        }
        Err(format!("sentences below xtask/schema/docs:\n{told}"))
    }
}

/// The names in a folder, in their order; none if it is not there.
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

/// Full names by the last two segments of their package and their Go name.
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

/// The JSON names of the fields of a message, and whether each is its own: others are inline.
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

/// The files while they are read.
struct Reading<'a> {
    schema: &'a Schema,
    names: BTreeMap<String, BTreeMap<&'a str, &'a str>>,
    all: Sentences,
    /// Where each message is told of.
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
        for (go, said) in messages.0 {
            let full_name = names.get(go.as_str()).copied();
            let message = full_name.and_then(|it| Some((it, self.schema.messages.get(it)?)));
            let Some((full_name, message)) = message else {
                self.mistakes.push(format!("{path}: {go}: no such type"));
                continue;
            };
            if let Some(other) = self.files.insert(full_name, path) {
                self.mistakes.push(format!("{path}: {go}: also in {other}"));
            }
            self.message(&format!("{path}: {go}"), full_name, message, said);
        }
    }

    fn message(&mut self, place: &str, full_name: &str, message: &Message, said: Pairs<String>) {
        let known = fields(self.schema, message);
        let all = self.all.said.entry(full_name.to_owned()).or_default();
        for (field, sentence) in said.0 {
            let place = format!("{place}.{field}");
            if !field.is_empty() && !known.contains_key(field.as_str()) {
                self.mistakes.push(format!("{place}: no such field"));
                continue;
            }
            if let Some(mistake) = mistake(&sentence) {
                self.mistakes.push(format!("{place}: {mistake}"));
            }
            if all.insert(field, ended(sentence)).is_some() {
                self.mistakes.push(format!("{place}: told twice"));
            }
        }
    }

    /// Finds what is not told in the packages that are to be complete.
    fn complete(&mut self, files: &[File]) {
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

/// Lists of a kind need none: what is to say of them follows from the kind.
fn needs_sentences(full_name: &str, message: &Message) -> bool {
    (message.openapi || is_emitted(full_name, message)) && !is_list_kind(message)
}

/// What keeps a sentence from being a comment.
fn mistake(sentence: &str) -> Option<&'static str> {
    let is_long = |word: &String| word.chars().count() > rustdoc::WORD_MAX;
    if sentence.trim().is_empty() {
        Some("is empty")
    } else if sentence.contains(char::is_control) || sentence.contains("```") {
        Some("is more than a line")
    } else if !sentence.matches('`').count().is_multiple_of(2) {
        Some("has code that does not end")
    } else if rustdoc::words(sentence).iter().any(is_long) {
        Some("has a word that fits no line")
    } else {
        None
    }
}

/// A sentence with its full stop.
fn ended(mut sentence: String) -> String {
    sentence.truncate(sentence.trim_end().len());
    if !sentence.ends_with(['.', '!', '?', ')']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests;
