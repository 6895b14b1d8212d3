//! `Stage`: what an attack has to work with: the server, a name that limits hold for, its time.

use crate::Outcome;
use crate::access::{Access, Who};
use crate::call::Call;
use crate::connection::{Answer, Connection, Windows};
use crate::tally::Tally;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Namespace of everything that attacks put on the server.
pub(crate) const NAMESPACE: &str = "hostile";
/// How long to wait after the server hung up.
const HUNG_UP_PAUSE: Duration = Duration::from_millis(50);
/// How long to wait after it said that there are too many; it says a second.
const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// Preparation ends long before.
const FAR: Duration = Duration::from_mins(10);

/// Where an attack takes place.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The way to the server.
    pub(crate) access: Arc<Access>,
    /// Whether it is the short form.
    pub(crate) short: bool,
    /// When it is over.
    pub(crate) until: Instant,
    /// What became of hostile requests.
    pub(crate) tally: Tally,
    /// The service account of hostile clients: limits do not hold for administrators.
    account: Who,
}

impl Stage {
    /// Makes the namespaces and the service account.
    pub(crate) async fn set(access: Arc<Access>, short: bool) -> Outcome<Self> {
        let administrator = Connection::open(&access, &Who::Administrator, Windows::OPEN).await?;
        for name in [NAMESPACE, crate::honest::NAMESPACE] {
            let namespace = json!({"metadata": {"name": name}});
            create(&administrator, "/api/v1/namespaces", &namespace).await?;
        }
        let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
        let account = json!({"metadata": {"name": NAMESPACE}});
        create(&administrator, &accounts, &account).await?;
        let token = format!("{accounts}/{NAMESPACE}/token");
        let answer = create(&administrator, &token, &json!({"spec": {}})).await?;
        let request: Value = serde_json::from_slice(&answer.body)?;
        let token = request["status"]["token"].as_str();
        let token = token.ok_or("the server made a token request without a token")?;
        Ok(Self {
            access,
            short,
            until: Instant::now() + FAR,
            tally: Tally::default(),
            account: Who::Account(token.into()),
        })
    }

    /// Time begins.
    pub(crate) fn begin(self, time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            tally: Tally::default(),
            ..self
        }
    }

    /// A number that depends on the form.
    pub(crate) fn many(&self, long: usize, short: usize) -> usize {
        if self.short { short } else { long }
    }

    /// Whether time is over.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Who hostile clients are.
    pub(crate) fn account(&self) -> &Who {
        &self.account
    }

    /// The token of hostile clients.
    pub(crate) fn token(&self) -> &str {
        match &self.account {
            Who::Account(token) => token,
            Who::Administrator => "",
        }
    }

    /// A connection of the administrator's, for what has to be there.
    pub(crate) async fn administrator(&self) -> Outcome<Connection> {
        Connection::open(&self.access, &Who::Administrator, Windows::OPEN).await
    }

    /// A hostile client's connection.
    pub(crate) async fn hostile(&self, windows: Windows) -> Outcome<Connection> {
        Connection::open(&self.access, &self.account, windows).await
    }

    /// Sends one hostile request and reads its answer.
    pub(crate) async fn send(&self, connection: &Connection, call: &Call) -> Answer {
        let pending = self.tally.begin(call.label);
        let answer = connection.call(call).await;
        pending.end(&answer);
        answer
    }
}

/// So many clients, each on a connection of its own with so many requests at a time, that send
/// these calls over and over until time is over, each from another place on. Who is hung up on
/// comes back.
pub(crate) async fn repeat(
    stage: &Arc<Stage>,
    clients: usize,
    at_a_time: usize,
    calls: Vec<Call>,
) -> Outcome {
    let calls: Arc<[Call]> = calls.into();
    let mut running = JoinSet::new();
    for client in 0..clients {
        let (stage, calls) = (Arc::clone(stage), Arc::clone(&calls));
        let begin = client * calls.len() / clients.max(1);
        running.spawn(async move { client_loop(&stage, at_a_time, begin, &calls).await });
    }
    while let Some(ended) = running.join_next().await {
        ended?;
    }
    Ok(())
}

async fn client_loop(stage: &Arc<Stage>, at_a_time: usize, begin: usize, calls: &Arc<[Call]>) {
    while !stage.is_over() {
        let connection = match stage.hostile(Windows::OPEN).await {
            Ok(connection) => Arc::new(connection),
            Err(error) => {
                stage.tally.add("connect", &error.to_string());
                tokio::time::sleep(HUNG_UP_PAUSE).await;
                continue;
            }
        };
        let mut running = JoinSet::new();
        for number in 0..at_a_time {
            let (stage, calls) = (Arc::clone(stage), Arc::clone(calls));
            let connection = Arc::clone(&connection);
            running.spawn(async move {
                stream_loop(&stage, &connection, begin + number, &calls).await;
            });
        }
        while running.join_next().await.is_some() {}
        // Whoever was hung up on waits before the next attempt.
        tokio::time::sleep(HUNG_UP_PAUSE).await;
    }
}

/// One request after the other, until time is over or the connection has ended.
async fn stream_loop(stage: &Stage, connection: &Connection, begin: usize, calls: &[Call]) {
    for call in calls.iter().cycle().skip(begin % calls.len().max(1)) {
        if stage.is_over() {
            return;
        }
        match stage.send(connection, call).await.status {
            0 => return,
            429 => tokio::time::sleep(REFUSED_PAUSE).await,
            _ => {}
        }
    }
}

/// Creates something that has to be there.
async fn create(connection: &Connection, path: &str, object: &Value) -> Outcome<Answer> {
    let call = Call::post("set up", path, object.to_string());
    let answer = connection.call(&call).await;
    if answer.status == 201 {
        return Ok(answer);
    }
    let (status, text) = (answer.status, String::from_utf8_lossy(&answer.body));
    Err(format!("{path} was answered by {status} {}: {text}", answer.reason).into())
}
