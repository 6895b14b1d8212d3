//! OpenTelemetry: a reconcile and its requests are one trace, which the server learns of.

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ObjectName;
use kubist::client::{Api, Client};
use kubist::controller::{Action, Controller, Error, Manager};
use kubist::informers::SharedInformerFactory;
use kubist::transport::{Body, Config, ResponseBody, Transport};
use kubist::{Server, ServerConfig};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt as _;

/// Sends requests on, and keeps the trace of each that patches.
#[derive(Clone)]
struct Watched {
    transport: Transport,
    traces: Arc<Mutex<Vec<String>>>,
}

impl tower::Service<http::Request<Body>> for Watched {
    type Response = http::Response<ResponseBody>;
    type Error = kubist::transport::TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if request.method() == http::Method::PATCH {
            let trace = request.headers().get("traceparent").cloned();
            let trace = trace.and_then(|it| it.to_str().map(str::to_owned).ok());
            self.traces.lock().extend(trace);
        }
        let transport = self.transport.clone();
        Box::pin(async move { transport.send(request).await })
    }
}

#[tokio::test]
async fn a_reconcile_and_its_requests_are_one_trace_that_the_server_learns_of() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let subscriber = tracing_subscriber::registry().with(layer);
    let _here = tracing::subscriber::set_default(subscriber);

    let traces = Arc::new(Mutex::new(Vec::new()));
    let watched = Watched {
        transport: server.client().transport().clone(),
        traces: Arc::clone(&traces),
    };
    let transport = Transport::with_service(Config::new("http://here".parse().unwrap()), watched);
    let client = Client::new(transport.unwrap(), Default::default());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let mut map = ConfigMap::default();
    map.metadata.name = "settings".into();
    maps.create(&map).await.unwrap();

    reconcile_once(client, maps).await;
    while exporter
        .get_finished_spans()
        .unwrap()
        .iter()
        .all(|it| it.name != "reconcile")
    {
        sleep(Duration::from_millis(5)).await;
    }

    let spans = exporter.get_finished_spans().unwrap();
    let of = |span: &SpanData, key: &str| {
        let attribute = span.attributes.iter().find(|it| it.key.as_str() == key);
        attribute.map(|it| it.value.to_string()).unwrap_or_default()
    };
    let is_patch =
        |it: &&SpanData| it.name == "request" && of(it, "http.request.method") == "PATCH";
    let patch = spans.iter().find(is_patch).expect("the patch has a span");
    assert_eq!(of(patch, "http.response.status_code"), "200");
    assert_eq!(
        of(patch, "url.path"),
        "/api/v1/namespaces/default/configmaps/settings"
    );
    let parent = spans
        .iter()
        .find(|it| it.span_context.span_id() == patch.parent_span_id);
    let parent = parent.expect("it is in another span");
    assert_eq!(parent.name, "reconcile");
    assert_eq!(of(parent, "key"), "default/settings");
    let context = &patch.span_context;
    let expected = format!("00-{}-{}-01", context.trace_id(), context.span_id());
    assert_eq!(*traces.lock(), [expected]);
    server.shutdown().await;
}

/// Runs a controller until it has edited the map.
async fn reconcile_once(client: Client, maps: Api<ConfigMap>) {
    let factory = SharedInformerFactory::new(client);
    let controller = Controller::new("maps", &factory.informer::<ConfigMap>());
    let token = CancellationToken::new();
    let (api, done) = (maps, token.clone());
    let reconcile = move |key: ObjectName| {
        let (maps, done) = (api.clone(), done.clone());
        async move {
            if key.name == "settings" {
                let mark = |map: &mut ConfigMap| drop(map.data.insert("a".into(), "b".into()));
                maps.edit(&key.name, mark).await?;
                done.cancel();
            }
            Ok::<_, Error>(Action::done())
        }
    };
    let run = Manager::new(factory).with(controller, reconcile).run(token);
    timeout(Duration::from_secs(30), run)
        .await
        .unwrap()
        .unwrap();
}
