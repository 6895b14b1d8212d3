//! Derives for Kubist: `Projection`, `CustomResource`, `Resource` and `ApplyConfiguration`.
//!
//! The derive generates `impl` blocks and compile-time checks. The decoding is in
//! `kubist-apimachinery`, on which a crate that uses the derive must depend (or name another path
//! to it, see below). The others need `kubist-custom-resource` instead, whose documentation has
//! their options.
//!
//! # Projections
//!
//! A projection is a struct with some of the fields of a kind. It is decoded directly from JSON or
//! protobuf, in one pass that skips everything else without an allocation. Informers, caches and
//! `Api` accept it in place of a whole object.
//!
//! ```
//! use kubist_api::core::v1::Pod;
//! use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest};
//! use kubist_apimachinery::{LeanMeta, Str};
//! use kubist_derive::Projection;
//!
//! #[derive(Clone, Debug, Default, PartialEq, Projection)]
//! #[projection(of = Pod)]
//! struct PodNode {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("spec.nodeName")]
//!     node: Str,
//!     #[projection("status.phase")]
//!     phase: Option<Str>,
//!     #[projection("spec.containers[].image")]
//!     images: Vec<Str>,
//! }
//!
//! let json = br#"{"metadata":{"name":"web-0","namespace":"shop"},"spec":{"nodeName":"node-1",
//!     "containers":[{"name":"a","image":"web:1"},{"name":"b","image":"proxy:2"}]}}"#;
//! let cx = &mut DecodeContext::new();
//! let pod = PodNode::ingest(json.as_slice().into(), Encoding::Json, cx)?;
//! assert_eq!((&*pod.meta.name, &*pod.node, pod.phase), ("web-0", "node-1", None));
//! assert_eq!(pod.images, ["web:1", "proxy:2"]);
//! # Ok::<(), kubist_apimachinery::wire::WireError>(())
//! ```
//!
//! The struct must implement `Default` (absent fields keep their default) and have one field marked
//! `metadata`: a `LeanMeta`, or an `ObjectMeta` if annotations and the rest are needed too.
//!
//! A path consists of the JSON names of fields.
//! - `spec.nodeName` leads through messages to a field of any type. `Option<T>` distinguishes
//!   absent from present values; a value that Go cannot distinguish from an absent one (an empty
//!   string that is no pointer) is absent.
//! - `spec.containers[].image` takes the field of each item of a list. The values are collected in
//!   a `Vec`; items without the field are skipped. Nested lists are flattened.
//! - `spec.nodeSelector.example.com/zone`: below a map, the rest of the path is a key.
//!
//! A path must not lie inside another path that takes the whole value.
//!
//! To keep several fields of each item together, define a part: a struct that is a projection of a
//! message and can be the type of a field.
//!
//! ```
//! # use kubist_api::core::v1::{Container, Pod};
//! # use kubist_apimachinery::{LeanMeta, Str};
//! # use kubist_derive::Projection;
//! #[derive(Clone, Debug, Default, Projection)]
//! #[projection(part_of = Container)]
//! struct Image {
//!     #[projection("name")]
//!     container: Str,
//!     #[projection("image")]
//!     image: Str,
//! }
//!
//! #[derive(Clone, Debug, Default, Projection)]
//! #[projection(of = Pod)]
//! struct PodImages {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("spec.containers")]
//!     images: Vec<Image>,
//! }
//! ```
//!
//! Paths are checked at compile time. A path that the kind does not have does not compile:
//!
//! ```compile_fail
//! # use kubist_api::core::v1::Pod;
//! # use kubist_apimachinery::{LeanMeta, Str};
//! # use kubist_derive::Projection;
//! #[derive(Default, Projection)]
//! #[projection(of = Pod)]
//! struct PodNode {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("spec.nodeNmae")]
//!     node: Str,
//! }
//! ```
//!
//! Neither does a field whose type does not fit the path:
//!
//! ```compile_fail
//! # use kubist_api::core::v1::Pod;
//! # use kubist_apimachinery::{LeanMeta, Str};
//! # use kubist_derive::Projection;
//! #[derive(Default, Projection)]
//! #[projection(of = Pod)]
//! struct PodNode {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("spec.nodeName")]
//!     node: i32,
//! }
//! ```
//!
//! Nor a path inside another:
//!
//! ```compile_fail
//! # use kubist_api::core::v1::Pod;
//! # use kubist_apimachinery::{LeanMeta, Str};
//! # use kubist_derive::Projection;
//! #[derive(Default, Projection)]
//! #[projection(of = Pod)]
//! struct PodLabel {
//!     #[projection(metadata)]
//!     meta: LeanMeta,
//!     #[projection("metadata.labels.app")]
//!     app: Str,
//! }
//! ```
//!
//! A crate that reaches `kubist-apimachinery` by another path names it; with the facade it is
//! `#[projection(of = Pod, crate = kubist::apimachinery)]`, and the derive is
//! `kubist::derive::Projection`.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod apply;
mod attributes;
mod custom_resource;
mod kind;
mod names;
mod object;
mod part;
mod resource;

use attributes::{Of, Projected};
use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Derives a projection of a kind or of a message; see the crate's documentation.
#[proc_macro_derive(Projection, attributes(projection))]
pub fn projection(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let output = Projected::parse(&input).and_then(|projected| match projected.of {
        Of::Kind(_) => kind::implement(&projected),
        Of::Message(_) => part::implement(&projected),
    });
    output.unwrap_or_else(Error::into_compile_error).into()
}

/// Derives the kind of a custom resource from the struct of its spec; see the documentation of
/// `kubist-custom-resource`, which has the options.
#[proc_macro_derive(CustomResource, attributes(custom_resource, apply))]
pub fn custom_resource(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let output = custom_resource::implement(&input);
    output.unwrap_or_else(Error::into_compile_error).into()
}

/// Derives the apply configuration of a struct in a spec or status, or makes an enum the value of a
/// field of one; see the documentation of `kubist-custom-resource`.
#[proc_macro_derive(ApplyConfiguration, attributes(apply))]
pub fn apply_configuration(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let output = apply::implement(&input);
    output.unwrap_or_else(Error::into_compile_error).into()
}

/// Derives a kind whose definition is somebody else's, from the struct of the whole object; see the
/// documentation of `kubist-custom-resource`.
#[proc_macro_derive(Resource, attributes(resource))]
pub fn resource(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let output = resource::implement(&input);
    output.unwrap_or_else(Error::into_compile_error).into()
}
