//! What it costs to obey: creates and reads by a service account, with few roles and with many,
//! with a webhook that matches, and with a quota and a policy that match.
//!
//! Each client has objects of its own and waits for an answer before the next request.

use crate::Failure;
use crate::hook::Hook;
use crate::lags::Lags;
use crate::measured::measured;
use crate::server::{NAMESPACE, Server, config_map, config_maps};
use bytes::Bytes;
use clap::Args;
use futures::future::try_join_all;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const GROUP: &str = "rbac.authorization.k8s.io";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
/// The service account that sends the requests.
const ACCOUNT: &str = "worker";
/// How long the server may take until what was written counts, and then to come to rest.
const SETTLE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(30);
/// The cases with a webhook that matches: names, resources of configurations, and paths.
const HOOKS: [(&str, &str, &str); 2] = [
    (
        "create, validating webhook",
        "validatingwebhookconfigurations",
        "/validate",
    ),
    (
        "create, mutating webhook",
        "mutatingwebhookconfigurations",
        "/mutate",
    ),
];
/// Clients that write roles.
const FILLERS: usize = 8;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Duration of each case
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Roles, each with a binding
    #[arg(long, default_value_t = 1_000)]
    roles: usize,
}

/// Who sends the requests of a case, and of what kind.
struct Case<'a> {
    server: &'a Server,
    options: &'a Options,
    name: &'static str,
    verb: &'static str,
    secrets: bool,
}

pub async fn run(admin: &Server, options: &Options) -> Result<(), Failure> {
    admin.make_namespace().await?;
    let worker = &worker(admin).await?;
    let case = |name, verb| Case {
        server: worker,
        options,
        name,
        verb,
        secrets: false,
    };
    let by_admin = |name, verb| Case {
        server: admin,
        ..case(name, verb)
    };
    by_admin("create, administrator", "create")
        .measure()
        .await?;
    by_admin("get, administrator", "get").measure().await?;
    case("create, one role", "create").measure().await?;
    case("get, one role", "get").measure().await?;
    grant_others(admin, options.roles).await?;
    sleep(SETTLE).await;
    case("create, many roles", "create").measure().await?;
    case("get, many roles", "get").measure().await?;
    secrets(case("create, no policy", "create"))
        .measure()
        .await?;
    for (name, resource, path) in HOOKS {
        let hook = Hook::start()?;
        let at = format!("{ADMISSION}/{resource}");
        let configuration = hook.configuration(path);
        admin.send(Method::POST, &at, &configuration).await?;
        sleep(SETTLE).await;
        secrets(case(name, "create")).measure().await?;
        let at = format!("{at}/hook");
        admin.send(Method::DELETE, &at, &json!({})).await?;
        sleep(SETTLE).await;
    }
    limit(admin).await?;
    match_maps(admin).await?;
    sleep(SETTLE).await;
    case("create, quota and policy", "create").measure().await?;
    secrets(case("create, others' policy", "create"))
        .measure()
        .await
}

fn secrets(case: Case<'_>) -> Case<'_> {
    Case {
        secrets: true,
        ..case
    }
}

/// Creates the account with its role, and returns the server as it sees it.
async fn worker(admin: &Server) -> Result<Server, Failure> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    let account = json!({"metadata": {"name": ACCOUNT}});
    admin.send(Method::POST, &path, &account).await?;
    let rules = json!([{"verbs": ["get", "list", "create", "update"], "apiGroups": [""],
        "resources": ["configmaps", "secrets"]}]);
    let subject = json!({"kind": "ServiceAccount", "namespace": NAMESPACE, "name": ACCOUNT});
    grant(admin, NAMESPACE, ACCOUNT, &rules, &subject).await?;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600}});
    let body = Bytes::from(request.to_string());
    let path = format!("{path}/{ACCOUNT}/token");
    let answer = admin.exchange(Method::POST, &path, "application/json", body);
    let answer: Value = serde_json::from_slice(&answer.await?)?;
    let token = answer["status"]["token"].as_str().ok_or("no token")?;
    let worker = admin.with_token(token)?;
    // The role counts some time after it was written.
    let until = Instant::now() + PATIENCE;
    while let Err(error) = worker.read(&config_maps(), "application/json").await {
        if Instant::now() > until {
            return Err(error);
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(worker)
}

async fn grant(
    admin: &Server,
    namespace: &str,
    name: &str,
    rules: &Value,
    subject: &Value,
) -> Result<(), Failure> {
    let at = format!("{RBAC}/namespaces/{namespace}");
    let role = json!({"metadata": {"name": name}, "rules": rules});
    admin
        .send(Method::POST, &format!("{at}/roles"), &role)
        .await?;
    let binding = json!({"metadata": {"name": name}, "subjects": [subject],
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": name}});
    admin
        .send(Method::POST, &format!("{at}/rolebindings"), &binding)
        .await
}

/// Roles of the same namespace that are about other users.
async fn grant_others(admin: &Server, count: usize) -> Result<(), Failure> {
    let rules = json!([{"verbs": ["get", "list", "watch"], "apiGroups": ["", "apps"],
        "resources": ["pods", "services", "deployments"]}]);
    let rules = &rules;
    let fillers = (0..FILLERS).map(|filler| async move {
        for number in (filler..count).step_by(FILLERS) {
            let subject = json!({"kind": "User", "apiGroup": GROUP, "name": format!("u{number}")});
            grant(admin, NAMESPACE, &format!("role-{number}"), rules, &subject).await?;
        }
        Ok::<_, Failure>(())
    });
    try_join_all(fillers).await.map(drop)
}

/// A quota of config maps, counted: there is no controller that would.
async fn limit(admin: &Server) -> Result<(), Failure> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/resourcequotas");
    let hard = json!({"count/configmaps": "10000000"});
    let mut quota = json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "maps"}, "spec": {"hard": hard}});
    admin.send(Method::POST, &path, &quota).await?;
    quota["status"] = json!({"hard": hard, "used": {"count/configmaps": "0"}});
    admin
        .send(Method::PUT, &format!("{path}/maps/status"), &quota)
        .await
}

/// A policy that matches config maps and lets them pass.
async fn match_maps(admin: &Server) -> Result<(), Failure> {
    let policy = json!({"metadata": {"name": "maps"}, "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}]},
        "validations": [{"expression": "object.data.all(key, size(object.data[key]) < 1000)"},
            {"expression": "!has(object.metadata.labels) || !('forbidden' in object.metadata.labels)"}],
    }});
    let path = format!("{ADMISSION}/validatingadmissionpolicies");
    admin.send(Method::POST, &path, &policy).await?;
    let binding = json!({"metadata": {"name": "maps"},
        "spec": {"policyName": "maps", "validationActions": ["Deny"]}});
    let path = format!("{ADMISSION}/validatingadmissionpolicybindings");
    admin.send(Method::POST, &path, &binding).await
}

impl Case<'_> {
    async fn measure(&self) -> Result<(), Failure> {
        let clients = (0..self.options.clients).map(|client| self.requests(client));
        println!("{}", measured(self.server, self.name, clients).await?);
        Ok(())
    }

    /// Sends the requests of one client until the time is over.
    async fn requests(&self, client: usize) -> Result<Lags, Failure> {
        let limit = Duration::from_secs_f64(self.options.seconds);
        let own = format!("{}-{client}", self.name.replace([',', ' ', '\''], "-"));
        if self.verb == "get" {
            self.create(&own).await?;
        }
        let (start, mut lags) = (Instant::now(), Lags::default());
        while start.elapsed() < limit {
            let begun = Instant::now();
            if self.verb == "get" {
                let path = format!("{}/{own}", config_maps());
                self.server.read(&path, "application/json").await?;
            } else {
                self.create(&format!("{own}-{}", lags.len())).await?;
            }
            lags.push(begun.elapsed());
        }
        Ok(lags)
    }

    async fn create(&self, name: &str) -> Result<(), Failure> {
        let (mut object, mut path) = (config_map(name, "created"), config_maps());
        if self.secrets {
            object["kind"] = "Secret".into();
            object["data"] = json!({"note": "Y3JlYXRlZA=="});
            path = format!("/api/v1/namespaces/{NAMESPACE}/secrets");
        }
        self.server.send(Method::POST, &path, &object).await
    }
}
