//! An admission webhook on kube's types, obeyed by Kubist's server, as kube's own client sees it.

use crate::webhook::{ADDED, FORBIDDEN, ILLEGAL, KEPT, Question, Webhook};
use crate::{Both, Failure, expect};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::admission::Operation;
use kube::{Api, Client, Config, ResourceExt as _};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The names of the webhooks and of their configurations.
const MUTATES: &str = "labels.kube.example.com";
const VALIDATES: &str = "names.kube.example.com";
/// The time between two looks whether the webhooks are obeyed.
const PAUSE: Duration = Duration::from_millis(5);

/// Installs the webhooks, and checks every operation.
pub async fn obeyed(both: &Both, kubeconfig: &Path) -> Result<(), Failure> {
    // kube's client, over its own TLS.
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let webhook = Webhook::start().await?;
    let maps = Api::namespaced(client.clone(), &both.namespace);
    let world = World {
        client: client.clone(),
        namespace: both.namespace.clone(),
        maps,
        webhook,
    };
    world.install().await?;
    world.creates().await?;
    world.refuses().await?;
    world.runs_dry().await?;
    world.updates().await?;
    world.deletes().await?;
    // The other checks use the same server.
    let gone = DeleteParams::default();
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
    mutating.delete(MUTATES, &gone).await?;
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(client);
    validating.delete(VALIDATES, &gone).await?;
    Ok(())
}

struct World {
    client: Client,
    namespace: String,
    maps: Api<ConfigMap>,
    webhook: Webhook,
}

fn map(name: &str, labels: Value) -> Result<ConfigMap, Failure> {
    let map = json!({"metadata": {"name": name, "labels": labels}, "data": {"a": "1"}});
    Ok(serde_json::from_value(map)?)
}

fn added(map: &ConfigMap) -> Option<&str> {
    map.labels().get(ADDED.0).map(String::as_str)
}

/// Expects that a webhook denied a request in these words.
fn denied<T: std::fmt::Debug>(
    outcome: Result<T, kube::Error>,
    by: &str,
    why: &str,
) -> Result<(), Failure> {
    match outcome {
        Err(kube::Error::Api(status)) => {
            let words = format!("admission webhook {by:?} denied the request: {why}");
            expect("the refusal", (status.code, &status.message), (400, &words))
        }
        other => Err(format!("expected a refusal by {by}, found {other:?}").into()),
    }
}

impl World {
    /// Stores both configurations, and waits until they count.
    async fn install(&self) -> Result<(), Failure> {
        let hook = |name: &str, path: &str, operations: &[&str]| {
            json!({
                "metadata": {"name": name},
                "webhooks": [{
                    "name": name,
                    "clientConfig": {
                        "url": self.webhook.url(path),
                        "caBundle": BASE64_STANDARD.encode(&self.webhook.authority),
                    },
                    "rules": [{
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": operations,
                        "resources": ["configmaps"],
                    }],
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": self.namespace},
                    },
                    "admissionReviewVersions": ["v1", "v1beta1"],
                    "sideEffects": "None",
                    "failurePolicy": "Fail",
                }],
            })
        };
        let usual = PostParams::default();
        let mutating: Api<MutatingWebhookConfiguration> = Api::all(self.client.clone());
        let made = hook(MUTATES, "mutate", &["CREATE", "UPDATE"]);
        mutating
            .create(&usual, &serde_json::from_value(made)?)
            .await?;
        let validating: Api<ValidatingWebhookConfiguration> = Api::all(self.client.clone());
        let made = hook(VALIDATES, "validate", &["CREATE", "UPDATE", "DELETE"]);
        validating
            .create(&usual, &serde_json::from_value(made)?)
            .await?;
        loop {
            let probe = map("probe", Value::Null)?;
            self.maps.create(&dry(), &probe).await?;
            let asked = self.webhook.asked();
            if asked.iter().any(|it| it.path == "validate") {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Expects that both webhooks were asked, the mutating one first, and returns the questions.
    fn both_asked(&self, operation: &Operation) -> Result<[Question; 2], Failure> {
        let asked = self.webhook.asked();
        let paths: Vec<_> = asked.iter().map(|it| it.path).collect();
        expect("asked", paths, vec!["mutate", "validate"])?;
        for question in &asked {
            expect("operation", &question.request.operation, operation)?;
        }
        <[Question; 2]>::try_from(asked).map_err(|_| "two questions".into())
    }

    async fn creates(&self) -> Result<(), Failure> {
        let usual = PostParams::default();
        let bare = self.maps.create(&usual, &map("bare", Value::Null)?).await?;
        expect(
            "the label of a map without labels",
            added(&bare),
            Some(ADDED.1),
        )?;
        let [first, second] = self.both_asked(&Operation::Create)?;
        let seen = second.request.object.ok_or("an object")?;
        let label = seen.labels().get(ADDED.0).map(String::as_str);
        expect("the label for the second", label, Some(ADDED.1))?;
        let request = first.request;
        expect("kind", request.kind.kind.as_str(), "ConfigMap")?;
        expect("resource", request.resource.resource.as_str(), "configmaps")?;
        expect(
            "namespace",
            request.namespace.as_ref(),
            Some(&self.namespace),
        )?;
        expect("old object", request.old_object.is_none(), true)?;
        expect("dry run", request.dry_run, false)?;
        let options = request.options.ok_or("options")?.0;
        expect("options", &options["kind"], &json!("CreateOptions"))?;
        let user = request.user_info.username.unwrap_or_default();
        expect("a user", user.is_empty(), false)?;

        let labels = json!({"app": "a"});
        let other = self.maps.create(&usual, &map("other", labels)?).await?;
        expect("labels", other.labels().len(), 2)?;
        let labels = json!({"admission": "by-hand"});
        let own = self.maps.create(&usual, &map("own", labels)?).await?;
        expect("its own label", added(&own), Some("by-hand"))?;

        // The server has not made a name when it asks.
        self.webhook.asked();
        let mut unnamed = map("", Value::Null)?;
        unnamed.metadata.generate_name = Some("made-".to_owned());
        let made = self.maps.create(&usual, &unnamed).await?;
        expect("a name", made.name_any().starts_with("made-"), true)?;
        let [first, _] = self.both_asked(&Operation::Create)?;
        expect("name", first.request.name.as_str(), "")?;
        self.warns().await
    }

    /// Sees the warning of a webhook in the response.
    async fn warns(&self) -> Result<(), Failure> {
        let body = serde_json::to_vec(&map("warned", Value::Null)?)?;
        let path = format!("/api/v1/namespaces/{}/configmaps", self.namespace);
        let request = axum::http::Request::post(path)
            .header("content-type", "application/json")
            .body(Body::from(body))?;
        let response = self.client.send(request).await?;
        expect("status", response.status().as_u16(), 201)?;
        let warning = response.headers().get("warning");
        let warning = warning.ok_or("no warning")?.to_str()?;
        let expected = r#"299 - "warned has no label \"admission\"""#;
        expect("warning", warning, expected)?;
        self.webhook.asked();
        Ok(())
    }

    async fn refuses(&self) -> Result<(), Failure> {
        let usual = PostParams::default();
        let illegal = map("illegal", json!({ILLEGAL: "yes"}))?;
        let words = format!("the label {ILLEGAL:?} is illegal");
        denied(self.maps.create(&usual, &illegal).await, MUTATES, &words)?;
        let name = format!("{FORBIDDEN}map");
        let forbidden = map(&name, Value::Null)?;
        let words = format!("the name {name:?} is forbidden");
        denied(
            self.maps.create(&usual, &forbidden).await,
            VALIDATES,
            &words,
        )?;
        let stored = self.maps.list(&ListParams::default()).await?;
        let names: Vec<_> = stored.iter().map(kube::ResourceExt::name_any).collect();
        let refused = |it: &String| *it == "illegal" || *it == name;
        expect("stored", names.iter().any(refused), false)?;
        self.webhook.asked();
        Ok(())
    }

    async fn runs_dry(&self) -> Result<(), Failure> {
        let shown = self.maps.create(&dry(), &map("dry", Value::Null)?).await?;
        expect("the label in a dry run", added(&shown), Some(ADDED.1))?;
        for question in self.both_asked(&Operation::Create)? {
            expect("dry run", question.request.dry_run, true)?;
        }
        expect("stored", self.maps.get_opt("dry").await?.is_none(), true)
    }

    async fn updates(&self) -> Result<(), Failure> {
        let without = Patch::Merge(json!({"metadata": {"labels": null}, "data": {"a": "2"}}));
        let usual = PatchParams::default();
        let patched = self.maps.patch("bare", &usual, &without).await?;
        expect("the label after a patch", added(&patched), Some(ADDED.1))?;
        let [first, _] = self.both_asked(&Operation::Update)?;
        let of = |it: Option<_>| it.ok_or("an object").map(data_of);
        expect("old data", of(first.request.old_object)?, json!("1"))?;
        expect("new data", of(first.request.object)?, json!("2"))?;

        let mut replaced = self.maps.get("bare").await?;
        replaced.metadata.labels = Some([(ILLEGAL.to_owned(), String::new())].into());
        let usual = PostParams::default();
        let outcome = self.maps.replace("bare", &usual, &replaced).await;
        let words = format!("the label {ILLEGAL:?} is illegal");
        denied(outcome, MUTATES, &words)?;

        self.webhook.asked();
        let applied = Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"},
        }));
        let params = PatchParams::apply("kube");
        let applied = self.maps.patch("applied", &params, &applied).await?;
        expect("the label after an apply", added(&applied), Some(ADDED.1))?;
        let [first, _] = self.both_asked(&Operation::Create)?;
        let options = first.request.options.ok_or("options")?.0;
        expect("manager", &options["fieldManager"], &json!("kube"))
    }

    async fn deletes(&self) -> Result<(), Failure> {
        let usual = PostParams::default();
        self.maps
            .create(&usual, &map("kept", json!({KEPT: ""}))?)
            .await?;
        self.webhook.asked();
        let params = DeleteParams::default();
        let outcome = self.maps.delete("kept", &params).await;
        denied(outcome, VALIDATES, "kept is kept")?;
        let all = ListParams::default();
        let outcome = self.maps.delete_collection(&params, &all).await;
        denied(outcome, VALIDATES, "kept is kept")?;
        self.webhook.asked();

        let other = self.maps.create(&usual, &map("gone", Value::Null)?).await?;
        self.webhook.asked();
        self.maps.delete("gone", &params.dry_run()).await?;
        self.maps.delete("gone", &DeleteParams::default()).await?;
        let asked = self.webhook.asked();
        let runs: Vec<_> = asked.iter().map(|it| it.request.dry_run).collect();
        expect("dry runs", runs, vec![true, false])?;
        for Question { request, .. } in asked {
            expect("operation", &request.operation, &Operation::Delete)?;
            expect("object", request.object.is_none(), true)?;
            let old = request.old_object.ok_or("an old object")?;
            expect("uid", &old.metadata.uid, &other.metadata.uid)?;
        }
        Ok(())
    }
}

fn dry() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}

fn data_of(object: kube::core::DynamicObject) -> Value {
    object.data["data"]["a"].clone()
}
