//! `AuditedCall`: what is recorded of one request.

use crate::audit::Audit;
use crate::audit::item::{Receipt, TRUNCATED};
use crate::audit::object::Object;
use crate::audit::queue::Pending;
use bytes::Bytes;
use kubist_apimachinery::wire::Wire as _;
use kubist_apimachinery::{MicroTime, Status, Str};
use kubist_audit::{
    AuthenticationMetadata, Event, Level, ObjectReference, Stage, Treatment, UserInfo,
};
use kubist_authorization::{Action, Attributes, Decision, User};
use kubist_codec::Format;
use kubist_registry::WallClock;
use parking_lot::Mutex;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The annotations of authorization.
const DECISION: &str = "authorization.k8s.io/decision";
const REASON: &str = "authorization.k8s.io/reason";

/// What is known of a request when it is received.
pub(crate) struct Head<'a> {
    pub(crate) audit_id: String,
    pub(crate) uri: &'a str,
    pub(crate) user_agent: &'a str,
    pub(crate) source: Option<String>,
    /// Since the Unix epoch.
    pub(crate) received: Duration,
    pub(crate) clock: Arc<dyn WallClock>,
}

/// A request that is recorded. Dropping the last handle records that its response is complete.
#[derive(Debug)]
pub(crate) struct AuditedCall {
    audit: Audit,
    treatment: Treatment,
    clock: Arc<dyn WallClock>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What all stages have in common.
    event: Event,
    request: Option<Arc<Object>>,
    response: Option<Arc<Object>>,
    /// Those of the events that are still to come.
    places: Option<OwnedSemaphorePermit>,
    /// Whether nothing further is recorded, because the request was refused for its first event.
    is_refused: bool,
}

/// The first event of a request could not be written, and the request must not go on.
#[derive(Debug)]
pub(crate) struct NotStored;

impl AuditedCall {
    /// Begins to record a request, if the policy says so, once there is room for its events.
    ///
    /// # Errors
    /// Its first event could not be written, and a backend insists on it.
    pub(crate) async fn begin(
        audit: &Audit,
        request: &Attributes<'_>,
        head: Head<'_>,
    ) -> Result<Option<Arc<Self>>, NotStored> {
        let treatment = audit.policy.evaluate(request);
        audit.counters.treated(treatment.level);
        if treatment.level == Level::None {
            return Ok(None);
        }
        let Some(places) = audit.queue.reserve(events(&treatment)).await else {
            return Ok(None);
        };
        let clock = Arc::clone(&head.clock);
        let event = first_event(request, head, treatment.level);
        let call = Arc::new(Self {
            audit: audit.clone(),
            treatment,
            clock,
            state: Mutex::new(State {
                event,
                request: None,
                response: None,
                places: Some(places),
                is_refused: false,
            }),
        });
        call.received().await?;
        Ok(Some(call))
    }

    /// Records that the request was received, and waits for it where that must be written.
    async fn received(&self) -> Result<(), NotStored> {
        let stage = Stage::RequestReceived;
        if !self.audit.queue.is_strict() || !self.treatment.records(stage) {
            self.record(stage, None);
            return Ok(());
        }
        let (receipt, written) = Receipt::new();
        self.record(stage, Some(receipt));
        if written.await == Ok(true) {
            return Ok(());
        }
        self.audit.counters.rejected();
        self.state.lock().is_refused = true;
        Err(NotStored)
    }

    /// The user impersonates another, which this constrained verb permitted, if one did.
    pub(crate) fn impersonates(&self, user: &User, constraint: &str) {
        let event = &mut self.state.lock().event;
        event.impersonated_user = Some(UserInfo::from(user));
        event.authentication_metadata = AuthenticationMetadata {
            impersonation_constraint: constraint.to_owned(),
        };
    }

    /// The authorizer has decided.
    pub(crate) fn authorized(&self, decision: &Decision) {
        let said = if decision.is_allowed() {
            "allow"
        } else {
            "forbid"
        };
        if !decision.is_allowed() && !decision.error().is_empty() {
            self.annotate(REASON, "internal error");
            return;
        }
        self.annotate(DECISION, said);
        self.annotate(REASON, decision.reason());
    }

    /// Adds an annotation.
    pub(crate) fn annotate(&self, key: &str, value: &str) {
        let annotations = &mut self.state.lock().event.annotations;
        annotations.insert(key.into(), Str::from(value));
    }

    /// Adds what admission noted.
    pub(crate) fn annotate_all(&self, notes: BTreeMap<String, String>) {
        let annotations = &mut self.state.lock().event.annotations;
        let notes = notes.into_iter();
        annotations.extend(notes.map(|(key, value)| (Str::from(key), Str::from(value))));
    }

    /// Notes the body of the request, once there is room for it. Where only its name is recorded,
    /// it is not waited for.
    pub(crate) async fn request_body(&self, format: Format, bytes: &Bytes) {
        let queue = &self.audit.queue;
        let room = if self.treatment.level >= Level::Request {
            queue.reserve_body(bytes.len()).await
        } else {
            let is_named = |it: &ObjectReference| !it.name.is_empty();
            if self
                .state
                .lock()
                .event
                .object_ref
                .as_ref()
                .is_none_or(is_named)
            {
                return;
            }
            queue.try_reserve_body(bytes.len())
        };
        match room {
            Some(room) => self.state.lock().request = Some(object(format, bytes, room)),
            None if self.treatment.level >= Level::Request => self.annotate(TRUNCATED, "true"),
            None => {}
        }
    }

    /// Reports whether the body of the response is recorded.
    pub(crate) fn wants_response(&self) -> bool {
        let is_about_object = self.state.lock().event.object_ref.is_some();
        self.treatment.level >= Level::RequestResponse && is_about_object
    }

    /// Notes the body of the response. Where there is no room now, or the body is produced while it
    /// is sent, the event says that it lacks it: a request that holds room must not wait for more.
    pub(crate) fn response_body(&self, body: Option<(Format, Bytes)>) {
        let kept = body.and_then(|(format, bytes)| {
            let room = self.audit.queue.try_reserve_body(bytes.len())?;
            Some(object(format, &bytes, room))
        });
        if kept.is_none() {
            self.annotate(TRUNCATED, "true");
        }
        self.state.lock().response = kept;
    }

    /// Notes the status code of the response.
    pub(crate) fn answered(&self, code: u16) {
        let event = &mut self.state.lock().event;
        if event.response_status.is_none() {
            event.response_status = raw(&json!({"metadata": {}, "code": code}));
        }
    }

    /// Notes how the request failed.
    pub(crate) fn failed(&self, status: &Status) {
        self.concluded(status, status.code);
    }

    /// Notes the Status that answers the request, with this code.
    pub(crate) fn concluded(&self, status: &Status, code: i32) {
        let shown = serde_json::from_slice::<serde_json::Value>(&status.to_json());
        let mut shown = shown.unwrap_or_default();
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("kind");
            fields.remove("apiVersion");
            fields.insert("code".to_owned(), code.into());
        }
        self.state.lock().event.response_status = raw(&shown);
    }

    /// The response has begun, and goes on for long. Its end needs no place: places must not be
    /// taken for as long as clients like.
    pub(crate) fn started(&self) {
        self.record(Stage::ResponseStarted, None);
        self.state.lock().places = None;
    }

    /// The handler panicked.
    pub(crate) fn panicked(&self) {
        self.record(Stage::Panic, None);
    }

    fn record(&self, stage: Stage, receipt: Option<Receipt>) {
        if !self.treatment.records(stage) {
            return;
        }
        let mut state = self.state.lock();
        if state.is_refused {
            return;
        }
        let place = state.places.as_mut().and_then(|it| it.split(1));
        let mut event = state.event.clone();
        event.stage = stage;
        event.stage_timestamp = match stage {
            Stage::RequestReceived => event.request_received_timestamp,
            _ => micro(self.clock.now()),
        };
        let ended = stage != Stage::RequestReceived;
        let pending = Pending {
            event,
            request: state.request.clone().filter(|_| ended),
            response: state.response.clone().filter(|_| ended),
            omit_managed_fields: self.treatment.omit_managed_fields,
            place,
            receipt,
        };
        self.audit.counters.recorded();
        self.audit.queue.push(pending);
    }
}

impl Drop for AuditedCall {
    fn drop(&mut self) {
        self.record(Stage::ResponseComplete, None);
    }
}

/// Returns the event of a request that was received.
fn first_event(request: &Attributes<'_>, head: Head<'_>, level: Level) -> Event {
    let received = micro(head.received);
    Event {
        kind: "Event",
        api_version: "audit.k8s.io/v1",
        level,
        audit_id: head.audit_id,
        stage: Stage::RequestReceived,
        request_uri: head.uri.to_owned(),
        verb: request.verb.to_owned(),
        user: UserInfo::from(request.user),
        impersonated_user: None,
        authentication_metadata: AuthenticationMetadata::default(),
        source_ips: head.source.into_iter().collect(),
        user_agent: head.user_agent.to_owned(),
        object_ref: reference(request),
        response_status: None,
        request_object: None,
        response_object: None,
        request_received_timestamp: received,
        stage_timestamp: received,
        annotations: BTreeMap::new(),
    }
}

/// How many events a request has at most.
fn events(treatment: &Treatment) -> u32 {
    let records = |stage| u32::from(treatment.records(stage));
    // It either starts and goes on, or may panic.
    records(Stage::RequestReceived)
        + records(Stage::ResponseStarted).max(records(Stage::Panic))
        + records(Stage::ResponseComplete)
}

fn object(format: Format, bytes: &Bytes, room: OwnedSemaphorePermit) -> Arc<Object> {
    Arc::new(Object {
        format,
        bytes: bytes.clone(),
        room: Arc::new(room),
    })
}

fn raw(value: &serde_json::Value) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}

fn micro(since_epoch: Duration) -> MicroTime {
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
    let nanos = i32::try_from(since_epoch.subsec_micros() * 1_000).unwrap_or_default();
    MicroTime::from_unix(seconds, nanos)
}

fn reference(request: &Attributes<'_>) -> Option<ObjectReference> {
    let Action::Resource(action) = &request.action else {
        return None;
    };
    Some(ObjectReference {
        resource: action.resource.to_owned(),
        namespace: action.namespace.to_owned(),
        name: action.name.to_owned(),
        api_group: action.group.to_owned(),
        api_version: action.version.to_owned(),
        subresource: action.subresource.to_owned(),
        ..ObjectReference::default()
    })
}
