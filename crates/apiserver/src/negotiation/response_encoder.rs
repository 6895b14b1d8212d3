//! `ResponseEncoder`: encodes objects and lists as negotiated: as JSON, YAML or protobuf; complete,
//! as a table, or as metadata only.

mod document;
mod indented;
mod list_pieces;
mod tree_pieces;

use crate::negotiation::decode::kind_check::internal_package;
use crate::negotiation::table::{Include, TableStyle, metadata_of};
use crate::request::Request;
use crate::response::body::Body;
use crate::response::{ApiResponse, pretty};
use bytes::Bytes;
use document::Pieces as _;
use http::StatusCode;
use indented::{Indented, Slices};
use kubist_api::ResourceFacts;
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::wire::{Message, to_json_value};
use kubist_apimachinery::{ListMeta, Status, StatusReason, Time};
use kubist_codec::negotiate::{
    MetaVersion, Negotiated, NotAcceptable, Offer, Transform, negotiate,
};
use kubist_codec::{Format, envelope, yaml};
use kubist_kinds::has_own_columns;
use kubist_registry::Stored;
use list_pieces::{ListPieces, Part};
use serde_json::{Map, Value, json};
use tree_pieces::{Costed, TreePieces};

/// The negotiated encoding of one response.
#[derive(Clone, Debug)]
pub(crate) struct ResponseEncoder {
    pub(crate) chosen: Negotiated,
    pub(crate) pretty: bool,
    pub(crate) table: Option<TableStyle>,
    /// The error of the table options, which is reported once there is something to show.
    refused: Option<Status>,
}

/// A list to encode.
#[derive(Debug)]
pub(crate) struct ListParts {
    pub(crate) api_version: &'static str,
    pub(crate) kind: String,
    pub(crate) metadata: ListMeta,
    pub(crate) items: Vec<Stored>,
    /// Whether its objects are custom resources.
    pub(crate) custom: bool,
}

impl ResponseEncoder {
    /// Negotiates the media type of a request for a resource.
    pub(crate) fn of(
        request: &Request,
        offer: &Offer,
        facts: &'static ResourceFacts,
        now: Time,
    ) -> Result<Self, Status> {
        let chosen = negotiated(request, offer)?;
        Self::chosen(request, chosen, facts, now)
    }

    /// Creates the encoder of a negotiated media type, with the options in the query.
    pub(crate) fn chosen(
        request: &Request,
        chosen: Negotiated,
        facts: &'static ResourceFacts,
        now: Time,
    ) -> Result<Self, Status> {
        let mut refused = None;
        let table = match chosen.transform {
            Transform::Table { version } => Some(TableStyle {
                version,
                include: match Include::parse(request.query.first("includeObject")) {
                    Ok(include) => include,
                    // A write must not happen if its response cannot be encoded.
                    Err(status) if !request.reads() => return Err(status),
                    Err(status) => {
                        refused = Some(status);
                        Include::None
                    }
                },
                facts,
                scales: false,
                now,
            }),
            _ => None,
        };
        let pretty = !chosen.cbor && (chosen.pretty || request.wants_pretty());
        Ok(Self {
            chosen,
            pretty,
            table,
            refused,
        })
    }

    /// Returns the error of the table options, if any.
    pub(crate) fn check(&self) -> Result<(), Status> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Reports whether objects are encoded completely, not as tables or metadata.
    pub(crate) fn is_plain(&self) -> bool {
        self.table.is_none() && self.chosen.transform == Transform::None
    }

    /// Encodes one object.
    pub(crate) fn object(&self, code: StatusCode, stored: &Stored) -> Result<ApiResponse, Status> {
        self.check()?;
        let format = self.chosen.format;
        if let Some(table) = self.table {
            let table = table.table(&metadata_of(stored), std::slice::from_ref(stored), true)?;
            return self.tree(code, &table);
        }
        let bytes = match (self.chosen.transform, format) {
            (Transform::PartialObjectMetadata { version }, _) => {
                return self.metadata(code, stored, version);
            }
            (Transform::PartialObjectMetadataList { .. }, _) => {
                let facts = stored.kind().facts();
                let go_type = format!("{}.{}", internal_package(facts.group), facts.kind);
                let asked = "PartialObjectMetadataList";
                return Err(mismatch(asked, "not a list", &go_type));
            }
            (_, Format::Json) => {
                let head = stored.json_head().into_bytes().into();
                let all = vec![head, stored.json_tail()?];
                return self.shared_json(code, all);
            }
            (_, Format::Yaml) => yaml_of(&stored.json()?)?,
            (_, Format::Protobuf) => {
                let facts = stored.kind().facts();
                let raw = stored.protobuf()?;
                let (head, end) = envelope::around(facts.api_version, facts.kind, raw.len());
                let pieces = [head.into(), raw.clone(), Bytes::from_static(end)];
                let body = Body::pieces(pieces);
                return Ok(ApiResponse::new(code, self.chosen.content_type(), body));
            }
        };
        Ok(self.answer(code, bytes))
    }

    /// Encodes a message that is not stored, such as a review.
    pub(crate) fn message(&self, code: StatusCode, message: &dyn Message) -> ApiResponse {
        let bytes = match self.chosen.format {
            Format::Json => self.text(kubist_apimachinery::wire::to_json(message)),
            Format::Yaml => yaml::to_yaml(&to_json_value(message)).into_bytes(),
            Format::Protobuf => envelope::encode(message),
        };
        self.answer(code, bytes)
    }

    /// Encodes a list. Large ones are encoded while they are sent.
    pub(crate) fn list(&self, list: ListParts) -> Result<ApiResponse, Status> {
        self.check()?;
        if let Some(table) = self.table {
            let mut head = table.head(&list.metadata);
            if list.items.is_empty() && !has_own_columns(table.facts) {
                // Upstream's default table convertor returns null rows for an empty list.
                head.insert("rows".to_owned(), Value::Null);
                return self.tree(StatusCode::OK, &Value::Object(head));
            }
            return self.trees(head, "rows", list.items, move |stored| table.row(stored));
        }
        match self.chosen.transform {
            Transform::PartialObjectMetadataList { version } => {
                return self.metadata_list(list, version);
            }
            Transform::PartialObjectMetadata { .. } => {
                let asked = "PartialObjectMetadata";
                if list.custom {
                    return Err(mismatch(asked, "a list", "unstructured.UnstructuredList"));
                }
                let group = list.items.first().map(|it| it.kind().facts().group);
                let package = internal_package(group.unwrap_or_else(|| group_of(list.api_version)));
                let go_type = format!("{package}.{}", list.kind);
                return Err(mismatch(asked, "a list", &go_type));
            }
            _ => {}
        }
        let stored = stored_bytes(&list.items);
        let body = match self.chosen.format {
            Format::Protobuf => document::body(ListPieces::protobuf(list, Part::Whole)?, stored)?,
            Format::Json if self.pretty => {
                document::body(Indented::new(ListPieces::json(list)), stored)?
            }
            Format::Json => document::body(ListPieces::json(list), stored)?,
            Format::Yaml => return self.yaml_list(list),
        };
        Ok(ApiResponse::new(
            StatusCode::OK,
            self.chosen.content_type(),
            body,
        ))
    }

    fn yaml_list(&self, mut list: ListParts) -> Result<ApiResponse, Status> {
        let items = std::mem::take(&mut list.items);
        let mut head = Vec::new();
        ListPieces::json(list).write(&mut head)?;
        let mut head: Map<String, Value> =
            serde_json::from_slice(&head).map_err(Status::internal_error)?;
        head.remove("items");
        self.trees(head, "items", items, |stored| {
            let mut json = Vec::new();
            stored.push_json(&mut json)?;
            serde_json::from_slice(&json).map_err(Status::internal_error)
        })
    }

    /// Encodes a list of JSON trees, each built when its turn comes.
    fn trees(
        &self,
        head: Map<String, Value>,
        key: &str,
        items: Vec<Stored>,
        tree: impl Fn(&Stored) -> Result<Value, Status> + Send + Unpin + 'static,
    ) -> Result<ApiResponse, Status> {
        let stored = stored_bytes(&items);
        let items = items
            .into_iter()
            .map(move |item| -> Result<Costed, Status> { Ok((tree(&item)?, item.stored_bytes())) });
        let body = match self.chosen.format {
            Format::Yaml => document::body(TreePieces::yaml(head, key, items), stored)?,
            _ if self.pretty => {
                let compact = TreePieces::json(&head, key, items)?;
                document::body(Indented::new(compact), stored)?
            }
            _ => document::body(TreePieces::json(&head, key, items)?, stored)?,
        };
        Ok(ApiResponse::new(
            StatusCode::OK,
            self.chosen.content_type(),
            body,
        ))
    }

    /// Encodes JSON in pieces that other responses share.
    fn shared_json(&self, code: StatusCode, mut pieces: Vec<Bytes>) -> Result<ApiResponse, Status> {
        let body = if self.pretty {
            let length = pieces.iter().map(Bytes::len).sum();
            document::body(Indented::new(Slices::new(pieces)), length)?
        } else {
            pieces.push(Bytes::from_static(b"\n"));
            Body::pieces(pieces)
        };
        Ok(ApiResponse::new(code, self.chosen.content_type(), body))
    }

    fn metadata(
        &self,
        code: StatusCode,
        stored: &Stored,
        version: MetaVersion,
    ) -> Result<ApiResponse, Status> {
        if self.chosen.format == Format::Protobuf {
            let mut raw = Vec::new();
            stored.push_metadata_protobuf(&mut raw)?;
            let bytes = envelope::wrap(version.api_version(), "PartialObjectMetadata", &raw);
            return Ok(self.answer(code, bytes));
        }
        let partial = PartialObjectMetadata {
            metadata: stored.metadata()?.into_owned(),
        };
        self.tree(code, &partial_json(&partial, version))
    }

    fn metadata_list(
        &self,
        mut list: ListParts,
        version: MetaVersion,
    ) -> Result<ApiResponse, Status> {
        let (api_version, kind) = (version.api_version(), "PartialObjectMetadataList");
        if self.chosen.format == Format::Protobuf {
            let stored = stored_bytes(&list.items);
            list.api_version = api_version;
            kind.clone_into(&mut list.kind);
            let body = document::body(ListPieces::protobuf(list, Part::Metadata)?, stored)?;
            return Ok(ApiResponse::new(
                StatusCode::OK,
                self.chosen.content_type(),
                body,
            ));
        }
        let mut head = Map::from_iter([
            ("kind".to_owned(), Value::from(kind)),
            ("apiVersion".to_owned(), Value::from(api_version)),
            ("metadata".to_owned(), to_json_value(&list.metadata)),
        ]);
        if list.items.is_empty() {
            // Upstream returns null items for an empty list.
            head.insert("items".to_owned(), Value::Null);
            return self.tree(StatusCode::OK, &Value::Object(head));
        }
        self.trees(head, "items", list.items, move |stored| {
            let metadata = stored.metadata()?.into_owned();
            Ok(partial_json(&PartialObjectMetadata { metadata }, version))
        })
    }

    /// Encodes a JSON tree as JSON or YAML; it has no protobuf encoding.
    pub(crate) fn tree(&self, code: StatusCode, tree: &Value) -> Result<ApiResponse, Status> {
        let bytes = match self.chosen.format {
            Format::Yaml => yaml::to_yaml(tree).into_bytes(),
            _ => self.text(serde_json::to_vec(tree).map_err(Status::internal_error)?),
        };
        Ok(self.answer(code, bytes))
    }

    /// Returns JSON as it is sent.
    fn text(&self, mut json: Vec<u8>) -> Vec<u8> {
        if self.pretty {
            return pretty::indent(&json);
        }
        if json.last() != Some(&b'\n') {
            json.push(b'\n');
        }
        json
    }

    fn answer(&self, code: StatusCode, bytes: Vec<u8>) -> ApiResponse {
        ApiResponse::new(code, self.chosen.content_type(), Body::Whole(bytes.into()))
    }
}

/// Returns metadata as a `PartialObjectMetadata` of a version.
pub(crate) fn partial_json(partial: &PartialObjectMetadata, version: MetaVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": to_json_value(&partial.metadata),
    })
}

/// Returns the total size of objects in storage.
fn stored_bytes(items: &[Stored]) -> usize {
    items.iter().map(Stored::stored_bytes).sum()
}

fn yaml_of(json: &[u8]) -> Result<Vec<u8>, Status> {
    let value: Value = serde_json::from_slice(json).map_err(Status::internal_error)?;
    Ok(yaml::to_yaml(&value).into_bytes())
}

fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Returns the 406 for a list form of an object, or the reverse.
fn mismatch(asked: &str, is: &str, go_type: &str) -> Status {
    let message = format!("you requested {asked}, but the requested object is {is} (*{go_type})");
    Status::failure(406, StatusReason::NotAcceptable, message)
}

/// Chooses the representation of a response; CBOR too, where the server offers it.
///
/// # Errors
/// 406 if the client accepts none.
pub(crate) fn negotiated(request: &Request, offer: &Offer) -> Result<Negotiated, Status> {
    let chosen = negotiate(request.accept(), &request.offer(offer));
    chosen.map_err(|refusal| not_acceptable(&refusal))
}

/// Returns the 406 for unsupported media types.
pub(crate) fn not_acceptable(refusal: &NotAcceptable) -> Status {
    let status = Status::failure(406, StatusReason::NotAcceptable, refusal.message());
    if refusal.unrouted {
        return status.with_details(Default::default());
    }
    status
}
