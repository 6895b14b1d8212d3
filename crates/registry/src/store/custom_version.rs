//! `CustomVersion`: what field ownership needs of a version of a definition.

use kubist_api::apiextensions::v1::{CustomResourceDefinitionVersion, JSONSchemaProps};
use kubist_apimachinery::wire::to_json_value;
use kubist_field_manager::schema::Schema;
use kubist_field_manager::{ObjectType, PathElement};
use std::sync::{Arc, OnceLock};

/// A version of a definition.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    schema: Option<Box<JSONSchemaProps>>,
    made: OnceLock<ObjectType>,
    /// The path of the replicas, if the version has a scale.
    replicas: Option<Vec<PathElement>>,
}

impl CustomVersion {
    /// Creates a version whose scale, if it has one, sets the replicas at this path.
    pub(crate) fn new(
        version: &CustomResourceDefinitionVersion,
        replicas: Option<Vec<PathElement>>,
    ) -> Self {
        let schema = version.schema.as_deref();
        Self {
            schema: schema.and_then(|it| it.open_api_v3_schema.clone()),
            made: OnceLock::new(),
            replicas,
        }
    }

    /// Returns the type of the objects. The schema is converted once.
    pub(crate) fn object_type(&self) -> &ObjectType {
        self.made.get_or_init(|| {
            let schema = self.schema.as_deref();
            let schema = schema.map(|it| to_json_value(it));
            let (schema, root) = Schema::from_json_schema(schema.as_ref());
            ObjectType {
                schema: Arc::new(schema),
                root,
            }
        })
    }

    pub(crate) fn replicas(&self) -> Option<&[PathElement]> {
        self.replicas.as_deref()
    }
}
