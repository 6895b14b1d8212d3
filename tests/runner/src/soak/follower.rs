//! A watch through the balancer that is resumed whenever it ends and never lists again, and beside
//! it etcd's own watch of the same keys, which nothing disturbs.

use super::history::{Event, History, Kind};
use super::record::Record;
use super::told::{Told, base64, version};
use super::web::Web;
use kubist_test_support::process::Outcome;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The pause before a watch is resumed.
const PAUSE: Duration = Duration::from_millis(200);
/// A watch that cannot be resumed for so long has failed.
const OUTAGE_MAX: Duration = Duration::from_secs(60);
const GONE: u16 = 410;

/// A running pair of watches. Dropping it ends both.
pub(super) struct Follower {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    resource: &'static str,
    /// Where it lists and watches.
    path: String,
    /// The prefix of its keys.
    prefix: String,
    history: Mutex<History>,
    record: Arc<Record>,
    breaks: AtomicU64,
    stopped: AtomicBool,
    children: Mutex<Vec<Child>>,
}

/// A line of a watch, or the status that a server answers in its place.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    object: Object,
    code: Option<u16>,
    message: Option<String>,
}

#[derive(Default, Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
    code: Option<u16>,
    message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    #[serde(rename = "resourceVersion")]
    version: String,
}

impl Follower {
    /// Lists once, and follows a resource of the group `v1` in a namespace from there on.
    pub(super) fn start(
        web: &Web,
        etcd: &str,
        resource: &'static str,
        namespace: &str,
        record: &Arc<Record>,
    ) -> Outcome<Self> {
        let path = format!("/api/v1/namespaces/{namespace}/{resource}");
        let prefix = format!("/registry/{resource}/{namespace}/");
        let (version, live) = list(web, &path, &prefix)?;
        let shared = Arc::new(Shared {
            resource,
            path,
            prefix,
            history: Mutex::new(History::new(version, live)),
            record: Arc::clone(record),
            breaks: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            children: Mutex::default(),
        });
        let etcd = Web::new(etcd, "");
        let (told, watched, web) = (Arc::clone(&shared), Arc::clone(&shared), web.clone());
        let threads = vec![
            std::thread::spawn(move || told.end(told.tell(&etcd, version))),
            std::thread::spawn(move || watched.end(watched.watch(&web))),
        ];
        Ok(Self { shared, threads })
    }

    /// Fails unless the watch shows what a list shows, and all that etcd told.
    pub(super) fn compare(&self, web: &Web) -> Outcome {
        let Shared { path, prefix, .. } = &*self.shared;
        let (_, stored) = list(web, path, prefix)?;
        let history = self.shared.history();
        let resource = self.shared.resource;
        if history.open() != [0, 0] {
            let [seen, stored] = history.open();
            let what = format!("{seen} events were only seen and {stored} only stored");
            return Err(format!("of {resource} {what}").into());
        }
        if *history.live() == stored {
            return Ok(());
        }
        let mut pairs = stored.iter();
        let example = pairs.find(|it| history.live().get(it.0) != Some(it.1));
        let (live, stored) = (history.live().len(), stored.len());
        Err(format!("{live} {resource} were seen and {stored} stored, as {example:?}").into())
    }

    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let [added, modified, deleted] = self.shared.history().counts();
        let resource = self.shared.resource;
        let events = format!(
            "{} ({added} added, {modified} modified, {deleted} deleted)",
            added + modified + deleted
        );
        let breaks = self.shared.breaks.load(Ordering::Relaxed).to_string();
        vec![
            (
                format!("events of {resource}, each seen once and in order"),
                events,
            ),
            ("breaks of that watch".to_owned(), breaks),
        ]
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        for child in self.shared.children().iter_mut() {
            // It may have ended already.
            child.kill().ok();
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has been reported.
            thread.join().ok();
        }
    }
}

impl Shared {
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn children(&self) -> MutexGuard<'_, Vec<Child>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Records why a watch has ended, unless it was stopped.
    fn end(&self, result: Outcome) {
        if let (Err(error), false) = (result, self.is_stopped()) {
            self.check(Err(error.to_string()));
        }
    }

    fn check(&self, result: Result<(), String>) {
        if let Err(error) = result {
            self.record
                .fail(&format!("the watch of {}: {error}", self.resource));
        }
    }

    /// Starts a request whose lines are read; [`Self::finish`] ends it.
    fn open(&self, web: &Web, path: &str, body: Option<&str>) -> Outcome<Lines> {
        let mut child = web.follow(path, body)?;
        let id = child.id();
        let stdout = child.stdout.take().ok_or("its output is not piped")?;
        self.children().push(child);
        Ok(Lines {
            id,
            reader: BufReader::with_capacity(64 << 10, stdout),
            line: Vec::new(),
        })
    }

    fn finish(&self, id: u32) {
        let mut children = self.children();
        if let Some(at) = children.iter().position(|it| it.id() == id) {
            let mut child = children.swap_remove(at);
            // It may have ended already.
            child.kill().ok();
            child.wait().ok();
        }
    }

    /// Watches through the balancer until it is stopped; an error ends it.
    fn watch(&self, web: &Web) -> Outcome {
        let mut progress = Instant::now();
        while !self.is_stopped() {
            let from = self.history().last();
            let path = &self.path;
            let query = "watch=true&allowWatchBookmarks=true&timeoutSeconds=1800";
            let path = format!("{path}?{query}&resourceVersion={from}");
            let mut lines = self.open(web, &path, None)?;
            let mut ended = "it ended".to_owned();
            while let Some(line) = lines.next() {
                // The end of a connection can be anywhere in a line.
                let Ok(line) = serde_json::from_slice::<Line>(line) else {
                    ended = format!("it broke in a line of {} bytes", line.len());
                    break;
                };
                match self.take(&line) {
                    Ok(()) => progress = Instant::now(),
                    Err(Trouble::Fatal(error)) => {
                        self.finish(lines.id);
                        return Err(error.into());
                    }
                    Err(Trouble::Break(error)) => {
                        ended = error;
                        break;
                    }
                }
            }
            self.finish(lines.id);
            if self.is_stopped() {
                return Ok(());
            }
            self.breaks.fetch_add(1, Ordering::Relaxed);
            self.record.say(&format!(
                "the watch of {} after {from}: {ended}",
                self.resource
            ));
            if progress.elapsed() > OUTAGE_MAX && self.history().last() == from {
                return Err(format!("nothing for {OUTAGE_MAX:?}: {ended}").into());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn take(&self, line: &Line) -> Result<(), Trouble> {
        let metadata = &line.object.metadata;
        let kind = match line.kind.as_deref() {
            Some("ADDED") => Kind::Added,
            Some("MODIFIED") => Kind::Modified,
            Some("DELETED") => Kind::Deleted,
            Some("BOOKMARK") => {
                let version = version(&metadata.version).map_err(Trouble::Fatal)?;
                let noted = self.history().bookmark(version);
                self.check(noted);
                return Ok(());
            }
            _ => {
                let code = line.code.or(line.object.code).unwrap_or_default();
                let message = line.message.as_ref().or(line.object.message.as_ref());
                let text = format!("{code}: {}", message.map_or("no message", String::as_str));
                let is_gone = code == GONE;
                return Err(if is_gone {
                    Trouble::Fatal(text)
                } else {
                    Trouble::Break(text)
                });
            }
        };
        let event = Event {
            version: version(&metadata.version).map_err(Trouble::Fatal)?,
            kind,
            key: base64(format!("{}{}", self.prefix, metadata.name).as_bytes()),
        };
        let noted = self.history().see(event);
        self.check(noted);
        Ok(())
    }

    /// Notes what etcd tells, from a version on, until it is stopped.
    fn tell(&self, etcd: &Web, after: u64) -> Outcome {
        let (begin, end) = (self.prefix.as_bytes(), self.prefix.trim_end_matches('/'));
        // The character after the slash.
        let end = format!("{end}0");
        let body = format!(
            r#"{{"create_request":{{"key":"{}","range_end":"{}","start_revision":"{}"}}}}"#,
            base64(begin),
            base64(end.as_bytes()),
            after + 1
        );
        let mut lines = self.open(etcd, "/v3/watch", Some(&body))?;
        while let Some(line) = lines.next() {
            if self.is_stopped() {
                break;
            }
            let text = || String::from_utf8_lossy(line).into_owned();
            let told: Told = serde_json::from_slice(line)
                .map_err(|error| format!("etcd told {}: {error}", text()))?;
            if told.result.canceled {
                return Err(format!("etcd ended its watch: {}", text()).into());
            }
            for change in told.result.events {
                let event = change.event()?;
                let noted = self.history().store(event);
                self.check(noted);
            }
        }
        self.finish(lines.id);
        Err("etcd's own watch has ended".into())
    }
}

/// Why a watch cannot go on, or must be resumed.
enum Trouble {
    Fatal(String),
    Break(String),
}

/// The lines of an answer.
struct Lines {
    id: u32,
    reader: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Lines {
    /// Returns the next line; none at the end.
    fn next(&mut self) -> Option<&[u8]> {
        self.line.clear();
        let size = self.reader.read_until(b'\n', &mut self.line).ok()?;
        (size > 0).then_some(&self.line)
    }
}

/// Lists: the version, and each key with the version of its object.
fn list(web: &Web, path: &str, prefix: &str) -> Outcome<(u64, BTreeMap<String, u64>)> {
    let list = web.list(path)?;
    let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
    let items = list["items"].as_array().ok_or("no list")?;
    let entry = |item: &serde_json::Value| -> Outcome<(String, u64)> {
        let metadata = &item["metadata"];
        let key = format!("{prefix}{}", text(&metadata["name"]));
        Ok((
            base64(key.as_bytes()),
            version(&text(&metadata["resourceVersion"]))?,
        ))
    };
    let live = items.iter().map(entry).collect::<Outcome<_>>()?;
    Ok((version(&text(&list["metadata"]["resourceVersion"]))?, live))
}
