//! `Seeds`: valid objects of every kind, and the values in them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An error in the seeds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedsError {
    /// A file or the folder cannot be read.
    #[error("the folder of seeds cannot be read")]
    Read(#[from] std::io::Error),
    /// A file is not YAML.
    #[error("{path} is not understood")]
    Yaml {
        /// The file.
        path: PathBuf,
        /// The error.
        source: Box<serde_saphyr::Error>,
    },
}

/// Values for one field name.
const WORDS_MAX: usize = 64;

/// Valid objects of every kind.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    objects: BTreeMap<String, Vec<Value>>,
    /// The values of all fields of a name, of any kind.
    words: BTreeMap<String, Vec<Value>>,
}

impl Seeds {
    /// Reads a folder with a file for each kind, named after its plural, and a document for each
    /// object.
    pub fn read(folder: &Path) -> Result<Self, SeedsError> {
        let mut seeds = Self::default();
        let mut paths = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()?;
        paths.sort_unstable();
        for path in paths {
            let text = std::fs::read_to_string(&path)?;
            let objects: Vec<Value> =
                serde_saphyr::from_multiple(&text).map_err(|source| SeedsError::Yaml {
                    path: path.clone(),
                    source: Box::new(source),
                })?;
            for object in &objects {
                seeds.learn(object);
            }
            let resource = path.file_stem().unwrap_or_default().to_string_lossy();
            seeds.objects.insert(resource.into_owned(), objects);
        }
        Ok(seeds)
    }

    /// Returns the plurals of the kinds.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.objects.keys().map(String::as_str)
    }

    /// Returns the objects of a kind.
    pub fn objects(&self, resource: &str) -> &[Value] {
        self.objects.get(resource).map_or(&[], Vec::as_slice)
    }

    /// Returns the values of fields of this name.
    pub(crate) fn words(&self, field: &str) -> &[Value] {
        self.words.get(field).map_or(&[], Vec::as_slice)
    }

    fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let words = self.words.entry(name.clone()).or_default();
                    if words.len() < WORDS_MAX && !words.contains(value) {
                        words.push(value.clone());
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }
}
