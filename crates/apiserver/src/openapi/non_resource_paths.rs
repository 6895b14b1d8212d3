//! Documents of the paths above group versions (the lists of groups and versions), and of paths
//! outside the resource API.

use super::descriptions::Descriptions;
use super::operation::answer;
use super::operations::{pascal_case_group, with_first};
use super::schemas::{PREFIX, of, reachable, reference};
use super::whole;
use crate::routes::openid;
use crate::version::FIELDS;
use kubist_api::{GroupFacts, meta};
use kubist_apimachinery::wire::Schema;
use serde_json::{Map, Value, json};

/// The subject of a document.
#[derive(Clone, Copy, Debug)]
pub(super) enum NonResourcePath {
    /// The versions of the core group.
    Core,
    /// The groups.
    Groups,
    /// The versions of a group.
    Group(&'static GroupFacts),
    /// The version of the server.
    Version,
    /// The token issuer, and its keys.
    Issuer,
    Keys,
}

impl NonResourcePath {
    /// All but those of groups.
    pub(super) const ALWAYS: [Self; 5] = [
        Self::Core,
        Self::Groups,
        Self::Version,
        Self::Issuer,
        Self::Keys,
    ];

    /// Returns its path without the leading slash.
    pub(super) fn path(self) -> String {
        match self {
            Self::Core => "api".to_owned(),
            Self::Groups => "apis".to_owned(),
            Self::Group(group) => format!("apis/{}", group.name),
            Self::Version => "version".to_owned(),
            Self::Issuer => openid::CONFIGURATION.trim_start_matches('/').to_owned(),
            Self::Keys => openid::KEYS.trim_start_matches('/').to_owned(),
        }
    }

    /// Returns the document as JSON.
    pub(super) fn document(self, descriptions: &Descriptions) -> Vec<u8> {
        let (responses, schemas) = self.answer(descriptions);
        let (tag, description, id) = self.operation();
        let operation = json!({
            "tags": [tag],
            "description": description,
            "operationId": id,
            "responses": responses,
        });
        let paths = json!({format!("/{}/", self.path()): {"get": operation}});
        whole(paths, schemas)
    }

    /// Returns the responses and the schemas that they reference.
    fn answer(self, descriptions: &Descriptions) -> (Value, Map<String, Value>) {
        let of_schema = |schema: &'static Schema| {
            let responses = answer(&reference(schema));
            (responses, reachable(vec![schema], descriptions))
        };
        let of_type = |media_type: &str, schema: Value| {
            let content = json!({media_type: {"schema": schema}});
            json!({"200": {"description": "OK", "content": content}})
        };
        let (mut responses, schemas) = match self {
            Self::Core => of_schema(of::<meta::v1::APIVersions>()),
            Self::Groups => of_schema(of::<meta::v1::APIGroupList>()),
            Self::Group(_) => of_schema(of::<meta::v1::APIGroup>()),
            Self::Version => {
                let schema = json!({"$ref": format!("{PREFIX}{INFO}")});
                let schemas = Map::from_iter([(INFO.to_owned(), info())]);
                (of_type("application/json", schema), schemas)
            }
            Self::Issuer => {
                let responses = of_type("application/json", json!({"type": "string"}));
                (responses, Map::new())
            }
            Self::Keys => {
                let responses = of_type(openid::KEYS_FORM, json!({"type": "string"}));
                (responses, Map::new())
            }
        };
        responses["401"] = json!({"description": "Unauthorized"});
        (responses, schemas)
    }

    /// Returns the tag, the description and the id of the operation.
    fn operation(self) -> (String, &'static str, String) {
        let (tag, description, id) = match self {
            Self::Core => ("core", "get available API versions", "getCoreAPIVersions"),
            Self::Groups => ("apis", "get available API versions", "getAPIVersions"),
            Self::Group(group) => {
                let descriptions = pascal_case_group(group.name);
                let id = format!("get{descriptions}APIGroup");
                let tag = with_first(&descriptions, |it| it.to_ascii_lowercase());
                return (tag, "get information of a group", id);
            }
            Self::Version => (
                "version",
                "get the version information for this server",
                "getCodeVersion",
            ),
            Self::Issuer => (
                "WellKnown",
                "get the OpenID configuration of who issues tokens of service accounts",
                "getServiceAccountIssuerOpenIDConfiguration",
            ),
            Self::Keys => (
                "openid",
                "get the public keys that verify service account tokens",
                "getServiceAccountIssuerOpenIDKeyset",
            ),
        };
        (tag.to_owned(), description, id.to_owned())
    }
}

/// Returns the schemas of `roots` and of all these paths.
pub(super) fn add_schemas(
    mut roots: Vec<&'static Schema>,
    descriptions: &Descriptions,
) -> Map<String, Value> {
    roots.extend([
        of::<meta::v1::APIVersions>(),
        of::<meta::v1::APIGroupList>(),
    ]);
    let mut schemas = reachable(roots, descriptions);
    schemas.insert(INFO.to_owned(), info());
    schemas
}

/// The type of `/version`, which is no API type.
const INFO: &str = "io.k8s.apimachinery.pkg.version.Info";

fn info() -> Value {
    let described = |text: &str| json!({"type": "string", "description": text});
    let mut properties = Map::new();
    for (name, text) in [
        (
            "emulationMajor",
            "The major version that the server emulates.",
        ),
        (
            "emulationMinor",
            "The minor version that the server emulates.",
        ),
        (
            "minCompatibilityMajor",
            "The major version of the oldest server that this one is compatible with.",
        ),
        (
            "minCompatibilityMinor",
            "The minor version of the oldest server that this one is compatible with.",
        ),
    ] {
        properties.insert(name.to_owned(), described(text));
    }
    for name in FIELDS {
        let mut property = match name {
            "major" => described("The major version of Kubernetes."),
            "minor" => described("The minor version of Kubernetes."),
            _ => json!({"type": "string"}),
        };
        property["default"] = json!("");
        properties.insert(name.to_owned(), property);
    }
    json!({
        "description": "The version and the build of a server.",
        "type": "object",
        "required": FIELDS,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::GROUPS;

    #[test]
    fn documents_of_groups_are_named_as_upstreams() {
        let descriptions = Descriptions::read();
        for (name, tag, id) in [
            ("apps", "apps", "getAppsAPIGroup"),
            (
                "rbac.authorization.k8s.io",
                "rbacAuthorization",
                "getRbacAuthorizationAPIGroup",
            ),
        ] {
            let group = GROUPS.iter().find(|it| it.name == name);
            let document =
                NonResourcePath::Group(group.expect("it is there")).document(&descriptions);
            let document: Value = serde_json::from_slice(&document).expect("it is JSON");
            let operation = &document["paths"][format!("/apis/{name}/")]["get"];
            assert_eq!(operation["tags"], json!([tag]));
            assert_eq!(operation["operationId"], id);
            let schemas = document["components"]["schemas"].as_object();
            let names: Vec<_> = schemas.expect("there are some").keys().collect();
            assert_eq!(
                names,
                [
                    "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.GroupVersionForDiscovery",
                    "io.k8s.apimachinery.pkg.apis.meta.v1.ServerAddressByClientCIDR",
                ]
            );
        }
    }

    #[test]
    fn the_document_of_the_version_has_the_fields_of_the_version() {
        let document = NonResourcePath::Version.document(&Descriptions::read());
        let document: Value = serde_json::from_slice(&document).expect("it is JSON");
        let schema = &document["components"]["schemas"][INFO]["properties"];
        let described = schema.as_object().expect("there are some").keys();
        let version = crate::version::version();
        let said = version.as_object().expect("there are some").keys();
        assert!(described.eq(said));
    }
}
