//! Two servers behind one address, on three members of etcd: while servers and members are killed,
//! paused and cut off one after another, no acknowledged write is lost, and a watch through the
//! address sees each event once and in order.

use crate::command::{Served, kubist};
use crate::etcd::{Etcd, Release};
use futures_util::StreamExt as _;
use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ListOptions;
use kubist::cache::WatchItem;
use kubist::client::{Api, Client};
use kubist::informers::SharedInformerFactory;
use kubist::transport::{Auth, Config, Transport, Verify};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "of-the-fleet";
const NAMESPACE: &str = "default";
const WRITERS: usize = 4;
/// How long a state may take to be reached.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a client waits for an answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long each trouble lasts, and the peace after it.
const TROUBLE: Duration = Duration::from_millis(1_500);
const PEACE: Duration = Duration::from_millis(500);

/// A server, and whether the balancer sends connections there.
struct Member {
    served: Option<Served>,
    address: SocketAddr,
}

fn start(folder: &Path, name: &str, etcd: &str) -> Served {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = kubist(&folder, &[]);
    command.env("KUBIST_TOKEN", TOKEN);
    let further = ["--controllers", "none", "--etcd-servers", etcd];
    Served::start_as(command, &folder, &further)
}

fn address(served: &Served) -> SocketAddr {
    let url = served.ready.split(' ').nth(1).unwrap();
    url.trim_start_matches("https://").parse().unwrap()
}

/// The one address: connections go to the servers in turn, to those that accept any. Each that
/// leads to one that is cut off breaks.
#[derive(Default)]
struct Balancer {
    targets: Mutex<Vec<SocketAddr>>,
    connections: Mutex<JoinSet<()>>,
}

impl Balancer {
    async fn run(self: Arc<Self>, listener: TcpListener) {
        for turn in 0_usize.. {
            let Ok((mut near, _)) = listener.accept().await else {
                continue;
            };
            let mut targets = self.targets.lock().clone();
            let count = targets.len().max(1);
            targets.rotate_left(turn % count);
            self.connections.lock().spawn(async move {
                for target in targets {
                    if let Ok(mut far) = TcpStream::connect(target).await {
                        drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
                        return;
                    }
                }
            });
        }
    }

    /// Leads all new connections to these, and breaks all that there are.
    fn lead_to(&self, targets: Vec<SocketAddr>) {
        *self.targets.lock() = targets;
        self.connections.lock().abort_all();
    }
}

fn client(address: SocketAddr) -> Client {
    let mut config = Config::new(format!("https://{address}").parse().unwrap());
    config.tls.verify = Verify::Nothing;
    config.auth = Auth::Bearer(TOKEN.to_owned().into());
    let transport = Transport::new(config).unwrap();
    Client::new(transport, kubist::client::Config::default())
}

/// An acknowledged write: object and version.
type Write = (String, u64);

/// Creates and updates until it is dropped, and records what was acknowledged.
async fn write(maps: Api<ConfigMap>, name: String, acknowledged: Arc<Mutex<Vec<Write>>>) {
    for number in 0_u64.. {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("{name}-{}", number / 4).into();
        map.data.insert("value".into(), number.to_string().into());
        let written = async {
            if number % 4 == 0 {
                maps.create(&map).await
            } else {
                maps.replace(&map).await
            }
        };
        if let Ok(Ok(written)) = timeout(ANSWER, written).await {
            acknowledged.lock().push(of(&written));
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn version(map: &ConfigMap) -> u64 {
    map.metadata.resource_version.parse().unwrap()
}

fn of(map: &ConfigMap) -> Write {
    (map.metadata.name.to_string(), version(map))
}

fn signal(served: &Served, signal: &str) {
    let id = served.running.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.unwrap().success(), "kill {signal} {id}");
}

/// Kills, pauses and cuts off everything in turn.
async fn trouble(
    folder: &Path,
    etcd: &str,
    servers: &mut [Member; 2],
    members: &mut [Etcd],
    balancer: &Balancer,
) {
    for turn in 0..2 {
        let all: Vec<SocketAddr> = servers.iter().map(|it| it.address).collect();
        // Killed, and another in its place.
        servers[turn].served = None;
        sleep(TROUBLE).await;
        let served = start(folder, &format!("server-{turn}-again"), etcd);
        servers[turn].address = address(&served);
        servers[turn].served = Some(served);
        let present: Vec<SocketAddr> = servers.iter().map(|it| it.address).collect();
        assert_ne!(all, present);
        balancer.targets.lock().clone_from(&present);
        sleep(PEACE).await;
        // Paused: its connections live, and nothing answers.
        signal(servers[turn].served.as_ref().unwrap(), "-STOP");
        sleep(TROUBLE).await;
        signal(servers[turn].served.as_ref().unwrap(), "-CONT");
        sleep(PEACE).await;
        // Cut off from its clients.
        balancer.lead_to(vec![present[1 - turn]]);
        sleep(TROUBLE).await;
        balancer.lead_to(present);
        sleep(PEACE).await;
    }
    for member in members {
        member.kill();
        sleep(TROUBLE).await;
        assert!(member.run().await);
        sleep(PEACE).await;
    }
}

/// What a watch has seen of each object: the versions, in order.
type Seen = Arc<Mutex<BTreeMap<String, Vec<u64>>>>;

fn note(seen: &Seen, map: &ConfigMap) {
    let name = map.metadata.name.to_string();
    seen.lock().entry(name).or_default().push(version(map));
}

/// Watches from a version on and, whenever that ends, from the last version that it saw. It never
/// lists, so every server must know what was before it.
async fn follow(maps: Api<ConfigMap>, mut last: String, seen: Seen) {
    loop {
        let from = ListOptions {
            resource_version: last.as_str().into(),
            ..ListOptions::default()
        };
        let mut items = maps.watch_on(&from).unwrap();
        // A server that is paused says nothing; another may.
        while let Ok(Some(item)) = timeout(ANSWER, items.next()).await {
            match item {
                Ok(WatchItem::Added(map) | WatchItem::Modified(map)) => {
                    note(&seen, &map);
                    last = map.metadata.resource_version.to_string();
                }
                Ok(WatchItem::Bookmark {
                    resource_version, ..
                }) => {
                    last = resource_version.to_string();
                }
                Ok(other) => panic!("nothing is deleted: {other:?}"),
                Err(error) => {
                    let gone = error.is_gone();
                    assert!(!gone, "the watch after {last} cannot go on: {error}");
                    break;
                }
            }
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_while_servers_and_members_are_killed_paused_and_cut_off() {
    let Some(mut members) = Etcd::start_cluster(Release::Current, 3).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let etcd: Vec<String> = members.iter().map(Etcd::url).collect();
    let etcd = etcd.join(",");
    let mut servers = [0, 1].map(|number| {
        let served = start(folder.path(), &format!("server-{number}"), &etcd);
        Member {
            address: address(&served),
            served: Some(served),
        }
    });
    let balancer = Arc::new(Balancer::default());
    balancer.lead_to(servers.iter().map(|it| it.address).collect());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let one_address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&balancer).run(listener));

    let seen = Seen::default();
    let factory = SharedInformerFactory::new(client(one_address));
    let informer = factory.informer::<ConfigMap>();
    let stop = CancellationToken::new();
    let running = (factory.clone(), stop.clone());
    tasks.spawn(async move { running.0.run(running.1).await });

    let lister = timeout(PATIENCE, informer.synced()).await.unwrap().unwrap();

    let maps: Api<ConfigMap> = Api::namespaced(client(one_address), NAMESPACE);
    let begin = maps.list(&ListOptions::default()).await.unwrap();
    let begin = begin.metadata.resource_version.to_string();
    tasks.spawn(follow(maps.clone(), begin, Arc::clone(&seen)));

    let acknowledged: Arc<Mutex<Vec<Write>>> = Arc::default();
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        // Each with connections of its own.
        let maps = Api::namespaced(client(one_address), NAMESPACE);
        writers.spawn(write(maps, format!("w{number}"), Arc::clone(&acknowledged)));
    }
    trouble(folder.path(), &etcd, &mut servers, &mut members, &balancer).await;
    writers.shutdown().await;

    let until = Instant::now() + PATIENCE;
    // A server may still finish a write whose client is gone.
    let stored = loop {
        let list = maps.list(&ListOptions::default()).await.unwrap();
        let stored: BTreeMap<String, u64> = list.items.iter().map(of).collect();
        let held = lister.list();
        let held = held.iter().filter(|it| it.metadata.namespace == *NAMESPACE);
        let held: BTreeMap<String, u64> = held.map(|it| of(it)).collect();
        let last = |versions: &Vec<u64>| versions.last().copied().unwrap_or_default();
        let seen: BTreeMap<String, u64> = seen
            .lock()
            .iter()
            .map(|(name, versions)| (name.clone(), last(versions)))
            .collect();
        if held == stored && seen == stored {
            break stored;
        }
        assert!(
            Instant::now() < until,
            "the informer or the watch does not catch up"
        );
        assert!(tasks.try_join_next().is_none(), "the watch has ended");
        sleep(Duration::from_millis(10)).await;
    };
    check(&acknowledged.lock(), &seen.lock(), &stored);
    stop.cancel();
    tasks.shutdown().await;
}

/// Checks that each acknowledged write was seen, once and in order, and that the last is stored.
fn check(
    acknowledged: &[Write],
    seen: &BTreeMap<String, Vec<u64>>,
    stored: &BTreeMap<String, u64>,
) {
    assert!(acknowledged.len() > 200, "{} writes", acknowledged.len());
    for (name, versions) in seen {
        let in_order = versions.is_sorted_by(|one, next| one < next);
        assert!(in_order, "{name} was seen as {versions:?}");
        assert_eq!(
            versions.last(),
            stored.get(name),
            "the last event of {name}"
        );
    }
    for (name, version) in acknowledged {
        let is_seen = seen.get(name).is_some_and(|it| it.contains(version));
        assert!(
            is_seen,
            "{name} of {version} was acknowledged, and no event shows it"
        );
    }
}
