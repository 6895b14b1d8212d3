//! `kubist etcd` under concurrent clients while it is killed and started again: the history that it
//! ends with explains every response, in the order in which the clients saw them.
//!
//! A write that was acknowledged is in the history once, at the revision of its response; one that
//! failed is there at most once, and not at all if its error says that it did not happen. Reads and
//! conflicts are the state of their revision, which is no lower than that of any response before
//! the request. A watch that lives through all of it has each event of the history once, in order.

use crate::command::{DEADLINE, kubist};
use kubist_storage::{
    DeleteRequest, EventKind, Expected, Fault, FaultKind, KeyRange, KvRead as _, KvWatch as _,
    KvWrite as _, PutRequest, Revision, WatchRangeRequest, WriteError, WriteOutcome,
};
use kubist_storage_etcd::{Config, EtcdKv};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

const CLIENTS: u64 = 8;
const KEYS: u64 = 5;
const KILLS: usize = 5;
/// Time between two kills.
const LIFE: Duration = Duration::from_millis(700);
const PREFIX: &str = "/kills/";

type Value = Option<String>;

/// What a client did, and what it was told.
#[derive(Debug)]
struct Done {
    key: String,
    asked: Asked,
    answer: Answer,
    begun: Instant,
    ended: Instant,
}

#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Put(String),
    Delete,
    Get,
}

#[derive(Debug)]
enum Answer {
    Committed(Revision),
    /// The revision of the store, and the value of the key at it.
    Saw(Revision, Value),
    /// It may have happened.
    Unknown,
    /// It did not happen.
    Refused,
}

/// A running server. Dropping it kills it.
struct Served(Child);

impl Served {
    fn start(folder: &Path, url: &str) -> Self {
        let arguments = ["etcd", "--data-dir", "data", "--listen-client-urls", url];
        let mut child = kubist(folder, &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("ready "), "{line}");
        Self(child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself, which the test then notices.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn key(number: u64) -> String {
    format!("{PREFIX}{number}")
}

fn text(value: &[u8]) -> String {
    String::from_utf8(value.to_vec()).unwrap()
}

fn failed(fault: &Fault) -> Answer {
    if fault.kind() == FaultKind::Unavailable {
        Answer::Refused
    } else {
        Answer::Unknown
    }
}

async fn read(kv: &EtcdKv, key: &str) -> Answer {
    match kv.get(key.as_bytes(), None).await {
        Ok(read) => Answer::Saw(read.revision, read.kv.map(|kv| text(&kv.value))),
        Err(_) => Answer::Unknown,
    }
}

fn written(outcome: Result<WriteOutcome, WriteError>) -> Answer {
    match outcome {
        Ok(WriteOutcome::Committed { revision }) => Answer::Committed(revision),
        Ok(WriteOutcome::Conflict { revision, current }) => {
            Answer::Saw(revision, current.map(|kv| text(&kv.value)))
        }
        Err(WriteError::Fault(fault)) => failed(&fault),
        Err(error) => panic!("{error}"),
    }
}

/// Puts, deletes and reads until it is told to stop.
async fn client(url: String, number: u64, stop: Arc<AtomicBool>) -> Vec<Done> {
    let mut config = Config::new([&url]);
    config.request_timeout = Duration::from_secs(2);
    let kv = EtcdKv::new(config).unwrap();
    let mut random = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |limit: u64| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    };
    let mut known = BTreeMap::<String, Revision>::new();
    let mut done = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let key = key(below(KEYS));
        let expected = match (below(3), known.get(&key)) {
            (0, _) | (_, None) => Expected::Any,
            (_, Some(revision)) => Expected::Revision(*revision),
        };
        let asked = match below(10) {
            0..2 => Asked::Get,
            2..4 => Asked::Delete,
            _ => Asked::Put(format!("{number}-{}", done.len())),
        };
        let begun = Instant::now();
        let answer = match &asked {
            Asked::Get => read(&kv, &key).await,
            Asked::Delete => {
                let request = DeleteRequest::new(key.clone(), expected);
                written(kv.delete(request).await)
            }
            Asked::Put(value) => {
                let request = PutRequest::new(key.clone(), value.clone(), expected);
                written(kv.put(request).await)
            }
        };
        if let Answer::Committed(revision) = answer {
            known.insert(key.clone(), revision);
        }
        let ended = Instant::now();
        // A conflict of a deletion without a precondition does not read the key.
        let unread = asked == Asked::Delete && expected == Expected::Any;
        let answer = match answer {
            Answer::Saw(..) if unread => Answer::Unknown,
            answer => answer,
        };
        done.push(Done {
            key,
            asked,
            answer,
            begun,
            ended,
        });
    }
    done
}

/// Watches from a revision on until it has seen one.
async fn watched(kv: &EtcdKv, from: Revision, to: Revision) -> Vec<(Revision, String, Value)> {
    let range = KeyRange::prefix(PREFIX);
    let mut watch = kv
        .watch(WatchRangeRequest::new(range).from(from))
        .await
        .unwrap();
    let mut events = Vec::new();
    while events
        .last()
        .is_none_or(|it: &(Revision, String, Value)| it.0 < to)
    {
        let batch = watch.next().await.unwrap().unwrap();
        events.extend(batch.events.iter().map(|event| {
            let value = match &event.kind {
                EventKind::Put(kv) => Some(text(&kv.value)),
                EventKind::Delete => None,
            };
            (event.revision, text(&event.key), value)
        }));
    }
    events
}

/// The end of the history, a write that nothing follows.
async fn last_write(kv: &EtcdKv) -> Revision {
    let request = PutRequest::new(format!("{PREFIX}end"), "end", Expected::Any);
    kv.put(request).await.unwrap().committed().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn history_explains_every_response_although_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", port.local_addr().unwrap());
    drop(port);
    let mut served = Served::start(folder.path(), &url);
    let observer = EtcdKv::new(Config::new([&url])).unwrap();
    let first = observer.revision().await.unwrap().next();
    let stop = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for number in 1..=CLIENTS {
        clients.spawn(client(url.clone(), number, Arc::clone(&stop)));
    }
    let (end_of_live, mut events) = tokio::sync::mpsc::unbounded_channel();
    let mut watching = JoinSet::new();
    let watcher = observer.clone();
    watching.spawn(async move {
        let range = WatchRangeRequest::new(KeyRange::prefix(PREFIX)).from(first);
        let mut watch = watcher.watch(range).await.unwrap();
        while let Some(Ok(batch)) = watch.next().await {
            for event in &batch.events {
                if end_of_live
                    .send((event.revision, text(&event.key)))
                    .is_err()
                {
                    return;
                }
            }
        }
    });
    for _ in 0..KILLS {
        sleep(LIFE).await;
        drop(served);
        served = Served::start(folder.path(), &url);
    }
    sleep(LIFE).await;
    stop.store(true, Ordering::Relaxed);
    let done: Vec<_> = clients.join_all().await.into_iter().flatten().collect();
    let last = last_write(&observer).await;
    let history = timeout(DEADLINE, watched(&observer, first, last))
        .await
        .unwrap();
    let mut lived = Vec::new();
    while lived
        .last()
        .is_none_or(|it: &(Revision, String)| it.0 < last)
    {
        lived.push(timeout(DEADLINE, events.recv()).await.unwrap().unwrap());
    }
    drop(watching);
    let all: Vec<_> = history.iter().map(|it| (it.0, it.1.clone())).collect();
    assert_eq!(lived, all, "the watch that lived through the kills");
    let numbers: Vec<_> = history.iter().map(|it| it.0.0).collect();
    let expected: Vec<_> = (first.0..=last.0).collect();
    assert_eq!(numbers, expected, "one event for each revision");
    explain(&done, &history);
    drop(served);
}

/// Checks that the history explains what the clients were told.
fn explain(done: &[Done], history: &[(Revision, String, Value)]) {
    let at = |revision: Revision| history.iter().find(|it| it.0 == revision);
    let state = |key: &str, revision: Revision| {
        let before = history.iter().take_while(|it| it.0 <= revision);
        before
            .filter(|it| it.1 == key)
            .last()
            .and_then(|it| it.2.clone())
    };
    let mut claimed = BTreeSet::new();
    let (mut committed, mut unknown) = (0, 0);
    for it in done {
        let value = match &it.asked {
            Asked::Put(value) => Some(value.clone()),
            Asked::Delete | Asked::Get => None,
        };
        let happened = history
            .iter()
            .filter(|event| value.is_some() && event.2 == value)
            .count();
        match &it.answer {
            Answer::Committed(revision) => {
                committed += 1;
                let event = at(*revision).unwrap_or_else(|| panic!("{it:?} is lost"));
                assert_eq!((&event.1, &event.2), (&it.key, &value), "{it:?}");
                assert!(claimed.insert(*revision), "{it:?} shares its revision");
                assert!(value.is_none() || happened == 1, "{it:?}");
            }
            Answer::Saw(revision, seen) => assert_eq!(&state(&it.key, *revision), seen, "{it:?}"),
            Answer::Refused => assert_eq!(happened, 0, "{it:?}"),
            Answer::Unknown => {
                unknown += 1;
                assert!(happened <= 1, "{it:?}");
            }
        }
    }
    in_real_time(done);
    assert!(committed > 200, "{committed} writes");
    assert!(unknown > 0, "no kill was noticed");
}

/// A response is no older than any response that ended before its request began.
fn in_real_time(done: &[Done]) {
    let told = |it: &Done| match it.answer {
        Answer::Committed(revision) => Some((revision, true)),
        Answer::Saw(revision, _) => Some((revision, false)),
        Answer::Unknown | Answer::Refused => None,
    };
    let mut ends: Vec<_> = done
        .iter()
        .filter_map(|it| Some((it.ended, told(it)?.0)))
        .collect();
    ends.sort_unstable();
    let mut begins: Vec<_> = done
        .iter()
        .filter_map(|it| Some((it.begun, told(it)?)))
        .collect();
    begins.sort_unstable();
    let (mut newest, mut next) = (Revision::ZERO, ends.into_iter().peekable());
    for (begun, (revision, is_write)) in begins {
        while let Some((_, told)) = next.next_if(|it| it.0 < begun) {
            newest = newest.max(told);
        }
        let is_fresh = if is_write {
            revision > newest
        } else {
            revision >= newest
        };
        assert!(
            is_fresh,
            "told {revision}, after somebody was told {newest}"
        );
    }
}
