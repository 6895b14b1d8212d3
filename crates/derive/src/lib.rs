//! Derives for Kubist: `Projection`.
//!
//! It writes `impl` blocks and checks paths; the work is done by `kubist-apimachinery`, which a
//! crate that uses the derive must depend on (or name another path to it, see below). It is not a
//! generator of custom resources: those are written with kube's derive, or by hand, as
//! `docs/coming-from-kube-rs.md` shows.
//!
//! # Projections
//!
//! A projection is a struct of some fields of a kind. It is decoded straight from the wire, JSON or
//! protobuf, in one pass that skips everything else without an allocation; informers, caches and
//! `Api` hold it as they hold a whole object.
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
//! The struct needs `Default` (what is absent keeps its default) and one field marked `metadata`:
//! a `LeanMeta`, or an `ObjectMeta` if annotations and the rest are wanted too.
//!
//! A path is made of the JSON names of fields.
//! - `spec.nodeName`: through messages to a field of any type. `Option<T>` tells absence from a
//!   value; what Go cannot tell from absent (an empty string that is no pointer) is absent.
//! - `spec.containers[].image`: of each item of a list. The values are gathered in a `Vec`; items
//!   without the field add nothing. Lists in lists are gathered in one.
//! - `spec.nodeSelector.example.com/zone`: below a map, the rest of the path is a key.
//!
//! No path may stand inside another that takes all of what it leads to.
//!
//! For a few fields of each item, kept together, there are parts: a struct that is a projection of
//! a message and can be the type of a field.
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
//! Paths are checked at compile time. One that the kind does not have does not compile:
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
//! Neither does a field whose type is another than the path's:
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
//! A crate that knows `kubist-apimachinery` by another path says so; with the facade it is
//! `#[projection(of = Pod, crate = kubist::apimachinery)]`, and the derive is
//! `kubist::derive::Projection`.

mod attributes;
mod kind;
mod part;

use attributes::{Of, Projected};
use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Makes a struct a projection of a kind, or of a message; the crate's documentation says how.
#[proc_macro_derive(Projection, attributes(projection))]
pub fn projection(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let output = Projected::parse(&input).and_then(|projected| match projected.of {
        Of::Kind(_) => kind::implement(&projected),
        Of::Message(_) => part::implement(&projected),
    });
    output.unwrap_or_else(Error::into_compile_error).into()
}
