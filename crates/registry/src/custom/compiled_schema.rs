//! `CompiledSchema`: what is made of a version's schema, once for all versions and definitions with
//! the same schema.

use crate::custom::digest::{Digest, digest_of};
use hashbrown::HashMap;
use kubist_api::apiextensions::v1::{CustomResourceDefinitionVersion, JSONSchemaProps};
use kubist_schema::{CompiledRules, Schema};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::{Arc, LazyLock, Weak};

/// A schema in the form that objects are checked with.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    /// Identifies it among all schemas of this process; never 0.
    pub(crate) id: u64,
    pub(crate) schema: Arc<Schema>,
    /// The CEL rules of the schema, if there are any.
    pub(crate) rules: Option<CompiledRules>,
}

/// The schemas in use.
static COMPILED: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Known {
    /// By the digest of the schema's JSON.
    by_digest: HashMap<Digest, Weak<CompiledSchema>>,
    /// The number of schemas so far.
    made: u64,
}

impl CompiledSchema {
    /// Returns the compiled schema of a version, of which `json` is the schema; `None` if it has no
    /// schema, or none that objects can be checked with. Validation refuses such a definition; one
    /// that is stored is served without a schema, as upstream serves definitions that are not
    /// structural.
    pub(crate) fn of(
        version: &CustomResourceDefinitionVersion,
        json: Option<&Value>,
    ) -> Option<Arc<Self>> {
        let schema = schema_of(version)?;
        let digest = digest_of(&json?.to_string());
        if let Some(known) = COMPILED.lock().get(&digest) {
            return Some(known);
        }
        let made = Schema::convert(schema).map_err(|error| error.to_string());
        let made = made.and_then(|it| it.with_pruned_defaults().map_err(|error| error.to_string()));
        let made = made.inspect_err(|error| {
            let version = &version.name;
            tracing::warn!(%version, %error, "a schema is not enforced");
        });
        let schema = made.ok()?;
        let rules = CompiledRules::compile(&schema);
        Some(COMPILED.lock().add(digest, schema, rules))
    }
}

/// Returns the schema of a version.
pub(crate) fn schema_of(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_deref()?.open_api_v3_schema.as_deref()
}

impl Known {
    fn get(&self, digest: &Digest) -> Option<Arc<CompiledSchema>> {
        self.by_digest.get(digest)?.upgrade()
    }

    fn add(
        &mut self,
        digest: Digest,
        schema: Arc<Schema>,
        rules: Option<CompiledRules>,
    ) -> Arc<CompiledSchema> {
        if let Some(known) = self.get(&digest) {
            return known;
        }
        self.by_digest.retain(|_, it| it.strong_count() > 0);
        self.made += 1;
        let id = self.made;
        let made = Arc::new(CompiledSchema { id, schema, rules });
        self.by_digest.insert(digest, Arc::downgrade(&made));
        made
    }
}
