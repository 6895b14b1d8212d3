//! Custom resources from Rust structs.
//!
//! `#[derive(CustomResource)]` on the struct of a spec generates the kind: a struct with metadata,
//! spec and status that clients, caches, informers and controllers accept like a built-in kind. The
//! trait [`CustomResource`] returns its definition, with a structural schema from
//! [`schemars::JsonSchema`]. [`merge_definitions`] makes one definition of several versions, and
//! [`Conversions`] converts objects between them.
//!
//! It is no client and no webhook server: it performs no I/O.
//!
//! ```
//! use kubist_custom_resource::CustomResource;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// A fruit.
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
//! #[custom_resource(group = "example.com", version = "v1", kind = "Fig", namespaced)]
//! #[custom_resource(status = "FigStatus", shortname = "fg")]
//! #[custom_resource(printcolumn(name = "Colour", type = "string", json_path = ".spec.colour"))]
//! struct FigSpec {
//!     colour: String,
//!     #[schemars(range(min = 1))]
//!     weight: Option<u32>,
//! }
//!
//! #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
//! struct FigStatus {
//!     ripe: bool,
//! }
//!
//! let fig = Fig::new("first", FigSpec { colour: "green".to_owned(), weight: None });
//! assert_eq!(fig.spec.colour, "green");
//! assert_eq!(Fig::definition_name(), "figs.example.com");
//! let definition = Fig::definition();
//! assert_eq!(definition.spec.names.kind, "Fig");
//! ```
//!
//! # Options
//!
//! The spec must implement `Clone`, `Debug`, `PartialEq`, serde's traits and `JsonSchema`. All
//! options are given in `#[custom_resource(...)]`, in one attribute or in several.
//!
//! - `group`, `version`, `kind`: required.
//! - `plural`, `singular`: default: the kind in lower case, and its English plural.
//! - `root = "Name"`: the name of the generated struct; default: the kind.
//! - `namespaced`: default: cluster-scoped.
//! - `status = "FigStatus"`: adds the field `status: Option<FigStatus>` and the subresource.
//! - `shortname = "fg"`, `category = "all"`: repeated for several.
//! - `printcolumn(name, type, json_path, description, format, priority)`: a column of
//!   `kubectl get`; the first three are required.
//! - `selectable = ".spec.colour"`: a field for field selectors; repeated for several.
//! - `scale(spec_replicas_path, status_replicas_path, label_selector_path)`: the subresource.
//! - `validation = "RULE"`, or `validation(rule, message, message_expression, reason, field_path,
//!   optional_old_self)`: a CEL rule of the whole object; repeated for several.
//! - `served = false`, `storage = false`, `deprecated`, `deprecated = "WARNING"`: facts of the
//!   version.
//! - `annotation("a", "b")`, `label("a", "b")`: metadata of the definition.
//! - `apply`: apply configurations, see below.
//! - `derive = "Eq"`: another derive of the generated struct, beside `Clone`, `Debug` and
//!   `PartialEq`.
//! - `doc = "TEXT"`: the description; default: the documentation of the spec.
//! - `crate = PATH`: the path of this crate; with the facade, `kubist::custom_resource`.
//!
//! The generated struct has `Default` if the spec has it.
//!
//! # Apply configurations
//!
//! With the option `apply`, there are also types of which every field is optional, to apply what
//! one owns and nothing else: `FigApply` and `FigSpecApply`, with a setter for each field. Structs
//! and enums in the spec, and the status, derive `ApplyConfiguration`. Lists merge as
//! [`ListType`] and [`MapType`] say.
//!
//! ```
//! use kubist_apimachinery::apply::ApplyBody as _;
//! use kubist_custom_resource::{ApplyConfiguration, CustomResource, ListType};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
//! #[custom_resource(group = "example.com", version = "v1", kind = "Fig", apply)]
//! #[serde(rename_all = "camelCase")]
//! struct FigSpec {
//!     #[schemars(transform = ListType::map("name"))]
//!     leaf_parts: Vec<Part>,
//!     weight: Option<u16>,
//! }
//!
//! #[derive(
//!     Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, ApplyConfiguration,
//! )]
//! struct Part {
//!     name: String,
//!     green: bool,
//! }
//!
//! let stalk = PartApply::new().name("stalk");
//! let spec = FigSpecApply::new().leaf_parts([stalk.clone().green(false)]);
//! let fig = FigApply::new("first").spec(spec.leaf_parts([stalk]));
//! assert_eq!(
//!     String::from_utf8(fig.encode_applied(false)?)?,
//!     r#"{"apiVersion":"example.com/v1","kind":"Fig","metadata":{"name":"first"},"#.to_owned()
//!         + r#""spec":{"leafParts":[{"green":false,"name":"stalk"}]}}"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `#[apply(json)]` on a field makes its setter take a `serde_json::Value`, for types that cannot
//! derive: enums with data, other crates' types. A flattened field has no setter and is refused.
//! `#[apply(crate = PATH)]` on a type that derives names this crate, as `crate` does.
//!
//! # Kinds of others
//!
//! `#[derive(Resource)]` makes a kind of a struct whose definition is somebody else's. It needs no
//! schema: the struct has a field `metadata: ObjectMeta`, and all other fields are serde types,
//! usually `spec` and `status`. It must implement `Clone`, `Debug`, `Default` and `PartialEq`;
//! serde's traits are derived. A field that is absent from an object has its default, and an
//! `Option` that is empty is left out. `kubist codegen` generates such structs from definitions.
//!
//! ```
//! use kubist_custom_resource::Resource;
//! use kubist_custom_resource::apimachinery::ObjectMeta;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, Default, PartialEq, Resource)]
//! #[resource(group = "example.com", version = "v1", kind = "Fig", namespaced)]
//! struct Fig {
//!     metadata: ObjectMeta,
//!     spec: FigSpec,
//! }
//!
//! #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
//! struct FigSpec {
//!     colour: String,
//! }
//!
//! let fig: Fig = serde_json::from_str(r#"{"metadata":{"name":"a"},"spec":{"colour":"green"}}"#)?;
//! assert_eq!(fig.spec.colour, "green");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Its options are `group`, `version`, `kind` (required), `list_kind`, `plural`, `singular`,
//! `namespaced` and `crate`, with the meanings below; `#[resource(rename = "name")]` names a field
//! whose name in JSON is not its own in camel case, and `#[resource(flatten)]` marks a
//! `serde_json::Map` for the members of an object that no other field has. A kind with a field
//! `spec` has `Fig::new(name, spec)`.
//!
//! # Schemas
//!
//! Everything that serde and schemars know works: renamed and flattened fields, defaults, bounds,
//! patterns, enums of each representation. [`Rule`], [`ListType`] and [`MapType`] add what only
//! Kubernetes knows, to types and fields at any depth, and [`message_schema`] is the schema of
//! types such as `Condition`. What Kubernetes cannot check is not checked by the server, and the
//! object fails to decode here instead: a field whose value may be an object or a string is left
//! open. A type that contains itself is refused.
//!
//! The server fills in the defaults of `#[serde(default)]`; a field that should not be sent when it
//! is empty needs `skip_serializing_if`, as with kube. Server-side apply leaves out nulls alone.
//!
//! # Paths
//!
//! `Index::field("spec.colour")` and projections (`#[projection("spec.parts[].name")]`) reach below
//! `spec` and `status`. There, paths are not checked at compile time, a path that leads nowhere is
//! absent, and a dot always separates names. Reading a field of a decoded object serializes its
//! spec; of `Encoded<Fig>` it does not.
//!
//! # Mistakes
//!
//! A mistake in the options does not compile:
//!
//! ```compile_fail
//! # use kubist_custom_resource::CustomResource;
//! # use schemars::JsonSchema;
//! # use serde::{Deserialize, Serialize};
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
//! #[custom_resource(group = "example", version = "v1", kind = "Fig")] // a group has a dot
//! struct FigSpec {}
//! ```
//!
//! Neither does a projection that gathers the values of items in a field that is no list:
//!
//! ```compile_fail
//! # use kubist_apimachinery::{LeanMeta, Str};
//! # use kubist_custom_resource::CustomResource;
//! # use kubist_derive::Projection;
//! # use schemars::JsonSchema;
//! # use serde::{Deserialize, Serialize};
//! # #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
//! # #[custom_resource(group = "example.com", version = "v1", kind = "Fig")]
//! # struct FigSpec {
//! #     parts: Vec<String>,
//! # }
//! #[derive(Default, Projection)]
//! #[projection(of = Fig)]
//! struct Names {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("spec.parts[].name")] // needs a Vec<Str>
//!     names: Str,
//! }
//! ```
//!
//! # Contracts
//!
//! - A definition is accepted by a kube-apiserver v1.36, or [`CustomResource::try_definition`]
//!   fails. It does not compile rules: a server does that, and a test that creates the definition
//!   on a server in the process finds what is wrong with one.
//! - Objects are JSON: servers are not asked for protobuf.
//! - Decoding reports the path of a value that does not fit. A missing spec is decoded as `{}`.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

// The derive names this crate, also in its own tests.
extern crate self as kubist_custom_resource;

mod any_quantity;
mod conversion;
mod custom_resource;
mod definition;
mod facts;
mod markers;
mod merge;
mod message_schema;
mod parts;
mod present;
mod resource_schema;
mod structural;

pub use any_quantity::AnyQuantity;
pub use conversion::{ConversionError, Conversions, ConvertFrom, ConvertTo};
pub use custom_resource::CustomResource;
pub use definition::{DefinitionError, is_established};
pub use kubist_apimachinery as apimachinery;
#[doc(no_inline)]
pub use kubist_apimachinery::apply::ApplyConfiguration;
pub use kubist_derive::{ApplyConfiguration, CustomResource, Resource};
pub use markers::{ListType, MapType, Rule};
pub use merge::{MergeError, merge_definitions};
pub use message_schema::message_schema;
pub use present::present;
pub use schemars;
pub use structural::SchemaError;

#[doc(hidden)]
pub mod private {
    //! What generated code names.

    pub use crate::facts::{Column, Facts, Scale, schema_of};
    pub use crate::parts::{Parts, encode_wanted, from_json, from_protobuf};
    pub use crate::resource_schema::{
        default_from_json, default_from_protobuf, fields, order, schema_with,
    };
    pub use kubist_apimachinery as apimachinery;
    pub use {serde, serde_json};
}
