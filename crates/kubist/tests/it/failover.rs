//! An informer moves from a server that shuts down to another one on the same storage, and resumes:
//! it does not list again, and misses nothing.

use kubist::api::core::v1::ConfigMap;
use kubist::apiserver::{ApiServer, Config, MASTERS_GROUP, RunningServer, StaticToken};
use kubist::client::{Api, Client};
use kubist::informers::SharedInformerFactory;
use kubist::registry::{Registry, RegistryConfig, User};
use kubist::storage::memory::MemoryKv;
use kubist::transport::{Auth, Body, Transport, Verify};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "the-same-everywhere";
const DEADLINE: Duration = Duration::from_secs(60);

async fn server(kv: &MemoryKv, seed: u64) -> RunningServer {
    let mut of_registry =
        RegistryConfig::new(Arc::new(kv.clone()), kubist_kinds::BuiltIn::shared());
    of_registry.seed = Some(seed);
    let registry = Registry::new(of_registry);
    registry.start().await.unwrap();
    let config = Config {
        tokens: vec![StaticToken {
            token: TOKEN.to_owned(),
            user: User {
                name: "admin".into(),
                groups: vec![MASTERS_GROUP.into()],
                ..User::default()
            },
        }],
        watch_drain: Duration::from_millis(500),
        ..Config::default()
    };
    ApiServer::bind(config, registry).await.unwrap()
}

/// A client of whichever server listens, each with its own certificates.
fn client(address: SocketAddr) -> Client {
    let server = format!("https://{address}").parse().unwrap();
    let mut config = kubist::transport::Config::new(server);
    config.tls.verify = Verify::Nothing;
    config.auth = Auth::Bearer(TOKEN.to_owned().into());
    Client::new(
        Transport::new(config).unwrap(),
        kubist::client::Config::default(),
    )
}

/// A load balancer: new connections go to the current server.
async fn balance(listener: TcpListener, present: Arc<Mutex<SocketAddr>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((mut near, _)) = listener.accept().await else {
            continue;
        };
        let address = *present.lock();
        connections.spawn(async move {
            if let Ok(mut far) = TcpStream::connect(address).await {
                drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

fn map(name: String) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map
}

/// A metric of the server; zero if it is missing.
async fn metric(server: &RunningServer, name: &str, labels: &[&str]) -> f64 {
    let client = client(server.address().unwrap());
    let request = http::Request::get("/metrics").body(Body::empty()).unwrap();
    let body = client.send(request).await.unwrap().into_body();
    let text = body.bytes(10 << 20).await.unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    let found = text.lines().find(|line| {
        let rest = line.strip_prefix(name).filter(|rest| rest.starts_with('{'));
        rest.is_some_and(|rest| labels.iter().all(|label| rest.contains(label)))
    });
    found.map_or(0.0, |line| {
        line.rsplit(' ').next().unwrap().parse().unwrap()
    })
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waited = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waited).await;
    assert!(waited.is_ok(), "{what} did not happen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informer_moves_to_another_server_and_does_not_list_again() {
    const BEFORE: usize = 200;
    const AFTER: usize = 7;
    let kv = MemoryKv::default();
    let (first, second) = (server(&kv, 1).await, server(&kv, 2).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let balancer = listener.local_addr().unwrap();
    let present = Arc::new(Mutex::new(first.address().unwrap()));
    let mut tasks = JoinSet::new();
    tasks.spawn(balance(listener, Arc::clone(&present)));

    let maps: Api<ConfigMap> = Api::namespaced(client(first.address().unwrap()), "default");
    for number in 0..BEFORE {
        maps.create(&map(format!("before-{number}"))).await.unwrap();
    }
    let factory = SharedInformerFactory::new(client(balancer));
    let informer = factory.informer::<ConfigMap>();
    let lister = informer.lister_unsynced();
    let token = CancellationToken::new();
    let running = (factory.clone(), token.clone());
    tasks.spawn(async move { running.0.run(running.1).await });
    until("the first list", async || lister.len() == BEFORE).await;

    *present.lock() = second.address().unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client(second.address().unwrap()), "default");
    // Some during the shutdown of the first, some after it.
    let mut ending = JoinSet::new();
    ending.spawn(first.shutdown());
    for number in 0..AFTER {
        maps.create(&map(format!("after-{number}"))).await.unwrap();
        if number == AFTER / 2 {
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
    }
    ending.join_all().await;
    until("the move", async || lister.len() == BEFORE + AFTER).await;

    let watch = ["verb=\"WATCH\"", "resource=\"configmaps\""];
    until("a watch of the second server", async || {
        metric(&second, "apiserver_longrunning_requests", &watch).await > 0.0
    })
    .await;
    let list = ["verb=\"LIST\"", "resource=\"configmaps\""];
    let lists = metric(&second, "apiserver_request_total", &list).await;
    let sent = ["resource=\"configmaps\""];
    let events = metric(&second, "apiserver_watch_events_total", &sent).await;
    assert!(lists.abs() < 0.5, "{lists} lists");
    let most = f64::from(u32::try_from(AFTER).unwrap()) + 0.5;
    assert!(events < most, "{events} events: not what was there before");
    token.cancel();
    second.shutdown().await;
}
