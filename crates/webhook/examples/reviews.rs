//! Measures reviews of a typical Pod by a mutating handler: answered in this process, and over
//! HTTPS by a client that shares the machine.
//!
//! `cargo run --release -p kubist-webhook --example reviews`
#![expect(clippy::print_stdout, reason = "it reports its figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, and its tasks end with it"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures for people"
)]

use bytes::Bytes;
use http::Request;
use kubist_api::core::v1::{Container, EnvVar, Pod};
use kubist_apimachinery::wire::Wire as _;
use kubist_transport::{Body, Config, Pem, TlsConfig, Transport, Verify};
use kubist_webhook::{
    AdmissionRequest, Mutated, ServerConfig, ServingCertificate, WebhookServer, Webhooks,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const TIME: Duration = Duration::from_secs(3);
/// The reviews in flight.
const CLIENTS: usize = 16;

fn review() -> Bytes {
    let mut pod = Pod::default();
    pod.metadata.name = "web-0".into();
    pod.metadata.namespace = "shop".into();
    for number in 0..3 {
        let variables = (0..8).map(|it| EnvVar {
            name: format!("VARIABLE_{it}").into(),
            value: format!("the value of {it}").into(),
            ..EnvVar::default()
        });
        pod.spec.containers.push(Container {
            name: format!("container-{number}").into(),
            image: "registry.example.com/team/application:1.2.3".into(),
            env: variables.collect(),
            ..Container::default()
        });
    }
    let object: Value = serde_json::from_slice(&pod.to_json()).expect("JSON");
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": "CREATE",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "shop", "name": "web-0", "object": object,
            "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
        },
    });
    review.to_string().into()
}

fn webhooks() -> Webhooks {
    Webhooks::new().mutate("/m", |request: AdmissionRequest<Pod>| async move {
        let mut pod = request.into_object()?;
        pod.metadata.labels.insert("seen".into(), "true".into());
        Ok(Mutated::new(pod))
    })
}

fn report(what: &str, mut times: Vec<Duration>, took: Duration) {
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    let a_second = times.len() as f64 / took.as_secs_f64();
    println!(
        "{what}: {a_second:.0} reviews/s, p50 {:?}, p99 {:?}",
        at(0.5),
        at(0.99)
    );
}

/// Runs the clients for a while.
async fn measure<F, A>(what: &str, ask: F)
where
    F: Fn() -> A + Clone + Send + 'static,
    A: Future<Output = ()> + Send,
{
    let begun = Instant::now();
    let clients = (0..CLIENTS).map(|_| {
        let ask = ask.clone();
        tokio::spawn(async move {
            let mut times = Vec::new();
            while begun.elapsed() < TIME {
                let start = Instant::now();
                ask().await;
                times.push(start.elapsed());
            }
            times
        })
    });
    let mut all = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        all.extend(client.await.expect("no panic"));
    }
    report(what, all, begun.elapsed());
}

#[tokio::main]
async fn main() {
    let body = review();
    println!("{} bytes", body.len());
    let (hooks, sent) = (webhooks(), body.clone());
    measure("in process", move || {
        let (hooks, body) = (hooks.clone(), sent.clone());
        async move {
            let request = Request::post("/m").header("content-type", "application/json");
            let response = hooks.handle(request.body(body).expect("a request")).await;
            assert_eq!(response.status(), 200);
        }
    })
    .await;

    let certificate = ServingCertificate::self_signed(&["127.0.0.1"]).expect("it is made");
    let config = ServerConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ..ServerConfig::default()
    };
    let server = WebhookServer::bind(webhooks(), certificate.clone(), config).await;
    let server = server.expect("a port");
    let url = format!("https://{}", server.address());
    tokio::spawn(server.serve(CancellationToken::new()));
    let mut config = Config::new(url.parse().expect("a URI"));
    config.tls = TlsConfig {
        verify: Verify::Authorities(Pem::Data(certificate.pem().as_str().into())),
        ..TlsConfig::default()
    };
    let client = Transport::new(config).expect("it is valid");
    measure("HTTPS, with the client", move || {
        let (client, body) = (client.clone(), body.clone());
        async move {
            let request = Request::post("/m").header("content-type", "application/json");
            let request = request.body(Body::from(body)).expect("a request");
            let response = client.send(request).await.expect("an answer");
            assert_eq!(response.status(), 200);
            response
                .into_body()
                .bytes(1 << 20)
                .await
                .expect("an answer");
        }
    })
    .await;
}
