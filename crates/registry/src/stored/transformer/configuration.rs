//! `EncryptionConfiguration`: upstream's configuration file for encryption at rest, with the
//! encrypted resources and their keys for writes and reads.
//!
//! Each error is reported with its field path, and none is ignored: a server must not start with
//! less encryption than configured. All providers are supported except `kms`.

mod providers;
mod resources;

use self::providers::Provider;
use super::{TransformError, Transformer, Transformers};
use kubist_apimachinery::{FieldPath, GroupResource};
use kubist_codec::yaml::{self, YamlError};
use ring::digest;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::Arc;

const API_VERSION: &str = "apiserver.config.k8s.io/v1";
const KIND: &str = "EncryptionConfiguration";
/// Stands for all resources of a group, or for all groups.
const EVERY: &str = "*";

/// An encryption configuration: the encrypted resources and their transformers.
///
/// ```
/// use kubist_registry::transformer::EncryptionConfiguration;
///
/// let file = "
/// apiVersion: apiserver.config.k8s.io/v1
/// kind: EncryptionConfiguration
/// resources:
/// - resources: [secrets, configmaps]
///   providers:
///   - aesgcm:
///       keys:
///       - {name: key1, secret: MDEyMzQ1Njc4OWFiY2RlZg==}
///   - identity: {}
/// ";
/// let configuration = EncryptionConfiguration::parse(file.as_bytes())?;
/// assert_eq!(configuration.transformers().len(), 2);
/// # Ok::<(), kubist_registry::transformer::EncryptionConfigurationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EncryptionConfiguration {
    transformers: Vec<(GroupResource, Arc<dyn Transformer>)>,
    hash: String,
}

/// The error of an invalid encryption configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionConfigurationError {
    /// The file is not valid YAML.
    #[error("it is not YAML")]
    Yaml(#[from] YamlError),
    /// The file has another kind or API version.
    #[error("expected {KIND:?} of {API_VERSION:?}, got {kind:?} of {api_version:?}")]
    OtherKind {
        /// The value in the file.
        api_version: String,
        /// The value in the file.
        kind: String,
    },
    /// A field is invalid.
    #[error("{path}: {problem}")]
    Field {
        /// The path of the field.
        path: String,
        /// The reason.
        problem: ConfigurationProblem,
    },
}

/// The reason why a field of an encryption configuration is invalid, with upstream's message where
/// there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationProblem {
    /// The value has the wrong type.
    #[error("expected {0}")]
    Type(&'static str),
    /// A required field is missing or empty.
    #[error("is a mandatory field")]
    Missing,
    /// A list is empty.
    #[error("at least one {0} is required")]
    Empty(&'static str),
    /// The field is unknown.
    #[error("unknown field")]
    Unknown,
    /// A map has a duplicate key.
    #[error("duplicate key, repeated in line {line}")]
    Twice {
        /// The line of the second occurrence, from 1.
        line: usize,
    },
    /// An element of the provider list has several providers.
    #[error(
        "more than one provider specified in a single element, should split into different list \
         elements"
    )]
    SeveralProviders,
    /// A provider of upstream is not supported.
    #[error("the provider {name} is not supported; identity, aesgcm, aescbc and secretbox are")]
    Unsupported {
        /// Its name.
        name: String,
    },
    /// A key is not valid base64.
    #[error("secrets must be base64 encoded")]
    NotBase64,
    /// A key has the wrong length.
    #[error("secret is not of the expected length, got {bytes}, expected one of {expected}")]
    KeyLength {
        /// Its length.
        bytes: usize,
        /// The valid lengths.
        expected: &'static str,
    },
    /// A key name is not valid in the prefix of stored values.
    #[error("a key name must not be empty or contain a colon")]
    KeyName,
    /// A list has a duplicate key or resource name.
    #[error("is a duplicate")]
    Duplicate,
    /// A resource name is just `*`.
    #[error(
        "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    )]
    Star,
    /// A resource name contains `*` together with other characters.
    #[error("'*' must stand for a whole name")]
    PartialStar,
    /// A resource name selects one resource in all groups.
    #[error(
        "resources across groups are not supported: a group of '*' goes with a resource of '*'"
    )]
    AcrossGroups,
    /// A resource name contains capital letters.
    #[error("resource name should not contain capital letters")]
    Capitals,
    /// Events are named by the API group in which they are not stored.
    #[error(
        "objects of events.k8s.io are stored using the 'events' API group in etcd. Use 'events' \
         instead in the config file"
    )]
    EventsGroup,
    /// The API group was removed.
    #[error("'extensions' group has been removed and cannot be used for encryption")]
    ExtensionsGroup,
    /// The resource is not served by the API.
    #[error("resources which do not have REST API/s cannot be encrypted")]
    NoRest,
    /// Two names in one list select the same resource.
    #[error(
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not \
         allowed as they will be masked"
    )]
    Overlap,
    /// An earlier rule covers the resource.
    #[error("is masked by earlier rule {earlier:?}")]
    Masked {
        /// The resource name in the earlier rule.
        earlier: String,
    },
}

impl EncryptionConfiguration {
    /// Parses the text of a configuration file.
    ///
    /// # Errors
    /// The text is not an encryption configuration, or a field is invalid or not supported.
    pub fn parse(text: &[u8]) -> Result<Self, EncryptionConfigurationError> {
        let document = yaml::parse(text)?;
        let header = |name: &str| {
            let value = document.value.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let (api_version, kind) = (header("apiVersion"), header("kind"));
        if (api_version.as_str(), kind.as_str()) != (API_VERSION, KIND) {
            return Err(EncryptionConfigurationError::OtherKind { api_version, kind });
        }
        if let Some(twice) = document.duplicates.first() {
            let path = FieldPath::new(&twice.key);
            return Err(wrong(
                &path,
                ConfigurationProblem::Twice { line: twice.line },
            ));
        }
        let root = object(&document.value, &FieldPath::new("config"))?;
        let known = ["apiVersion", "kind", "resources"];
        if let Some(key) = root.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(wrong(&FieldPath::new(key), ConfigurationProblem::Unknown));
        }
        let path = FieldPath::new("resources");
        let mut rules: Vec<(GroupResource, Vec<Provider>)> = Vec::new();
        for (index, rule) in list(root.get("resources"), &path, "resource")?
            .iter()
            .enumerate()
        {
            read_rule(&mut rules, rule, &path.index(index))?;
        }
        let transformers = rules.into_iter().map(|(resource, providers)| {
            let row = Transformers::of(providers, TransformError::UnknownForm);
            let row: Arc<dyn Transformer> = Arc::new(row);
            (resource, row)
        });
        Ok(Self {
            transformers: transformers.collect(),
            hash: Self::hash_of(text),
        })
    }

    /// Returns the digest of the file's text, as in the metrics of upstream's servers.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the digest of a text, which distinguishes a changed file from the one in use.
    pub fn hash_of(text: &[u8]) -> String {
        let digest = digest::digest(&digest::SHA256, text);
        let mut hash = "sha256:".to_owned();
        for byte in digest.as_ref() {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        hash
    }

    /// Returns the transformer of a resource: its own, else that of its group, else that of all
    /// resources; `None` if it has none.
    pub fn of(&self, resource: &GroupResource) -> Option<&Arc<dyn Transformer>> {
        let find = |group: &str, plural: &str| {
            let mut all = self.transformers.iter();
            let found = all.find(|(of, _)| *of.group == *group && *of.resource == *plural);
            found.map(|(_, transformer)| transformer)
        };
        find(&resource.group, &resource.resource)
            .or_else(|| find(&resource.group, EVERY))
            .or_else(|| find(EVERY, EVERY))
    }

    /// Returns the transformers by resource; `*` stands for all resources of a group, or for all
    /// groups.
    pub fn transformers(&self) -> &[(GroupResource, Arc<dyn Transformer>)] {
        &self.transformers
    }
}

/// Parses one rule of the file: resources, and their providers in order.
fn read_rule(
    rules: &mut Vec<(GroupResource, Vec<Provider>)>,
    rule: &Value,
    path: &FieldPath,
) -> Result<(), EncryptionConfigurationError> {
    let rule = object(rule, path)?;
    only(rule, &["resources", "providers"], path)?;
    let resources = resources::read(rule.get("resources"), &path.child("resources"))?;
    let at = path.child("providers");
    let elements = list(rule.get("providers"), &at, "provider")?;
    let providers = elements.iter().enumerate();
    let providers: Vec<Provider> = providers
        .map(|(index, element)| providers::read(element, &at.index(index)))
        .collect::<Result<_, _>>()?;
    let before: Vec<GroupResource> = rules.iter().map(|(resource, _)| resource.clone()).collect();
    for (index, resource) in resources.into_iter().enumerate() {
        if let Some(earlier) = resources::masking(&before, &resource) {
            let path = path.child("resources").index(index);
            return Err(wrong(&path, ConfigurationProblem::Masked { earlier }));
        }
        match rules.iter_mut().find(|(of, _)| *of == resource) {
            Some((_, row)) => row.extend(providers.iter().cloned()),
            None => rules.push((resource, providers.clone())),
        }
    }
    Ok(())
}

fn wrong(path: &FieldPath, problem: ConfigurationProblem) -> EncryptionConfigurationError {
    EncryptionConfigurationError::Field {
        path: path.to_string(),
        problem,
    }
}

fn object<'a>(
    value: &'a Value,
    path: &FieldPath,
) -> Result<&'a Map<String, Value>, EncryptionConfigurationError> {
    let object = value.as_object();
    object.ok_or_else(|| wrong(path, ConfigurationProblem::Type("a map")))
}

/// Rejects unknown fields.
fn only(
    map: &Map<String, Value>,
    known: &[&str],
    path: &FieldPath,
) -> Result<(), EncryptionConfigurationError> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(wrong(&path.child(key), ConfigurationProblem::Unknown)),
        None => Ok(()),
    }
}

/// Returns a list that must not be empty.
fn list<'a>(
    value: Option<&'a Value>,
    path: &FieldPath,
    of: &'static str,
) -> Result<&'a [Value], EncryptionConfigurationError> {
    let value = value.ok_or_else(|| wrong(path, ConfigurationProblem::Missing))?;
    let items = value.as_array();
    let items = items.ok_or_else(|| wrong(path, ConfigurationProblem::Type("a list")))?;
    if items.is_empty() {
        return Err(wrong(path, ConfigurationProblem::Empty(of)));
    }
    Ok(items)
}

/// Returns a string that must not be empty.
fn text<'a>(
    value: Option<&'a Value>,
    path: &FieldPath,
) -> Result<&'a str, EncryptionConfigurationError> {
    let value = value.ok_or_else(|| wrong(path, ConfigurationProblem::Missing))?;
    match value.as_str() {
        None => Err(wrong(path, ConfigurationProblem::Type("a text"))),
        Some("") => Err(wrong(path, ConfigurationProblem::Missing)),
        Some(text) => Ok(text),
    }
}

#[cfg(test)]
mod tests;
