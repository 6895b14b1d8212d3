//! `EncryptionConfiguration`: upstream's file of encrypted resources, their keys, and the keys that
//! are still needed for reads.
//!
//! Every error in it is reported with its path: a server must not start with less encryption than
//! configured. All providers are supported except `kms`.

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
/// All resources of a group, or all groups.
const EVERY: &str = "*";

/// The encrypted resources, and their transformers.
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
    /// It is no YAML.
    #[error("it is not YAML")]
    Yaml(#[from] YamlError),
    /// It is something else.
    #[error("it is {kind:?} of {api_version:?}, not {KIND:?} of {API_VERSION:?}")]
    OtherKind {
        /// What it says.
        api_version: String,
        /// What it says.
        kind: String,
    },
    /// A field is wrong.
    #[error("{path}: {mistake}")]
    Field {
        /// The field.
        path: String,
        /// What is wrong with it.
        mistake: ConfigurationMistake,
    },
}

/// What is wrong with a field of a configuration of encryption. Where upstream has words for it,
/// they are in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationMistake {
    /// Something else is expected there.
    #[error("expected {0}")]
    Type(&'static str),
    /// It has to be there.
    #[error("is a mandatory field")]
    Missing,
    /// A list has to have something in it.
    #[error("at least one {0} is required")]
    Empty(&'static str),
    /// It means nothing there.
    #[error("unknown field")]
    Unknown,
    /// A key stands twice in a map.
    #[error("set twice, again in line {line}")]
    Twice {
        /// The line of the second one, from 1.
        line: usize,
    },
    /// An element of the providers has several.
    #[error(
        "more than one provider specified in a single element, should split into different list \
         elements"
    )]
    SeveralProviders,
    /// A provider that upstream has, and this server has not.
    #[error("the provider {name} is not supported; identity, aesgcm, aescbc and secretbox are")]
    Unsupported {
        /// Its name.
        name: String,
    },
    /// A key is no base64.
    #[error("secrets must be base64 encoded")]
    NotBase64,
    /// A key of the wrong length.
    #[error("secret is not of the expected length, got {bytes}, expected one of {expected}")]
    KeyLength {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        expected: &'static str,
    },
    /// A name of a key that cannot stand before values.
    #[error("the name of a key is not empty and has no colon")]
    KeyName,
    /// The name of a key or a resource is in the list already.
    #[error("is there already")]
    Duplicate,
    /// A star alone.
    #[error(
        "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    )]
    Star,
    /// Part of a star.
    #[error("a star stands for a whole name")]
    PartialStar,
    /// All resources of a name.
    #[error(
        "resources across groups are not supported: a group of '*' goes with a resource of '*'"
    )]
    AcrossGroups,
    /// Capital letters.
    #[error("resource name should not contain capital letters")]
    Capitals,
    /// The wrong one of two groups.
    #[error(
        "objects of events.k8s.io are stored using the 'events' API group in etcd. Use 'events' \
         instead in the config file"
    )]
    EventsGroup,
    /// A group that is gone.
    #[error("'extensions' group has been removed and cannot be used for encryption")]
    ExtensionsGroup,
    /// Not an object that anybody can ask for.
    #[error("resources which do not have REST API/s cannot be encrypted")]
    NoRest,
    /// Two names of one list mean the same.
    #[error(
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not \
         allowed as they will be masked"
    )]
    Overlap,
    /// An earlier rule has decided.
    #[error("is masked by earlier rule {earlier:?}")]
    Masked {
        /// What the earlier rule is about.
        earlier: String,
    },
}

impl EncryptionConfiguration {
    /// Reads the file's text.
    ///
    /// # Errors
    /// It is not such a file, or something in it is wrong or not supported.
    pub fn parse(text: &[u8]) -> Result<Self, EncryptionConfigurationError> {
        let document = yaml::parse(text)?;
        let said = |name: &str| {
            let value = document.value.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let (api_version, kind) = (said("apiVersion"), said("kind"));
        if (api_version.as_str(), kind.as_str()) != (API_VERSION, KIND) {
            return Err(EncryptionConfigurationError::OtherKind { api_version, kind });
        }
        if let Some(twice) = document.duplicates.first() {
            let path = FieldPath::new(&twice.key);
            return Err(wrong(
                &path,
                ConfigurationMistake::Twice { line: twice.line },
            ));
        }
        let root = object(&document.value, &FieldPath::new("config"))?;
        let known = ["apiVersion", "kind", "resources"];
        if let Some(key) = root.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(wrong(&FieldPath::new(key), ConfigurationMistake::Unknown));
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

    /// Returns the digest of its text, as in the metrics of upstream's servers.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The digest of a text, by which a changed file is told from the one that is in use.
    pub fn hash_of(text: &[u8]) -> String {
        let digest = digest::digest(&digest::SHA256, text);
        let mut hash = "sha256:".to_owned();
        for byte in digest.as_ref() {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        hash
    }

    /// Returns the transformer of a resource: its own, else that of its group, else that of all.
    /// `None` if there is none.
    pub fn of(&self, resource: &GroupResource) -> Option<&Arc<dyn Transformer>> {
        let said = |group: &str, plural: &str| {
            let mut all = self.transformers.iter();
            let found = all.find(|(of, _)| *of.group == *group && *of.resource == *plural);
            found.map(|(_, transformer)| transformer)
        };
        said(&resource.group, &resource.resource)
            .or_else(|| said(&resource.group, EVERY))
            .or_else(|| said(EVERY, EVERY))
    }

    /// What is done to the values of which resource; `*` is all of a group, or all groups.
    pub fn transformers(&self) -> &[(GroupResource, Arc<dyn Transformer>)] {
        &self.transformers
    }
}

/// One element of the file: some resources, and their providers in order.
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
            return Err(wrong(&path, ConfigurationMistake::Masked { earlier }));
        }
        match rules.iter_mut().find(|(of, _)| *of == resource) {
            Some((_, row)) => row.extend(providers.iter().cloned()),
            None => rules.push((resource, providers.clone())),
        }
    }
    Ok(())
}

fn wrong(path: &FieldPath, mistake: ConfigurationMistake) -> EncryptionConfigurationError {
    EncryptionConfigurationError::Field {
        path: path.to_string(),
        mistake,
    }
}

fn object<'a>(
    value: &'a Value,
    path: &FieldPath,
) -> Result<&'a Map<String, Value>, EncryptionConfigurationError> {
    let object = value.as_object();
    object.ok_or_else(|| wrong(path, ConfigurationMistake::Type("a map")))
}

/// Refuses fields that mean nothing.
fn only(
    map: &Map<String, Value>,
    known: &[&str],
    path: &FieldPath,
) -> Result<(), EncryptionConfigurationError> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(wrong(&path.child(key), ConfigurationMistake::Unknown)),
        None => Ok(()),
    }
}

/// A list that must have something in it.
fn list<'a>(
    value: Option<&'a Value>,
    path: &FieldPath,
    of: &'static str,
) -> Result<&'a [Value], EncryptionConfigurationError> {
    let value = value.ok_or_else(|| wrong(path, ConfigurationMistake::Missing))?;
    let items = value.as_array();
    let items = items.ok_or_else(|| wrong(path, ConfigurationMistake::Type("a list")))?;
    if items.is_empty() {
        return Err(wrong(path, ConfigurationMistake::Empty(of)));
    }
    Ok(items)
}

/// A text that must say something.
fn text<'a>(
    value: Option<&'a Value>,
    path: &FieldPath,
) -> Result<&'a str, EncryptionConfigurationError> {
    let value = value.ok_or_else(|| wrong(path, ConfigurationMistake::Missing))?;
    match value.as_str() {
        None => Err(wrong(path, ConfigurationMistake::Type("a text"))),
        Some("") => Err(wrong(path, ConfigurationMistake::Missing)),
        Some(text) => Ok(text),
    }
}

#[cfg(test)]
mod tests;
