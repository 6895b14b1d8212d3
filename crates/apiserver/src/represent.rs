//! Objects and lists in the form that a client asked for: JSON, YAML or protobuf; themselves,
//! as a table, or their metadata alone.

mod list_chunks;

use crate::answer::Answer;
use crate::body::{Body, BrokenOff};
use crate::decode::internal_package;
use crate::pretty;
use crate::request::Request;
use crate::table::{Include, TableStyle, metadata_of};
use futures_util::stream;
use http::StatusCode;
use kubist_api::ResourceFacts;
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::wire::{Message, to_json_value, to_protobuf};
use kubist_apimachinery::{ListMeta, Status, StatusReason, Time};
use kubist_codec::negotiate::{MetaVersion, Negotiated, Offer, Transform, negotiate};
use kubist_codec::{Format, envelope, list_encoder, yaml};
use kubist_registry::Stored;
use list_chunks::ListChunks;
use serde_json::{Value, json};

/// The form of one answer.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) chosen: Negotiated,
    pub(crate) pretty: bool,
    pub(crate) table: Option<TableStyle>,
}

/// A list that is to be answered.
#[derive(Debug)]
pub(crate) struct ListParts {
    pub(crate) api_version: &'static str,
    pub(crate) kind: String,
    pub(crate) metadata: ListMeta,
    pub(crate) items: Vec<Stored>,
    /// Whether it is of a custom resource.
    pub(crate) custom: bool,
}

impl Form {
    /// What a request about a resource accepts.
    pub(crate) fn of(
        request: &Request,
        offer: &Offer,
        facts: &'static ResourceFacts,
        now: Time,
    ) -> Result<Self, Status> {
        let chosen = negotiate(request.accept(), offer);
        let chosen = chosen.map_err(|refusal| not_acceptable(&refusal.message()))?;
        Self::chosen(request, chosen, facts, now)
    }

    /// What was negotiated, with the options that the query has for it.
    pub(crate) fn chosen(
        request: &Request,
        chosen: Negotiated,
        facts: &'static ResourceFacts,
        now: Time,
    ) -> Result<Self, Status> {
        let table = match chosen.transform {
            Transform::Table { version } => Some(TableStyle {
                version,
                include: Include::parse(request.query.first("includeObject"))?,
                facts,
                now,
            }),
            _ => None,
        };
        let pretty = chosen.pretty || request.wants_pretty();
        Ok(Self {
            chosen,
            pretty,
            table,
        })
    }

    /// Whether objects are themselves in it, no tables and not their metadata alone.
    pub(crate) fn is_plain(&self) -> bool {
        self.table.is_none() && self.chosen.transform == Transform::None
    }

    /// One object.
    pub(crate) fn object(&self, code: StatusCode, stored: &Stored) -> Result<Answer, Status> {
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
                return Err(mismatch(
                    "PartialObjectMetadataList",
                    "not a list",
                    facts.group,
                    facts.kind,
                ));
            }
            (_, Format::Json) => self.text(stored.json()?),
            (_, Format::Yaml) => yaml_of(&stored.json()?)?,
            (_, Format::Protobuf) => {
                let facts = stored.kind().facts();
                envelope::wrap(facts.api_version, facts.kind, stored.protobuf()?)
            }
        };
        Ok(self.answer(code, bytes))
    }

    /// A message that is no stored object, such as a review.
    pub(crate) fn message(&self, code: StatusCode, message: &dyn Message) -> Answer {
        let bytes = match self.chosen.format {
            Format::Json => self.text(kubist_apimachinery::wire::to_json(message)),
            Format::Yaml => yaml::to_yaml(&to_json_value(message)).into_bytes(),
            Format::Protobuf => envelope::encode(message),
        };
        self.answer(code, bytes)
    }

    /// A list. Large ones are made while they are sent.
    pub(crate) fn list(&self, list: ListParts) -> Result<Answer, Status> {
        let code = StatusCode::OK;
        if let Some(table) = self.table {
            let table = table.table(&list.metadata, &list.items, true)?;
            return self.tree(code, &table);
        }
        match self.chosen.transform {
            Transform::PartialObjectMetadataList { version } => {
                return self.metadata_list(&list, version);
            }
            Transform::PartialObjectMetadata { .. } => {
                let group = list.items.first().map(|it| it.kind().facts().group);
                let group = group.unwrap_or_else(|| group_of(list.api_version));
                let asked = "PartialObjectMetadata";
                return Err(mismatch(asked, "a list", group, &list.kind));
            }
            _ => {}
        }
        if self.chosen.format == Format::Yaml || (self.chosen.format == Format::Json && self.pretty)
        {
            let json = ListChunks::json(list)
                .collect::<Result<Vec<_>, _>>()?
                .concat();
            let bytes = match self.chosen.format {
                Format::Yaml => yaml_of(&json)?,
                _ => self.text(json),
            };
            return Ok(self.answer(code, bytes));
        }
        let mut chunks = match self.chosen.format {
            Format::Protobuf => ListChunks::protobuf(list)?,
            _ => ListChunks::json(list),
        };
        // What is wrong with the first objects can still be said in a Status.
        let first = chunks.next().transpose()?.unwrap_or_default();
        let body = match chunks.next().transpose()? {
            None => Body::Whole(first),
            Some(second) => {
                let rest = chunks.map(|chunk| chunk.map_err(BrokenOff));
                let all = [Ok(first), Ok(second)].into_iter().chain(rest);
                Body::Chunks(Box::pin(stream::iter(all)))
            }
        };
        Ok(Answer::new(code, self.chosen.content_type(), body))
    }

    fn metadata(
        &self,
        code: StatusCode,
        stored: &Stored,
        version: MetaVersion,
    ) -> Result<Answer, Status> {
        let partial = PartialObjectMetadata {
            metadata: stored.object()?.meta().clone(),
        };
        if self.chosen.format == Format::Protobuf {
            let raw = to_protobuf(&partial);
            let bytes = envelope::wrap(version.api_version(), "PartialObjectMetadata", &raw);
            return Ok(self.answer(code, bytes));
        }
        self.tree(code, &partial_json(&partial, version))
    }

    fn metadata_list(&self, list: &ListParts, version: MetaVersion) -> Result<Answer, Status> {
        let code = StatusCode::OK;
        let partial = |stored: &Stored| -> Result<PartialObjectMetadata, Status> {
            Ok(PartialObjectMetadata {
                metadata: stored.object()?.meta().clone(),
            })
        };
        let items: Result<Vec<_>, Status> = list.items.iter().map(partial).collect();
        let items = items?;
        if self.chosen.format == Format::Protobuf {
            let items: Vec<Vec<u8>> = items.iter().map(|it| to_protobuf(it)).collect();
            let head = list_encoder::ListHead {
                api_version: version.api_version(),
                kind: "PartialObjectMetadataList",
                metadata: &list.metadata,
            };
            let encoding = kubist_apimachinery::wire::Encoding::Protobuf;
            let bytes = list_encoder::encode_list(encoding, head, &items);
            return Ok(self.answer(code, bytes));
        }
        let items: Vec<Value> = items.iter().map(|it| partial_json(it, version)).collect();
        self.tree(
            code,
            &json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": version.api_version(),
                "metadata": to_json_value(&list.metadata),
                "items": items,
            }),
        )
    }

    /// A JSON tree, as JSON or YAML. It has no protobuf form.
    pub(crate) fn tree(&self, code: StatusCode, tree: &Value) -> Result<Answer, Status> {
        let bytes = match self.chosen.format {
            Format::Yaml => yaml::to_yaml(tree).into_bytes(),
            _ => self.text(serde_json::to_vec(tree).map_err(Status::internal_error)?),
        };
        Ok(self.answer(code, bytes))
    }

    /// JSON as it is sent.
    fn text(&self, mut json: Vec<u8>) -> Vec<u8> {
        if self.pretty {
            return pretty::indent(&json);
        }
        if json.last() != Some(&b'\n') {
            json.push(b'\n');
        }
        json
    }

    fn answer(&self, code: StatusCode, bytes: Vec<u8>) -> Answer {
        Answer::new(code, self.chosen.content_type(), Body::Whole(bytes.into()))
    }
}

/// The metadata of an object as a `PartialObjectMetadata` of a version.
pub(crate) fn partial_json(partial: &PartialObjectMetadata, version: MetaVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": to_json_value(&partial.metadata),
    })
}

fn yaml_of(json: &[u8]) -> Result<Vec<u8>, Status> {
    let value: Value = serde_json::from_slice(json).map_err(Status::internal_error)?;
    Ok(yaml::to_yaml(&value).into_bytes())
}

fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

/// 406 about one form asked of the other.
fn mismatch(asked: &str, is: &str, group: &str, kind: &str) -> Status {
    let package = internal_package(group);
    let message =
        format!("you requested {asked}, but the requested object is {is} (*{package}.{kind})");
    Status::failure(406, StatusReason::NotAcceptable, message)
}

/// 406 about media types.
pub(crate) fn not_acceptable(message: &str) -> Status {
    Status::failure(406, StatusReason::NotAcceptable, message).with_details(Default::default())
}
