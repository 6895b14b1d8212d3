//! `Stage`: the environment of an attack: the server, an identity that limits apply to, the time.

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

/// The namespace of all objects of attacks.
pub(crate) const NAMESPACE: &str = "hostile";
/// The pause after the server closed a connection.
const HUNG_UP_PAUSE: Duration = Duration::from_millis(50);
/// The pause after a 429; the server asks for a second.
const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// The time limit for preparation.
const FAR: Duration = Duration::from_secs(10 * 60);

/// The environment of an attack.
#[derive(Debug)]
pub(crate) struct Stage {
    /// How to reach the server.
    pub(crate) access: Arc<Access>,
    /// Whether to run the short form.
    pub(crate) short: bool,
    /// When the attack ends.
    pub(crate) until: Instant,
    /// The responses to hostile requests.
    pub(crate) tally: Tally,
    /// The service account of hostile clients: limits do not apply to administrators.
    account: Who,
}

/// Where bindings are created.
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// Binds the service account to the administrator's role.
fn may_do_everything() -> Value {
    let group = "rbac.authorization.k8s.io";
    json!({
        "metadata": {"name": NAMESPACE},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "namespace": NAMESPACE, "name": NAMESPACE}],
    })
}

impl Stage {
    /// Creates the namespaces and the service account, which may do everything and is still subject
    /// to all limits.
    pub(crate) async fn set(access: Arc<Access>, short: bool) -> Outcome<Self> {
        let administrator = Connection::open(&access, &Who::Administrator, Windows::OPEN).await?;
        for name in [NAMESPACE, crate::honest::NAMESPACE] {
            let namespace = json!({"metadata": {"name": name}});
            create(&administrator, "/api/v1/namespaces", &namespace).await?;
        }
        let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
        let account = json!({"metadata": {"name": NAMESPACE}});
        create(&administrator, &accounts, &account).await?;
        create(&administrator, BINDINGS, &may_do_everything()).await?;
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

    /// Starts the time.
    pub(crate) fn begin(self, time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            tally: Tally::default(),
            ..self
        }
    }

    /// Returns a number that depends on the form.
    pub(crate) fn many(&self, long: usize, short: usize) -> usize {
        if self.short { short } else { long }
    }

    /// Reports whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Returns the identity of hostile clients.
    pub(crate) fn account(&self) -> &Who {
        &self.account
    }

    /// Returns the token of hostile clients.
    pub(crate) fn token(&self) -> &str {
        match &self.account {
            Who::Account(token) => token,
            Who::Administrator => "",
        }
    }

    /// Opens a connection as the administrator, for preparation.
    pub(crate) async fn administrator(&self) -> Outcome<Connection> {
        Connection::open(&self.access, &Who::Administrator, Windows::OPEN).await
    }

    /// Opens a connection as a hostile client.
    pub(crate) async fn hostile(&self, windows: Windows) -> Outcome<Connection> {
        Connection::open(&self.access, &self.account, windows).await
    }

    /// Sends one hostile request and reads its response.
    pub(crate) async fn send(&self, connection: &Connection, call: &Call) -> Answer {
        let pending = self.tally.begin(call.label);
        let answer = connection.call(call).await;
        pending.end(&answer);
        answer
    }
}

/// Runs this many clients, each on its own connection with this many concurrent requests, which
/// send these calls repeatedly until the time is over, each from another offset. A client whose
/// connection is closed reconnects.
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
        // After a closed connection, the client waits before the next attempt.
        tokio::time::sleep(HUNG_UP_PAUSE).await;
    }
}

/// Sends one request after another, until the time is over or the connection has ended.
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

/// Creates an object of the preparation.
async fn create(connection: &Connection, path: &str, object: &Value) -> Outcome<Answer> {
    let call = Call::post("set up", path, object.to_string());
    let answer = connection.call(&call).await;
    if answer.status == 201 {
        return Ok(answer);
    }
    let (status, text) = (answer.status, String::from_utf8_lossy(&answer.body));
    Err(format!("{path} was answered by {status} {}: {text}", answer.reason).into())
}
