//! `Endpoint`: a resource in one namespace or in all, with the form of its objects; shared by
//! `Api`, `Subresource` and the lister-watchers.

use crate::Client;
use crate::answer::{self, Answer};
use crate::decoder::{Decoder, SharedContext};
use crate::error::{AnswerError, ApiError, RequestError, WrittenObject};
use crate::item_stream::ItemStream;
use crate::request::{self, Content, JSON, PROTOBUF, Target};
use crate::watch_event_stream::WatchEventStream;
use bytes::Bytes;
use http::{Method, Response};
use kubist_apimachinery::wire::{
    DecodeContext, Encode, EncodeError, Encoding, Ingest, WireError, scan,
};
use kubist_apimachinery::{ApiResource, Object, PatchOptions, PostOptions, QueryPairs, Str};
use kubist_cache::{IngestAny, Written};
use kubist_codec::envelope;
use kubist_transport::ResponseBody;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

type Decode<K> = fn(Bytes, Encoding, &ApiResource, &mut DecodeContext) -> Result<K, WireError>;

/// How objects are decoded; it covers kinds known at compile time and at run time.
pub(crate) struct Form<K> {
    pub(crate) decode: Decode<K>,
    metadata_only: bool,
    protobuf: bool,
}

impl<K: Ingest> Form<K> {
    pub(crate) fn of_kind() -> Self {
        Self {
            decode: |bytes, encoding, _, cx| K::ingest(bytes, encoding, cx),
            metadata_only: K::METADATA_ONLY,
            protobuf: K::PROTOBUF,
        }
    }
}

impl<K: IngestAny> Form<K> {
    pub(crate) fn of_any_kind() -> Self {
        Self {
            decode: K::ingest_any,
            metadata_only: K::METADATA_ONLY,
            protobuf: K::PROTOBUF,
        }
    }
}

impl<K> Clone for Form<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Form<K> {}

/// The expected shape of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Object,
    List,
    Watch,
}

pub(crate) struct Endpoint<K> {
    pub(crate) client: Client,
    /// The resource in the path.
    pub(crate) resource: Arc<ApiResource>,
    /// The kind of the objects; some subresources have another kind than the resource.
    pub(crate) kind: Arc<ApiResource>,
    pub(crate) namespace: Option<Str>,
    pub(crate) subresource: Str,
    pub(crate) form: Form<K>,
    pub(crate) recorder: Option<Recorder>,
}

/// Records the results of writes.
pub(crate) type Recorder = Arc<dyn Fn(Written) + Send + Sync>;

impl<K> Endpoint<K> {
    /// An endpoint for whole objects of a resource, without a write recorder.
    pub(crate) fn new(
        client: Client,
        resource: ApiResource,
        namespace: Option<Str>,
        form: Form<K>,
    ) -> Self {
        let resource = Arc::new(resource);
        Self {
            client,
            kind: Arc::clone(&resource),
            resource,
            namespace,
            subresource: Str::default(),
            form,
            recorder: None,
        }
    }
}

impl<K: Object> Endpoint<K> {
    /// Returns the same endpoint, asking for JSON.
    pub(crate) fn in_json(&self) -> Self {
        let mut this = self.clone();
        this.form.protobuf = false;
        this
    }

    pub(crate) fn target<'a>(&'a self, name: Option<&'a str>) -> Target<'a> {
        Target {
            resource: &self.resource,
            namespace: self.namespace.as_deref(),
            name,
            subresource: &self.subresource,
        }
    }

    /// Returns the `Accept` header. For metadata it includes whole objects as a fallback.
    fn accept(&self, shape: Shape) -> &'static str {
        let protobuf = self.form.protobuf && self.client.reads_protobuf();
        match (self.form.metadata_only, shape, protobuf) {
            (false, _, true) => "application/vnd.kubernetes.protobuf,application/json",
            (false, _, false) => JSON,
            (true, Shape::List, true) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;\
                 g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;\
                 g=meta.k8s.io;v=v1,application/json"
            }
            (true, Shape::List, false) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            (true, _, true) => {
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            (true, _, false) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
        }
    }

    /// Sends a request; returns the response head and the request's name.
    async fn send(
        &self,
        method: Method,
        target: Target<'_>,
        query: &QueryPairs,
        content: Option<Content>,
        shape: Shape,
        retries_max: u32,
    ) -> Result<(Response<ResponseBody>, Str), ApiError> {
        let uri = target.uri(query)?;
        let request = request::build(method, &uri, self.accept(shape), content)?;
        let name = request::name_of(&request);
        let response = self
            .client
            .send_to(request, Some(target), retries_max)
            .await?;
        Ok((response, name))
    }

    /// Sends a request whose response is one object.
    pub(crate) async fn call(
        &self,
        method: Method,
        target: Target<'_>,
        query: &QueryPairs,
        content: Option<Content>,
    ) -> Result<(Answer, Str), ApiError> {
        let retries = self.client.retries_max();
        let mut query = Cow::Borrowed(query);
        if self.client.is_dry_run() && method != Method::GET {
            announce(&method, target, content.as_ref());
            if !query.iter().any(|(name, _)| *name == DRY_RUN) {
                query.to_mut().push((DRY_RUN, "All".to_owned()));
            }
        }
        let sent = self
            .send(method, target, &query, content, Shape::Object, retries)
            .await;
        let (response, name) = sent?;
        Ok((Answer::read(response, &name).await?, name))
    }

    /// Sends an object, as protobuf if the server reads it, otherwise as JSON.
    pub(crate) async fn write<B: Encode>(
        &self,
        method: Method,
        target: Target<'_>,
        query: &QueryPairs,
        body: &B,
        kind: &ApiResource,
    ) -> Result<(Answer, Str), ApiError> {
        if B::PROTOBUF && self.client.writes_protobuf(kind) {
            let raw = encoded(kind, body.encode(Encoding::Protobuf))?;
            let version = kind.group_version().to_string();
            let bytes = envelope::wrap(&version, &kind.kind, &raw).into();
            let content = Content {
                media_type: PROTOBUF,
                bytes,
            };
            match self
                .call(method.clone(), target, query, Some(content))
                .await
            {
                Err(error) if error.is_unsupported_media_type() => self.client.protobuf_refused(),
                answer => return answer,
            }
        }
        let bytes = encoded(kind, body.encode(Encoding::Json))?.into();
        self.call(
            method,
            target,
            query,
            Some(Content {
                media_type: JSON,
                bytes,
            }),
        )
        .await
    }

    /// Sends an object of this endpoint's kind with a write verb. Returns the answered object.
    pub(crate) async fn save(
        &self,
        method: Method,
        target: Target<'_>,
        object: &K,
        options: &PostOptions,
    ) -> Result<K, ApiError>
    where
        K: Encode,
    {
        let query = options.to_query();
        let sent = self.write(method, target, &query, object, &self.kind).await;
        self.written(sent?, options.dry_run)
    }

    /// Sends a patch. Returns the answered object.
    pub(crate) async fn patch(
        &self,
        target: Target<'_>,
        content: Content,
        options: &PatchOptions,
    ) -> Result<K, ApiError> {
        let query = options.to_query();
        let sent = self
            .call(Method::PATCH, target, &query, Some(content))
            .await;
        self.written(sent?, options.post.dry_run)
    }

    /// Decodes the object of an answer.
    pub(crate) fn object(&self, (answer, name): (Answer, Str)) -> Result<K, ApiError> {
        let object = answer.expect_kind(&self.kind.kind).and_then(|()| {
            let cx = &mut DecodeContext::new();
            (self.form.decode)(answer.bytes, answer.encoding, &self.kind, cx)
                .map_err(AnswerError::Object)
        });
        object.map_err(|source| ApiError::answer(&name, source))
    }

    /// Decodes the response to a write, and records the object unless it was a dry run.
    pub(crate) fn written(&self, sent: (Answer, Str), dry_run: bool) -> Result<K, ApiError> {
        self.written_as(sent, dry_run, Written::saved)
    }

    /// Same as [`Self::written`], with the record made by `written`.
    pub(crate) fn written_as(
        &self,
        sent: (Answer, Str),
        dry_run: bool,
        written: impl FnOnce(&K) -> Written,
    ) -> Result<K, ApiError> {
        if dry_run || self.client.is_dry_run() {
            return self.object(sent);
        }
        // A second handle: decoding consumes the bytes.
        let (bytes, encoding) = (sent.0.bytes.clone(), sent.0.encoding);
        let unread = || WrittenObject {
            name: scan::name_in(&bytes, encoding),
            resource_version: scan::version_in(&bytes, encoding).unwrap_or_default(),
        };
        let object = self.object(sent).map_err(|error| error.of_write(unread))?;
        self.record(|| written(&object));
        Ok(object)
    }

    pub(crate) fn record(&self, written: impl FnOnce() -> Written) {
        if let Some(recorder) = &self.recorder {
            recorder(written());
        }
    }

    /// Starts a list.
    pub(crate) async fn list(
        &self,
        query: &QueryPairs,
        cx: SharedContext,
        retries_max: u32,
    ) -> Result<ItemStream<K>, ApiError> {
        let (body, encoding, decoder) = self.begin(query, cx, Shape::List, retries_max).await?;
        Ok(ItemStream::new(body, encoding, decoder))
    }

    /// Starts a watch.
    pub(crate) async fn watch(
        &self,
        query: &QueryPairs,
        cx: SharedContext,
        retries_max: u32,
    ) -> Result<WatchEventStream<K>, ApiError> {
        let (body, encoding, decoder) = self.begin(query, cx, Shape::Watch, retries_max).await?;
        Ok(WatchEventStream::new(body, encoding, decoder))
    }

    async fn begin(
        &self,
        query: &QueryPairs,
        cx: SharedContext,
        shape: Shape,
        retries_max: u32,
    ) -> Result<(ResponseBody, Encoding, Decoder<K>), ApiError> {
        let target = self.target(None);
        let sent = self
            .send(Method::GET, target, query, None, shape, retries_max)
            .await;
        let (response, request) = sent?;
        let encoding = answer::encoding(response.headers());
        let encoding = encoding.map_err(|source| ApiError::answer(&request, source))?;
        let decoder = Decoder {
            form: self.form,
            kind: Arc::clone(&self.kind),
            cx,
            request,
        };
        Ok((response.into_body(), encoding, decoder))
    }
}

/// The parameter of a dry run.
const DRY_RUN: &str = "dryRun";
/// The most bytes of a body that are logged.
const SHOWN_MAX: usize = 4 << 10;

/// Logs what would be written.
fn announce(method: &Method, target: Target<'_>, content: Option<&Content>) {
    let path = target.path().unwrap_or_default();
    let body = content.map(|it| {
        if it.media_type == PROTOBUF {
            return format!("{} bytes of protobuf", it.bytes.len());
        }
        let shown = &it.bytes[..it.bytes.len().min(SHOWN_MAX)];
        String::from_utf8_lossy(shown).into_owned()
    });
    let body = body.unwrap_or_default();
    tracing::info!(%method, path, body, "a dry run: this would be written");
}

/// Maps the encoding error of a body, so that an object that cannot be encoded is not sent empty.
pub(crate) fn encoded(
    kind: &ApiResource,
    body: Result<Vec<u8>, EncodeError>,
) -> Result<Vec<u8>, ApiError> {
    body.map_err(|source| {
        let kind = kind.kind.clone();
        RequestError::Encode { kind, source }.into()
    })
}

impl<K> Clone for Endpoint<K> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            resource: Arc::clone(&self.resource),
            kind: Arc::clone(&self.kind),
            namespace: self.namespace.clone(),
            subresource: self.subresource.clone(),
            form: self.form,
            recorder: self.recorder.clone(),
        }
    }
}

impl<K> fmt::Debug for Endpoint<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("resource", &self.resource.gvr().to_string())
            .field("namespace", &self.namespace)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}
