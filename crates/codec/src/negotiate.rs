//! Content negotiation: matches a client's `Accept` with an endpoint's formats, and determines the
//! type of a request body.
//!
//! `Accept` clauses are tried in upstream's order: by quality, then specific before wildcard, then
//! as written. A clause that the endpoint cannot serve is skipped, so a request for a Table
//! degrades to plain JSON. Before that, most endpoints require a clause that names one of their
//! types literally, or `*/*`. This module does not write `Accept` headers.

mod accept;
mod body;

pub use accept::{Clause, MediaType, parse_accept};
pub use body::{PatchType, UnsupportedMediaType, body_format};

use crate::Format;

/// The negotiated representation of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The encoding.
    pub format: Format,
    /// Whether the JSON, which the format then is, becomes CBOR before it is sent.
    pub cbor: bool,
    /// The transformation of the object before it is encoded.
    pub transform: Transform,
    /// Whether the client requested indented JSON (`;pretty=1`).
    pub pretty: bool,
    /// The `profile` parameter (`nopeer` in discovery).
    pub profile: Option<String>,
}

/// A representation other than the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transform {
    /// The object itself.
    None,
    /// `as=Table`.
    Table {
        /// The version of `meta.k8s.io`.
        version: MetaVersion,
    },
    /// `as=PartialObjectMetadata`: for one object, or each object of a watch.
    PartialObjectMetadata {
        /// The version of `meta.k8s.io`.
        version: MetaVersion,
    },
    /// `as=PartialObjectMetadataList`: for a list.
    PartialObjectMetadataList {
        /// The version of `meta.k8s.io`.
        version: MetaVersion,
    },
    /// `as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2`, on `/api` and `/apis`.
    ApiGroupDiscoveryList,
}

/// A version of the group `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum MetaVersion {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1Beta1,
}

impl MetaVersion {
    /// The name of the version.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }

    /// Group and version.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The formats and transformations of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an ability of its own"
)]
pub struct Offer {
    /// The encodings in order of preference; `*/*` and an absent `Accept` get the first.
    pub formats: &'static [Format],
    /// Whether it supports Tables (JSON and YAML only).
    pub table: bool,
    /// Whether it supports metadata alone.
    pub metadata: bool,
    /// Whether it is `/api` or `/apis`.
    pub discovery: bool,
    /// Whether it can be watched; a refusal then lists stream types.
    pub watch: bool,
    /// Whether it has CBOR too, of objects and of metadata alone.
    pub cbor: bool,
    /// Whether a clause must name a type literally, or `*/*`, for the endpoint to be found.
    /// Endpoints created at run time (custom resources, group documents) are found without.
    pub routed: bool,
}

impl Offer {
    /// A built-in resource: all formats and transforms.
    pub const BUILT_IN: Self = Self {
        formats: Format::ALL,
        table: true,
        metadata: true,
        discovery: false,
        watch: false,
        cbor: false,
        routed: true,
    };
    /// A custom resource: like built-in ones, without protobuf for its objects but with protobuf
    /// for their metadata.
    pub const CUSTOM: Self = Self {
        formats: Format::TEXT,
        routed: false,
        ..Self::BUILT_IN
    };
    /// `/api` and `/apis`.
    pub const DISCOVERY: Self = Self {
        table: false,
        metadata: false,
        discovery: true,
        ..Self::BUILT_IN
    };
    /// A refusal: it is always served as it is.
    pub const STATUS: Self = Self {
        table: false,
        metadata: false,
        routed: false,
        ..Self::BUILT_IN
    };

    /// The same for an endpoint that can be watched.
    #[must_use]
    pub const fn with_watch(mut self) -> Self {
        self.watch = true;
        self
    }
}

/// The endpoint serves none of the accepted types: 406.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("none of the accepted media types can be served; there are {available}")]
#[non_exhaustive]
pub struct NotAcceptable {
    /// The supported media types, separated by comma and space.
    pub available: String,
    /// Whether the endpoint was not found at all; upstream's Status then has (empty) details.
    pub unrouted: bool,
}

impl NotAcceptable {
    /// Returns the message of upstream's Status.
    pub fn message(&self) -> String {
        let available = &self.available;
        if self.unrouted {
            format!("406: Not Acceptable\n\nAvailable representations: {available}")
        } else {
            format!("only the following media types are accepted: {available}")
        }
    }

    fn of(media_types: &[String], unrouted: bool) -> Self {
        Self {
            available: media_types.join(", "),
            unrouted,
        }
    }
}

const CBOR: &str = "application/cbor";
const CBOR_SEQUENCE: &str = "application/cbor-seq";

fn plain_types(formats: &[Format], offer: &Offer) -> Vec<String> {
    let types = formats.iter().map(|format| format.media_type());
    let types = types.chain(offer.cbor.then_some(CBOR));
    types.map(str::to_owned).collect()
}

fn stream_types(formats: &[Format], offer: &Offer) -> Vec<String> {
    let formats = formats.iter().filter(|format| format.encoding().is_some());
    let types = formats.map(|format| format!("{};stream=watch", format.media_type()));
    let cbor = offer.cbor.then(|| CBOR_SEQUENCE.to_owned());
    types.chain(cbor).collect()
}

/// Reports whether `Accept` names one of the types literally, or `*/*`. Parameters, qualities and
/// partial wildcards do not matter; an absent `Accept` matches everything.
fn is_named(accept: Option<&str>, media_types: &[&str]) -> bool {
    let header = accept.unwrap_or_default();
    let mut clauses = header.split(',').map(|clause| {
        let name = clause.split(';').next().unwrap_or_default();
        name.trim_matches(' ')
    });
    header.trim().is_empty() || clauses.any(|it| it == "*/*" || media_types.contains(&it))
}

/// Refuses an `Accept` that names none of an endpoint's types.
///
/// # Errors
/// It names none of the types.
pub fn check_named(accept: Option<&str>, media_types: &[&str]) -> Result<(), NotAcceptable> {
    if is_named(accept, media_types) {
        return Ok(());
    }
    let types = media_types.iter().map(|it| (*it).to_owned());
    Err(NotAcceptable::of(&types.collect::<Vec<_>>(), true))
}

fn check_route(accept: Option<&str>, offer: &Offer) -> Result<(), NotAcceptable> {
    let formats = offer.formats.iter();
    let mut names: Vec<&str> = formats.map(|format| format.media_type()).collect();
    // The type of sequences leads to the endpoint, which does not have it.
    names.extend(offer.cbor.then_some(CBOR));
    names.extend((offer.cbor && offer.watch).then_some(CBOR_SEQUENCE));
    if !offer.routed || is_named(accept, &names) {
        return Ok(());
    }
    let mut types = plain_types(offer.formats, offer);
    if offer.watch {
        types.extend(stream_types(offer.formats, offer));
    }
    Err(NotAcceptable::of(&types, true))
}

/// Chooses the representation of a response (not of a watch).
///
/// ```
/// use kubist_codec::Format;
/// use kubist_codec::negotiate::{MetaVersion, Offer, Transform, negotiate};
/// let accept = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json";
/// let chosen = negotiate(Some(accept), &Offer::BUILT_IN)?;
/// assert_eq!(chosen.format, Format::Json);
/// assert_eq!(chosen.transform, Transform::Table { version: MetaVersion::V1 });
/// # Ok::<(), kubist_codec::negotiate::NotAcceptable>(())
/// ```
pub fn negotiate(accept: Option<&str>, offer: &Offer) -> Result<Negotiated, NotAcceptable> {
    check_route(accept, offer)?;
    choose(accept, offer, offer.formats)
        .ok_or_else(|| NotAcceptable::of(&plain_types(Format::ALL, offer), false))
}

impl Negotiated {
    /// Checks that the format negotiated for a watch has streams; the offer is the endpoint's.
    /// Upstream checks this after everything else in the request.
    ///
    /// # Errors
    /// The format has no streams.
    pub fn check_stream(&self, offer: &Offer) -> Result<(), NotAcceptable> {
        if self.format.encoding().is_some() {
            return Ok(());
        }
        Err(NotAcceptable::of(&stream_types(Format::ALL, offer), false))
    }
}

fn choose(accept: Option<&str>, offer: &Offer, formats: &[Format]) -> Option<Negotiated> {
    let header = accept.unwrap_or_default();
    if header.trim().is_empty() {
        return formats.first().map(|&format| plain(format));
    }
    let others = Format::ALL
        .iter()
        .filter(|format| !formats.contains(format));
    parse_accept(header).into_iter().find_map(|clause| {
        let matching = formats.iter().chain(others.clone()).copied();
        matching
            .filter(|&format| clause.media_type.matches(format))
            .find_map(|format| serve(&clause.media_type, format, offer))
            .or_else(|| serve_cbor(&clause.media_type, offer))
    })
}

/// Returns the CBOR that a clause requests: of what the endpoint has in JSON, but for tables and
/// aggregated discovery. Wildcards mean the other formats. A watch has the same name: that of
/// sequences is not accepted, as upstream.
fn serve_cbor(clause: &MediaType, offer: &Offer) -> Option<Negotiated> {
    if !offer.cbor || (&*clause.main, &*clause.sub) != ("application", "cbor") {
        return None;
    }
    let offer = Offer {
        table: false,
        discovery: false,
        ..*offer
    };
    let chosen = serve(clause, Format::Json, &offer)?;
    Some(Negotiated {
        cbor: true,
        pretty: false,
        ..chosen
    })
}

fn plain(format: Format) -> Negotiated {
    Negotiated {
        format,
        cbor: false,
        transform: Transform::None,
        pretty: false,
        profile: None,
    }
}

/// Returns the representation that a clause requests in a format, if the endpoint supports it.
fn serve(clause: &MediaType, format: Format, offer: &Offer) -> Option<Negotiated> {
    let streams = |stream: &str| stream == "watch" && format.encoding().is_some();
    if !clause.parameter("stream").is_none_or(streams) {
        return None;
    }
    let transform = match clause.parameter("as") {
        None => Transform::None,
        Some(kind) => transform(clause, kind, format, offer)?,
    };
    // Metadata alone has its own type and is available in every format, whatever formats the object
    // has.
    let is_metadata = matches!(
        transform,
        Transform::PartialObjectMetadata { .. } | Transform::PartialObjectMetadataList { .. }
    );
    if !is_metadata && !offer.formats.contains(&format) {
        return None;
    }
    Some(Negotiated {
        format,
        cbor: false,
        transform,
        pretty: clause.parameter("pretty") == Some("1"),
        profile: clause.parameter("profile").map(str::to_owned),
    })
}

fn transform(clause: &MediaType, kind: &str, format: Format, offer: &Offer) -> Option<Transform> {
    let group = clause.parameter("g").unwrap_or_default();
    let version = clause.parameter("v").unwrap_or_default();
    if (group, version, kind) == ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") {
        return offer.discovery.then_some(Transform::ApiGroupDiscoveryList);
    }
    let version = match (group, version) {
        ("meta.k8s.io", "v1") => MetaVersion::V1,
        ("meta.k8s.io", "v1beta1") => MetaVersion::V1Beta1,
        _ => return None,
    };
    match kind {
        "Table" if offer.table && format != Format::Protobuf => Some(Transform::Table { version }),
        "PartialObjectMetadata" if offer.metadata => {
            Some(Transform::PartialObjectMetadata { version })
        }
        "PartialObjectMetadataList" if offer.metadata => {
            Some(Transform::PartialObjectMetadataList { version })
        }
        _ => None,
    }
}

impl Negotiated {
    /// Returns the `Content-Type` of the response.
    pub fn content_type(&self) -> &'static str {
        if self.cbor {
            return CBOR;
        }
        match (self.transform, self.format) {
            (Transform::ApiGroupDiscoveryList, Format::Json) => {
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
            (Transform::ApiGroupDiscoveryList, Format::Yaml) => {
                "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
            (Transform::ApiGroupDiscoveryList, Format::Protobuf) => {
                "application/vnd.kubernetes.protobuf;\
                 g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
            (_, format) => format.media_type(),
        }
    }

    /// Returns the `Content-Type` of a watch: plain for JSON, that of sequences for CBOR, with a
    /// stream parameter for protobuf.
    pub fn watch_content_type(&self) -> &'static str {
        match self.format {
            _ if self.cbor => CBOR_SEQUENCE,
            Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
            format => format.media_type(),
        }
    }
}

#[cfg(test)]
mod tests;
