//! A scenario: a fresh server, its steps in order, and the differences.

use super::compare::{Symbols, at, strip, types, without_managers};
use crate::client::{Client, server_with};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use kubist_admission::PluginSelection;
use kubist_apiserver::{Anonymous, Config, MASTERS_GROUP, RunningServer, StaticToken};
use kubist_registry::User;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The administrator's token; reviews include the uid.
const TOKEN: &str = "the-token-of-the-recordings";
const NAMESPACE: &str = "rec-0123abcd";
/// Headers that are always recorded.
const HEADERS: [&str; 3] = ["content-type", "warning", "retry-after"];
/// Time limit of a response.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) area: String,
    pub(super) steps: usize,
    /// The step names, and the differences.
    pub(super) differences: Vec<(String, String)>,
}

/// Values captured from responses, for later requests.
type Captured = BTreeMap<String, String>;

/// Parts of a recording that must be sent as written, because the order of fields matters.
#[derive(Deserialize)]
struct Written {
    steps: Vec<WrittenStep>,
}

#[derive(Deserialize)]
struct WrittenStep {
    body: Option<Box<RawValue>>,
}

/// Plays a recording.
pub(super) async fn play(recording: String) -> Outcome {
    let written: Written = serde_json::from_str(&recording).expect("it is a recording");
    let scenario: Value = serde_json::from_str(&recording).expect("it is JSON");
    // The recorded server allowed everything to everybody, including anonymous users.
    let mut config = Config {
        anonymous: Anonymous::Never,
        ..Config::default()
    };
    config.tokens.push(StaticToken {
        token: TOKEN.to_owned(),
        user: User {
            name: "admin".into(),
            uid: "uid-of-the-admin".into(),
            groups: vec![MASTERS_GROUP.into()],
            ..User::default()
        },
    });
    // As the recorded server, it taints no new nodes.
    let server = server_with(config, |registry| {
        let off = ["TaintNodesByCondition".to_owned()];
        let plugins = PluginSelection::new(&[], &off).expect("it is a plugin");
        registry.admission = plugins.chain(Vec::new());
    });
    let server = server.await;
    let text = |name: &str| scenario[name].as_str().expect("it is a text").to_owned();
    let mut captured = Captured::from([
        ("ns".to_owned(), NAMESPACE.to_owned()),
        ("token".to_owned(), TOKEN.to_owned()),
    ]);
    let namespace = json!({"method": "POST", "path": "/api/v1/namespaces"});
    let body = format!(r#"{{"metadata":{{"name":"{NAMESPACE}"}}}}"#);
    let mut client = connect(&server).await;
    let namespace = Ask::new(&namespace, Some(body), &captured);
    let created = ask(&mut client, &server, &namespace).await;
    assert_eq!(created.status(), 201);
    drop(created.into_body().collect().await);
    let steps = scenario["steps"].as_array().expect("there are steps");
    let (mut symbols, mut differences) = (Symbols::default(), Vec::new());
    for (step, written) in steps.iter().zip(&written.steps) {
        let body = written
            .body
            .as_deref()
            .and_then(|it| written_body(it, &captured));
        let ask = Ask::new(step, body, &captured);
        let got = answer(&mut client, &server, &ask, step, &mut captured).await;
        let mut want = fill(&step["response"], &captured);
        if step["keep_managed_fields"] == true {
            strip(&mut want["body"], true);
        }
        if let Some(difference) = symbols.difference("", &want, &got) {
            let name = step["name"].as_str().expect("it has a name");
            differences.push((name.to_owned(), difference));
        }
    }
    server.shutdown().await;
    Outcome {
        name: text("name"),
        area: text("area"),
        steps: steps.len(),
        differences,
    }
}

async fn connect(server: &RunningServer) -> Client {
    Client::over_tls(server, None, &["http/1.1"]).await
}

/// A request that can be repeated.
struct Ask(Request<Bytes>);

impl Ask {
    fn new(step: &Value, body: Option<String>, captured: &Captured) -> Self {
        let mut headers = BTreeMap::from([
            ("Accept".to_owned(), "application/json".to_owned()),
            ("Authorization".to_owned(), format!("Bearer {TOKEN}")),
            ("Host".to_owned(), "localhost".to_owned()),
            ("User-Agent".to_owned(), "replay/1.0".to_owned()),
        ]);
        if body.is_some() {
            headers.insert("Content-Type".to_owned(), "application/json".to_owned());
        }
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            match fill(value, captured) {
                Value::String(value) => drop(headers.insert(name.clone(), value)),
                _ => drop(headers.remove(name)),
            }
        }
        let path = fill(&step["path"], captured);
        let mut request = Request::builder()
            .method(step["method"].as_str().expect("it has a method"))
            .uri(path.as_str().expect("it is a text"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Bytes::from(body.unwrap_or_default()));
        Self(request.expect("it is valid"))
    }

    fn request(&self) -> Request<Full<Bytes>> {
        self.0.clone().map(Full::new)
    }
}

/// The body of a request: a string is sent unchanged, anything else as JSON.
fn written_body(written: &RawValue, captured: &Captured) -> Option<String> {
    match serde_json::from_str(written.get()).expect("it is JSON") {
        Value::Null => None,
        Value::String(text) => Some(fill_text(&text, captured)),
        _ => Some(fill_text(written.get(), captured)),
    }
}

async fn ask(client: &mut Client, server: &RunningServer, ask: &Ask) -> Response<Incoming> {
    let sent = client.send_request(ask.request());
    if let Ok(Ok(response)) = timeout_at(Instant::now() + PATIENCE, sent).await {
        return response;
    }
    // The server may close a connection after a response.
    *client = connect(server).await;
    let sent = client.send_request(ask.request()).await;
    sent.expect("it answers")
}

/// Sends the request of a step, and returns the response in the form of recordings.
async fn answer(
    client: &mut Client,
    server: &RunningServer,
    request: &Ask,
    step: &Value,
    captured: &mut Captured,
) -> Value {
    let is_watch = step["watch"].is_object();
    let response = if is_watch {
        // Abandoning a stream closes its connection.
        ask(&mut connect(server).await, server, request).await
    } else {
        ask(client, server, request).await
    };
    let (parts, mut body) = response.into_parts();
    let mut got = json!({
        "status": parts.status.as_u16(), "headers": headers(&parts.headers, step),
    });
    if is_watch && parts.status == 200 {
        let (events, closed) = events(&mut body, &step["watch"]).await;
        got["events"] = events.into();
        got["closed_by_server"] = closed.into();
        return got;
    }
    let bytes = body
        .collect()
        .await
        .expect("it answers to the end")
        .to_bytes();
    if !bytes.is_empty() {
        let kind = parts.headers.get("content-type");
        let is_json = kind.is_some_and(|it| it.as_bytes().windows(4).any(|it| it == b"json"));
        got["body"] = shown(&bytes, is_json, step, captured);
    }
    got
}

fn headers(headers: &HeaderMap, step: &Value) -> Value {
    let more = step["keep_headers"].as_array().into_iter().flatten();
    let names = HEADERS.into_iter().chain(more.filter_map(Value::as_str));
    let mut kept = serde_json::Map::new();
    for name in names {
        let values = headers.get_all(name).iter();
        let values: Vec<&str> = values.map(|it| it.to_str().expect("it is text")).collect();
        if values.is_empty() {
            continue;
        }
        let value = match name {
            "warning" => values.into(),
            _ => values.join(", ").into(),
        };
        kept.insert(name.to_owned(), value);
    }
    kept.into()
}

fn shown(bytes: &Bytes, is_json: bool, step: &Value, captured: &mut Captured) -> Value {
    let ignored = step["ignore"].as_array().into_iter().flatten();
    let ignored: Vec<&str> = ignored.filter_map(Value::as_str).collect();
    if ignored.contains(&"") {
        return "<ignored>".into();
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return "<binary>".into();
    };
    let value = is_json.then(|| serde_json::from_str::<Value>(text).ok());
    let Some(mut value) = value.flatten() else {
        return without_managers(text).into();
    };
    for (name, path) in step["capture"].as_object().into_iter().flatten() {
        let found = path.as_str().and_then(|path| at(&mut value, path));
        match found {
            Some(Value::String(text)) => drop(captured.insert(name.clone(), text.clone())),
            Some(other) => drop(captured.insert(name.clone(), other.to_string())),
            None => drop(captured.remove(name)),
        }
    }
    strip(&mut value, step["keep_managed_fields"] == true);
    for path in ignored {
        if let Some(found) = at(&mut value, path) {
            *found = "<ignored>".into();
        }
    }
    if step["shape_only"] == true {
        return types(&value);
    }
    value
}

/// Returns the events within the step's limits, and whether the server ended the stream.
async fn events(body: &mut Incoming, limits: &Value) -> (Vec<Value>, bool) {
    let seconds = limits["seconds"].as_f64().expect("it has a limit");
    let deadline = Instant::now() + Duration::from_secs_f64(seconds);
    let most = limits["events_max"].as_u64().expect("it has a limit");
    let (mut events, mut rest) = (Vec::new(), BytesMut::new());
    loop {
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = rest.split_to(end + 1);
            let mut event: Value = serde_json::from_slice(&line).expect("it is an event");
            strip(&mut event, false);
            events.push(json!({"type": event["type"], "object": event["object"]}));
            if u64::try_from(events.len()).is_ok_and(|it| it == most) {
                return (events, false);
            }
        }
        match timeout_at(deadline, body.frame()).await {
            Err(_) => return (events, false),
            Ok(Some(Ok(frame))) => {
                rest.extend_from_slice(frame.data_ref().map_or(b"", |it| it));
            }
            Ok(_) => return (events, true),
        }
    }
}

/// Inserts captured values and long texts.
fn fill(value: &Value, captured: &Captured) -> Value {
    match value {
        Value::String(text) => fill_text(text, captured).into(),
        Value::Array(items) => items.iter().map(|it| fill(it, captured)).collect(),
        Value::Object(map) => {
            let fields = map.iter();
            let fields = fields.map(|(key, it)| (fill_text(key, captured), fill(it, captured)));
            fields.collect()
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, captured: &Captured) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        filled += before;
        let count = name.strip_prefix("fill:").and_then(|it| it.parse().ok());
        match (count, captured.get(name)) {
            (Some(count), _) => filled += &"x".repeat(count),
            (None, Some(value)) => filled += value,
            (None, None) => filled.extend(["{{", name, "}}"]),
        }
        rest = after;
    }
    filled + rest
}
