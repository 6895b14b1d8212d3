//! `Pair`: the two servers; runs a sequence on both.

use crate::accepted::Accepted;
use crate::answer::Raw;
use crate::compare::{Difference, What, compare};
use crate::gate::Gate;
use crate::memory::{Memory, Request};
use crate::normaliser::Normaliser;
use crate::server::{Server, ServerError};
use crate::step::{Sequence, Step, Until};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Documents that list all groups.
const DOCUMENTS_OF_ALL: [&str; 2] = ["/openapi/v3", "/openapi/v2"];
/// Attempts of a step that waits, and the pause between them.
const ROUNDS_MAX: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);
/// How long a kube-apiserver may take to follow what it has stored, of roles and of policies.
const SOON: Duration = Duration::from_millis(400);
const LATER: Duration = Duration::from_millis(1_700);
/// The pause before a read that differs is repeated: a cache may lag for a moment.
const AGAIN: Duration = Duration::from_millis(250);

/// A difference in the answer to a step.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) step: Step,
    pub(crate) difference: Difference,
}

/// One server in one run.
struct Side<'a> {
    server: &'a mut Server,
    memory: Memory,
    normaliser: Normaliser,
    /// Paths of created objects, to be deleted.
    made: Vec<String>,
}

/// The two servers.
pub(crate) struct Pair {
    pub(crate) theirs: Server,
    pub(crate) ours: Server,
    /// Seconds since 1970, to recognise current times.
    pub(crate) now: i64,
    /// Makes the names of each run different.
    pub(crate) runs: usize,
    /// The prefix of the names of this pair's runs.
    pub(crate) run_prefix: String,
    /// Separates concurrent pairs that would affect each other.
    pub(crate) gate: Arc<Gate>,
    /// Known differences, for which reads are not repeated.
    pub(crate) accepted: Arc<Accepted>,
}

impl Pair {
    /// Runs a sequence on both. It ends at the first step whose codes differ: later differences
    /// would only follow from that.
    pub(crate) async fn play(&mut self, sequence: &Sequence) -> Result<Vec<Finding>, ServerError> {
        self.runs += 1;
        let _pass = self.gate.pass(sequence).await;
        let run = format!("{}-{}-{}", self.run_prefix, sequence.seed, self.runs);
        let (mut theirs, mut ours) = (
            Side::new(&mut self.theirs, &run, self.now),
            Side::new(&mut self.ours, &run, self.now),
        );
        theirs.begin().await?;
        ours.begin().await?;
        let mut findings = Vec::new();
        for step in &sequence.steps {
            let found = one(step, &mut theirs, &mut ours, &self.accepted).await;
            let is_end = found
                .iter()
                .any(|it| matches!(it.what, What::Status | What::Failed));
            findings.extend(found.into_iter().map(|difference| Finding {
                step: step.clone(),
                difference,
            }));
            if is_end {
                break;
            }
        }
        theirs.end().await;
        ours.end().await;
        Ok(findings)
    }
}

/// Sends a step to both.
async fn one(
    step: &Step,
    theirs: &mut Side<'_>,
    ours: &mut Side<'_>,
    accepted: &Accepted,
) -> Vec<Difference> {
    // A repeated read must not use what its first attempt recorded.
    let before = (theirs.normaliser.clone(), ours.normaliser.clone());
    let found = round(step, theirs, ours).await;
    if !step.is_read() || found.iter().all(|it| accepted.has(step, it)) {
        return found;
    }
    tokio::time::sleep(AGAIN).await;
    (theirs.normaliser, ours.normaliser) = before;
    round(step, theirs, ours).await
}

async fn round(step: &Step, theirs: &mut Side<'_>, ours: &mut Side<'_>) -> Vec<Difference> {
    let (left, right) = tokio::join!(theirs.answer(step), ours.answer(step));
    let failed = |theirs: String, ours: String| {
        vec![Difference {
            what: What::Failed,
            at: String::new(),
            theirs,
            ours,
        }]
    };
    match (left, right) {
        (Ok((request, left)), Ok((our_request, right))) => {
            let left = left.answer(&request, step.is_watch, &mut theirs.normaliser);
            let right = right.answer(&our_request, step.is_watch, &mut ours.normaliser);
            compare(&left, &right)
        }
        // Neither server accepts it.
        (Err(_), Err(_)) => Vec::new(),
        (Err(error), Ok((_, raw))) => failed(with_causes(&error), raw.status.to_string()),
        (Ok((_, raw)), Err(error)) => failed(raw.status.to_string(), with_causes(&error)),
    }
}

impl<'a> Side<'a> {
    fn new(server: &'a mut Server, run: &str, now: i64) -> Self {
        Self {
            server,
            memory: Memory::new(run),
            normaliser: Normaliser::new(now),
            made: Vec::new(),
        }
    }

    /// Creates the namespace.
    async fn begin(&mut self) -> Result<(), ServerError> {
        let namespace = json!({"metadata": {"name": self.memory.namespace()}});
        let request = request(
            "POST",
            "/api/v1/namespaces".to_owned(),
            namespace.to_string(),
        );
        self.server.send(&request).await?;
        Ok(())
    }

    async fn answer(&mut self, step: &Step) -> Result<(Request, Raw), ServerError> {
        let request = self.memory.request(step);
        if DOCUMENTS_OF_ALL.contains(&request.target.as_str()) {
            let groups: Vec<String> = self.made.iter().filter_map(|it| group_of(it)).collect();
            self.await_documents(&groups, true).await;
        }
        match step.until {
            Some(Until::Soon) => tokio::time::sleep(SOON).await,
            Some(Until::Later) => tokio::time::sleep(LATER).await,
            _ => {}
        }
        let mut raw = self.send(step, &request).await?;
        for _ in 0..ROUNDS_MAX {
            if step.until.is_none_or(|until| is_reached(until, &raw)) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            raw = self.send(step, &request).await?;
        }
        if let Some(answer) = raw.json() {
            if raw.status == 201
                && let Some(name) = answer["metadata"]["name"].as_str()
            {
                let collection = request.target.split('?').next().unwrap_or_default();
                self.made.push(format!("{collection}/{name}"));
            }
            self.memory.keep(step.id, &answer);
        }
        Ok((request, raw))
    }

    async fn send(&mut self, step: &Step, request: &Request) -> Result<Raw, ServerError> {
        if step.is_watch {
            self.server.watch(request).await
        } else {
            self.server.send(request).await
        }
    }

    /// Deletes the created objects, as far as possible; what remains affects no other run.
    async fn end(&mut self) {
        let mut made = std::mem::take(&mut self.made);
        made.reverse();
        let groups: Vec<String> = made.iter().filter_map(|path| group_of(path)).collect();
        let namespace = self.memory.namespace().to_owned();
        made.push(format!("/api/v1/namespaces/{namespace}"));
        for path in made {
            let now = format!("{path}?gracePeriodSeconds=0");
            let gone = self
                .server
                .send(&request("DELETE", now, String::new()))
                .await;
            let is_kept = gone
                .ok()
                .and_then(|raw| raw.json())
                .is_some_and(|answer| !answer["metadata"]["deletionTimestamp"].is_null());
            if is_kept {
                self.release(&path).await;
            }
        }
        // Later readers of the documents would find them.
        self.await_documents(&groups, false).await;
    }

    /// Waits until the documents list all of these groups, or none: they are published some time
    /// after the definitions. Groups of definitions that are not served are never listed.
    async fn await_documents(&mut self, groups: &[String], named: bool) {
        if groups.is_empty() {
            return;
        }
        for path in DOCUMENTS_OF_ALL {
            for _ in 0..ROUNDS_MAX {
                let asked = request("GET", path.to_owned(), String::new());
                let body = self.server.send(&asked).await.map(|raw| raw.body);
                let body = body.unwrap_or_default();
                let text = String::from_utf8_lossy(&body);
                if groups.iter().all(|it| text.contains(it.as_str()) == named) {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Removes the finalizers of an object that is being deleted.
    async fn release(&mut self, path: &str) {
        let patch = json!({"metadata": {"finalizers": null}});
        let mut request_of = request("PATCH", path.to_owned(), patch.to_string());
        request_of.headers = vec![("content-type", "application/merge-patch+json".to_owned())];
        self.server.send(&request_of).await.ok();
        let name = path
            .strip_prefix("/api/v1/namespaces/")
            .filter(|name| !name.contains('/'));
        if let Some(name) = name {
            let object = json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name}, "spec": {"finalizers": []}});
            let finalize = request("PUT", format!("{path}/finalize"), object.to_string());
            self.server.send(&finalize).await.ok();
        }
    }
}

/// Returns the group of a definition at this path.
fn group_of(path: &str) -> Option<String> {
    let (_, name) = path.split_once("/customresourcedefinitions/")?;
    let (_, group) = name.split_once('.')?;
    Some(group.to_owned())
}

fn request(method: &'static str, target: String, body: String) -> Request {
    Request {
        method,
        target,
        headers: vec![("content-type", "application/json".to_owned())],
        body,
    }
}

fn is_reached(until: Until, raw: &Raw) -> bool {
    match until {
        Until::Soon | Until::Later => true,
        Until::Found => raw.status != 404 && raw.status != 503,
        // A definition that was not created is never established.
        Until::Established if raw.status != 200 => true,
        Until::Established => {
            let answer = raw.json().unwrap_or_default();
            let conditions = answer["status"]["conditions"].as_array();
            conditions.is_some_and(|conditions| {
                let is_it =
                    |it: &serde_json::Value| it["type"] == "Established" && it["status"] == "True";
                conditions.iter().any(is_it)
            })
        }
    }
}

/// The error with its causes: what broke a connection is in the last of them.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(status: u16, condition: &str) -> Raw {
        let body =
            json!({"status": {"conditions": [{"type": "Established", "status": condition}]}});
        Raw {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        }
    }

    #[test]
    fn a_group_is_known_by_the_path_of_its_definition() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.a.example.com";
        assert_eq!(group_of(path).as_deref(), Some("a.example.com"));
        assert_eq!(group_of("/api/v1/namespaces/a.b"), None);
    }

    #[test]
    fn a_step_that_waits_knows_when_its_answer_has_come() {
        assert!(is_reached(Until::Established, &raw(200, "True")));
        assert!(!is_reached(Until::Established, &raw(200, "False")));
        assert!(is_reached(Until::Established, &raw(404, "False")));
        assert!(is_reached(Until::Found, &raw(200, "True")));
        assert!(!is_reached(Until::Found, &raw(404, "True")));
    }
}
