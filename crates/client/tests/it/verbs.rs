//! Each verb: method, path, query, headers and body of its request, and the result.

use crate::server::{Asked, Reply, Server};
use http::HeaderMap;
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::{Namespace, Pod};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{
    DeleteOptions, FieldValidation, ListOptions, PatchOptions, PostOptions, PropagationPolicy,
    Resource, ResourceVersion, Status, Time,
};
use kubist_client::{Api, DeleteAnswer, Patch, RequestError};
use kubist_codec::envelope::Envelope;
use serde_json::json;

const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";

fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "shop".into();
    pod.metadata.resource_version = "7".into();
    pod
}

fn setup(reply: Reply) -> (Server, Api<Pod>) {
    let server = Server::new([reply]);
    let pods = Api::namespaced(server.client(), "shop");
    (server, pods)
}

fn only(server: &Server) -> Asked {
    let mut asked = server.asked();
    assert_eq!(asked.len(), 1);
    asked.remove(0)
}

/// The object in a protobuf body, whose envelope must be that of its kind.
fn protobuf_body<K: Wire + Resource>(asked: &Asked) -> K {
    assert_eq!(
        asked.header("content-type"),
        "application/vnd.kubernetes.protobuf"
    );
    let envelope = Envelope::open(&asked.body).unwrap();
    assert_eq!(
        (envelope.api_version, envelope.kind),
        (K::API_VERSION, K::KIND)
    );
    K::from_protobuf(envelope.raw, &mut DecodeContext::new()).unwrap()
}

#[tokio::test]
async fn create_posts_to_the_collection() {
    let (server, pods) = setup(Reply::object(&pod("stored")).code(201));
    let options = PostOptions {
        dry_run: true,
        field_manager: "me & you".into(),
        field_validation: Some(FieldValidation::Strict),
    };
    let stored = pods.create_with(&pod("web"), &options).await.unwrap();
    assert_eq!(stored, pod("stored"));
    let asked = only(&server);
    assert_eq!(
        asked.line,
        "POST /api/v1/namespaces/shop/pods?dryRun=All&fieldManager=me%20%26%20you\
         &fieldValidation=Strict"
    );
    assert_eq!(asked.header("accept"), BOTH);
    assert!(asked.header("user-agent").starts_with("kubist/"));
    assert_eq!(protobuf_body::<Pod>(&asked), pod("web"));
}

#[tokio::test]
async fn get_asks_for_one_object() {
    let (server, pods) = setup(Reply::object(&pod("web")));
    let found = pods.get_at("web", &ResourceVersion::any()).await.unwrap();
    assert_eq!(found, pod("web"));
    let asked = only(&server);
    assert_eq!(
        asked.line,
        "GET /api/v1/namespaces/shop/pods/web?resourceVersion=0"
    );
    assert_eq!(
        (asked.header("accept"), asked.header("content-type")),
        (BOTH, "")
    );
    assert!(asked.body.is_empty());
}

#[tokio::test]
async fn get_opt_makes_nothing_of_not_found() {
    let status = Status::not_found(&kubist_apimachinery::GroupResource::new("", "pods"), "web");
    let server = Server::new([Reply::status(&status), Reply::json(pod("web").to_json())]);
    let pods: Api<Pod> = Api::default_namespaced(server.client());
    assert_eq!(pods.get_opt("web").await.unwrap(), None);
    assert_eq!(pods.get_opt("web").await.unwrap(), Some(pod("web")));
    assert_eq!(
        server.lines(),
        ["GET /api/v1/namespaces/default/pods/web"; 2]
    );
}

#[tokio::test]
async fn replace_puts_to_the_object() {
    let (server, pods) = setup(Reply::object(&pod("web")));
    pods.replace(&pod("web")).await.unwrap();
    let asked = only(&server);
    assert_eq!(asked.line, "PUT /api/v1/namespaces/shop/pods/web");
    assert_eq!(protobuf_body::<Pod>(&asked), pod("web"));
}

#[tokio::test]
async fn status_is_read_replaced_and_patched_by_its_own_path() {
    let server = Server::new([(); 3].map(|()| Reply::object(&pod("web"))));
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    pods.get_status("web").await.unwrap();
    pods.replace_status(&pod("web")).await.unwrap();
    let running = Patch::Strategic(json!({"status": {"phase": "Running"}}));
    pods.patch_status("web", &running).await.unwrap();
    let url = "/api/v1/namespaces/shop/pods/web/status";
    assert_eq!(
        server.lines(),
        ["GET", "PUT", "PATCH"].map(|method| format!("{method} {url}"))
    );
    assert_eq!(protobuf_body::<Pod>(&server.asked()[1]), pod("web"));
    assert_eq!(server.asked()[2].body, r#"{"status":{"phase":"Running"}}"#);
}

#[tokio::test]
async fn each_patch_has_its_media_type() {
    let change = json!({"metadata": {"labels": {"a": null}}});
    let cases = [
        (
            Patch::Json(json!([{"op": "remove", "path": "/a"}])),
            "application/json-patch+json",
        ),
        (Patch::Merge(change.clone()), "application/merge-patch+json"),
        (
            Patch::Strategic(change.clone()),
            "application/strategic-merge-patch+json",
        ),
        (Patch::Apply(change), "application/apply-patch+yaml"),
    ];
    for (patch, media_type) in cases {
        let (server, pods) = setup(Reply::object(&pod("web")));
        let options = PatchOptions {
            post: PostOptions {
                field_manager: "me".into(),
                ..Default::default()
            },
            force: Some(true),
        };
        assert_eq!(
            pods.patch_with("web", &patch, &options).await.unwrap(),
            pod("web")
        );
        let asked = only(&server);
        assert_eq!(
            asked.line,
            "PATCH /api/v1/namespaces/shop/pods/web?fieldManager=me&force=true"
        );
        assert_eq!(asked.header("content-type"), media_type);
        assert_eq!(asked.header("accept"), BOTH);
        assert_eq!(
            &serde_json::from_slice::<serde_json::Value>(&asked.body).unwrap(),
            patch.value()
        );
    }
}

#[tokio::test]
async fn apply_sends_only_the_fields_that_are_set() {
    let (server, pods) = setup(Reply::object(&pod("web")));
    pods.apply(&pod("web"), &PatchOptions::managed_by("test"))
        .await
        .unwrap();
    let asked = only(&server);
    assert_eq!(asked.header("content-type"), "application/apply-patch+yaml");
    let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(body["metadata"]["name"], "web");
}

#[tokio::test]
async fn apply_omits_empty_fields_and_fields_of_the_server() {
    let (server, _) = setup(Reply::object(&Deployment::default()));
    let api: Api<Deployment> = Api::namespaced(server.client(), "shop");
    let mut web = Deployment::default();
    web.metadata.name = "web".into();
    web.spec.replicas = Some(0);
    web.status.replicas = 3;
    // As it was read from a server.
    web.metadata.uid = "u-1".into();
    web.metadata.resource_version = "7".into();
    web.metadata.generation = 2;
    web.metadata.self_link = "/apis/apps/v1".into();
    web.metadata.creation_timestamp = Some(Time::from_unix(1));
    web.metadata.deletion_timestamp = Some(Time::from_unix(1));
    web.metadata.deletion_grace_period_seconds = Some(30);
    let volumes = &mut web.spec.template.spec.volumes;
    volumes.push(kubist_api::core::v1::Volume {
        name: "scratch".into(),
        empty_dir: Some(Box::default()),
        ..Default::default()
    });
    let options = PatchOptions::managed_by("me");
    api.apply(&web, &options).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&only(&server).body).unwrap();
    let expected = serde_json::json!({
        "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"},
        "spec": {"replicas": 0, "template": {"spec": {
            "volumes": [{"name": "scratch", "emptyDir": {}}]}}},
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn delete_answers_with_the_object_or_a_status() {
    let (server, pods) = setup(Reply::object(&pod("web")));
    let options = DeleteOptions::now().with_propagation(PropagationPolicy::Foreground);
    let answer = pods.delete_with("web", &options).await.unwrap();
    assert_eq!(answer, DeleteAnswer::Object(Box::new(pod("web"))));
    let asked = only(&server);
    assert_eq!(asked.line, "DELETE /api/v1/namespaces/shop/pods/web");
    assert_eq!(asked.header("content-type"), "application/json");
    let sent = DeleteOptions::from_json(&asked.body, &mut DecodeContext::new()).unwrap();
    assert_eq!(sent, options);

    for reply in [
        Reply::json(Status::success().to_json()),
        Reply::protobuf(kubist_codec::envelope::encode(&Status::success())),
    ] {
        let (server, pods) = setup(reply);
        let answer = pods.delete("web").await.unwrap();
        assert_eq!(answer, DeleteAnswer::Status(Box::new(Status::success())));
        assert!(only(&server).body.is_empty());
    }
}

#[tokio::test]
async fn delete_collection_has_selectors_and_options() {
    let (server, pods) = setup(Reply::json(
        r#"{"kind":"PodList","apiVersion":"v1","items":[]}"#,
    ));
    let selected = ListOptions {
        label_selector: "app=web".parse().unwrap(),
        ..ListOptions::default()
    };
    pods.delete_collection(&selected, &DeleteOptions::now())
        .await
        .unwrap();
    let asked = only(&server);
    assert_eq!(
        asked.line,
        "DELETE /api/v1/namespaces/shop/pods?labelSelector=app%3Dweb"
    );
    assert!(asked.body.starts_with(br#"{"kind":"DeleteOptions""#));
}

#[tokio::test]
async fn all_namespaces_take_the_namespace_from_the_object() {
    let server = Server::new([(); 2].map(|()| Reply::object(&pod("web"))));
    let pods: Api<Pod> = Api::all(server.client());
    pods.create(&pod("web")).await.unwrap();
    pods.in_namespace("other").get("web").await.unwrap();
    let error = pods.get("web").await.unwrap_err();
    assert!(matches!(
        error,
        kubist_client::ApiError::Request(RequestError::NoNamespace { .. })
    ));
    let error = pods.create(&Pod::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "no namespace for the Pod");
    assert_eq!(
        server.lines(),
        [
            "POST /api/v1/namespaces/shop/pods",
            "GET /api/v1/namespaces/other/pods/web"
        ]
    );
}

#[tokio::test]
async fn kinds_of_the_cluster_have_no_namespace_in_their_path() {
    let server = Server::new([Reply::object(&Namespace::default())]);
    let namespaces: Api<Namespace> = Api::all(server.client());
    namespaces.get("shop").await.unwrap();
    assert_eq!(server.lines(), ["GET /api/v1/namespaces/shop"]);
}

#[tokio::test]
async fn a_server_that_reads_no_protobuf_gets_json_from_then_on() {
    let refused = Status::failure(
        415,
        kubist_apimachinery::StatusReason::UnsupportedMediaType,
        "the body of the request was in an unknown format",
    );
    let stored = Reply::json(pod("web").to_json());
    let server = Server::new([Reply::status(&refused), stored.clone(), stored]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    pods.create(&pod("web")).await.unwrap();
    pods.replace(&pod("web")).await.unwrap();
    let types: Vec<_> = server
        .asked()
        .iter()
        .map(|it| it.header("content-type").to_owned())
        .collect();
    let json = "application/json";
    assert_eq!(types, ["application/vnd.kubernetes.protobuf", json, json]);
    assert_eq!(server.asked()[2].body, pod("web").to_json());
}

#[tokio::test]
async fn json_is_a_choice() {
    let server = Server::new([Reply::json(pod("web").to_json())]);
    let config = kubist_client::Config {
        encoding: kubist_apimachinery::wire::Encoding::Json,
        ..Default::default()
    };
    let pods: Api<Pod> = Api::namespaced(server.client_with(config), "shop");
    pods.create(&pod("web")).await.unwrap();
    let asked = only(&server);
    assert_eq!(asked.header("accept"), "application/json");
    assert_eq!(asked.header("content-type"), "application/json");
}

#[tokio::test]
async fn any_request_can_be_sent() {
    let server = Server::new([
        Reply::json("ok"),
        Reply::json(r#"{"major":"1","minor":"36","gitVersion":"v1.36.0","platform":"x"}"#),
    ]);
    let client = server.client();
    let request = http::Request::get("/healthz?verbose").body(kubist_transport::Body::empty());
    let response = client.send(request.unwrap()).await.unwrap();
    assert_eq!(response.into_body().bytes(100).await.unwrap(), "ok");
    assert_eq!(
        client.server_version().await.unwrap().git_version,
        "v1.36.0"
    );
    assert_eq!(server.lines(), ["GET /healthz?verbose", "GET /version"]);
    assert_ne!(server.asked()[0].headers, HeaderMap::new());
}

#[tokio::test]
async fn other_subresources_have_kinds_of_their_own() {
    let answer = br#"{"kind":"Status","apiVersion":"v1","status":"Success","code":201}"#;
    let server = Server::new([Reply::json(&answer[..]).code(201)]);
    let pods: Api<Pod> = Api::namespaced(server.client(), "shop");
    let mut binding = kubist_api::core::v1::Binding::default();
    binding.target.name = "node-7".into();
    let bindings = pods.subresource::<kubist_api::core::v1::Binding>("binding");
    bindings.submit("web", &binding).await.unwrap();
    let asked = only(&server);
    assert_eq!(asked.line, "POST /api/v1/namespaces/shop/pods/web/binding");
    assert_eq!(
        protobuf_body::<kubist_api::core::v1::Binding>(&asked),
        binding
    );
}

#[cfg(feature = "autoscaling-v1")]
#[tokio::test]
async fn scale_is_an_object_below_another() {
    use kubist_api::autoscaling::v1::Scale;
    let mut scale = Scale::default();
    scale.metadata.name = "web".into();
    scale.spec.replicas = 3;
    let server = Server::new([(); 2].map(|()| Reply::object(&scale)));
    let deployments: Api<Deployment> = Api::namespaced(server.client(), "shop");
    let found = deployments.scale().get("web").await.unwrap();
    assert_eq!(found.spec.replicas, 3);
    deployments.scale().replace("web", &found).await.unwrap();
    let path = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
    assert_eq!(
        server.lines(),
        [format!("GET {path}"), format!("PUT {path}")]
    );
    assert_eq!(protobuf_body::<Scale>(&server.asked()[1]), scale);
}

#[cfg(feature = "policy-v1")]
#[tokio::test]
async fn eviction_is_posted_below_the_pod() {
    let success = Reply::json(Status::success().to_json()).code(201);
    let (server, pods) = setup(success);
    pods.evict("web", &DeleteOptions::now()).await.unwrap();
    let asked = only(&server);
    assert_eq!(asked.line, "POST /api/v1/namespaces/shop/pods/web/eviction");
    let sent: kubist_api::policy::v1::Eviction = protobuf_body(&asked);
    assert_eq!(
        (&*sent.metadata.name, &*sent.metadata.namespace),
        ("web", "shop")
    );
    assert_eq!(sent.delete_options.unwrap().grace_period_seconds, Some(0));
}

#[tokio::test]
async fn the_writes_of_a_dry_client_change_nothing() {
    let (server, pods) = setup(Reply::object(&pod("web")));
    let dry: Api<Pod> = Api::namespaced(pods.client().dry_run(), "shop");
    assert!(dry.client().is_dry_run() && !pods.client().is_dry_run());
    let log = kubist_cache::WriteLog::<Pod>::new();
    let dry = dry.with_write_log(&log);
    dry.patch("web", &Patch::Merge(json!({"a": 1})))
        .await
        .unwrap();
    assert!(only(&server).line.ends_with("/pods/web?dryRun=All"));

    let (server, pods) = setup(Reply::object(&pod("web")));
    let dry: Api<Pod> = Api::namespaced(pods.client().dry_run(), "shop");
    dry.create(&pod("web")).await.unwrap();
    let asked = only(&server);
    assert!(asked.line.ends_with("/pods?dryRun=All"), "{}", asked.line);
    assert_eq!(asked.header("content-type"), "application/json");

    for options in [
        DeleteOptions::default(),
        DeleteOptions {
            grace_period_seconds: Some(3),
            ..DeleteOptions::default()
        },
    ] {
        let (server, pods) = setup(Reply::object(&pod("web")));
        let dry: Api<Pod> = Api::namespaced(pods.client().dry_run(), "shop");
        dry.delete_with("web", &options).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&only(&server).body).unwrap();
        assert_eq!(
            body["dryRun"],
            json!(["All"]),
            "a server reads only the body"
        );
    }

    let (server, pods) = setup(Reply::object(&pod("web")));
    let dry: Api<Pod> = Api::namespaced(pods.client().dry_run(), "shop");
    dry.get("web").await.unwrap();
    assert!(
        only(&server).line.ends_with("/pods/web"),
        "a read is a read"
    );
}
