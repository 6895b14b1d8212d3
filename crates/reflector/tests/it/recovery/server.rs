//! The scripted server.

use futures_core::future::BoxFuture;
use kubist_apimachinery::wire::WireErrorKind;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{
    EventType, FetchError, InvalidEvent, InvalidItem, ListBatch, ListEnd, ListItem, ListRequest,
    ListStream, ListerWatcher, VersionMatch, WatchItem, WatchRequest, WatchStream,
};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// One line of a script: an expected request and its response.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    line: String,
    after: Option<(Duration, Duration)>,
    request: String,
    answer: Vec<String>,
}

impl Exchange {
    pub(super) fn parse(line: &str) -> Self {
        let (head, body) = line.split_once(" ->").expect("an exchange has an arrow");
        let mut words: Vec<_> = head.split_whitespace().collect();
        let after = (words[0] == "after").then(|| {
            let (least, most) = words[1].split_once("..").unwrap_or((words[1], words[1]));
            let seconds = |it: &str| Duration::from_secs_f64(it.parse().expect("seconds"));
            (seconds(least), seconds(most))
        });
        words.drain(..if after.is_some() { 2 } else { 0 });
        Self {
            line: line.to_owned(),
            after,
            request: words.join(" "),
            answer: body.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

/// Plays the exchanges in order, and panics on any other request.
pub(super) struct Server {
    inner: Arc<Mutex<Inner>>,
    batched: bool,
    slack: Duration,
}

struct Inner {
    exchanges: VecDeque<Exchange>,
    /// The time of the server's last action.
    last: Instant,
    /// Whether the last response is finished.
    spent: bool,
    streams: bool,
}

enum Step<T> {
    Wait(Duration),
    Item(T),
    Fail(FetchError),
    Close,
}

impl Server {
    /// `slack` is how late a request may be.
    pub(super) fn new(exchanges: Vec<Exchange>, batched: bool, slack: Duration) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(Mutex::new(Inner {
                exchanges: exchanges.into(),
                last: Instant::now(),
                spent: true,
                streams: true,
            })),
            batched,
            slack,
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .expect("no test panics while it holds the lock")
    }

    /// Reports whether the script is finished.
    pub(super) fn is_done(&self) -> bool {
        let inner = self.inner();
        inner.exchanges.is_empty() && inner.spent
    }

    pub(super) fn expects(&self) -> String {
        let inner = self.inner();
        inner
            .exchanges
            .front()
            .map_or_else(String::new, |it| it.line.clone())
    }

    /// Returns the response to a request, if the request is the expected one.
    fn answer(&self, request: &str, page: &str) -> Vec<String> {
        let mut inner = self.inner();
        let gap = inner.last.elapsed();
        let Some(exchange) = inner.exchanges.pop_front() else {
            panic!("after {gap:?}, when the script was over: {request}{page}");
        };
        let expected = &exchange.request;
        let found = if expected.contains("limit=") {
            format!("{request}{page}")
        } else {
            request.to_owned()
        };
        assert_eq!(found, *expected, "\n{}\nafter {gap:?}", exchange.line);
        let (least, most) = exchange.after.unwrap_or_default();
        let most = most + self.slack;
        assert!(
            gap + Duration::from_millis(2) >= least && gap <= most,
            "\n{}\nafter {gap:?}",
            exchange.line
        );
        inner.last = Instant::now();
        inner.spent = false;
        exchange.answer
    }

    fn steps<T>(words: &[String], item: impl Fn(&str) -> Option<T>) -> VecDeque<Step<T>> {
        let mut steps = VecDeque::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let seconds = word.strip_suffix('s').and_then(|it| it.parse().ok());
            steps.push_back(match (word.as_str(), seconds) {
                (_, Some(seconds)) => Step::Wait(Duration::from_secs_f64(seconds)),
                ("close", _) => Step::Close,
                ("fail", _) => Step::Fail(error(words.next().expect("an error"))),
                (word, _) => match item(word) {
                    Some(item) => Step::Item(item),
                    None => continue,
                },
            });
        }
        steps
    }

    fn stream<T>(&self, steps: VecDeque<Step<T>>) -> Playing<T> {
        Playing {
            inner: Arc::clone(&self.inner),
            batched: self.batched,
            steps,
            sleep: None,
        }
    }
}

/// A response that is being played.
struct Playing<T> {
    inner: Arc<Mutex<Inner>>,
    batched: bool,
    steps: VecDeque<Step<T>>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// No field is pinned.
impl<T> Unpin for Playing<T> {}

impl<T> Playing<T> {
    fn poll_items(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<T>, FetchError>>> {
        if let Some(sleep) = &mut self.sleep {
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
        let mut items = Vec::new();
        while items.is_empty() || self.batched {
            match self.steps.front() {
                Some(Step::Item(_)) => {}
                _ if !items.is_empty() => break,
                _ => {}
            }
            match self.steps.pop_front() {
                Some(Step::Item(item)) => items.push(item),
                Some(Step::Wait(pause)) => {
                    self.sleep = Some(Box::pin(tokio::time::sleep(pause)));
                    return self.poll_items(cx);
                }
                Some(Step::Fail(error)) => return self.ready(Some(Err(error))),
                Some(Step::Close) => return self.ready(None),
                None => {
                    self.note(false);
                    return Poll::Pending;
                }
            }
        }
        self.ready(Some(Ok(items)))
    }

    fn ready<R>(&self, it: R) -> Poll<R> {
        self.note(true);
        Poll::Ready(it)
    }

    fn note(&self, acted: bool) {
        let mut inner = self
            .inner
            .lock()
            .expect("no test panics while it holds the lock");
        inner.spent = self.steps.is_empty();
        if acted {
            inner.last = Instant::now();
        }
    }
}

/// A list of batches, or a watch of items.
struct Pieces(Playing<ListBatch<ObjectMeta>>);

impl futures_core::Stream for Pieces {
    type Item = Result<ListBatch<ObjectMeta>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.batched = false;
        let piece = std::task::ready!(self.0.poll_items(cx));
        Poll::Ready(piece.map(|it| it.map(|mut items| items.remove(0))))
    }
}

impl futures_core::Stream for Playing<WatchItem<ObjectMeta>> {
    type Item = Result<Vec<WatchItem<ObjectMeta>>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_items(cx)
    }
}

impl ListerWatcher<ObjectMeta> for Server {
    fn list(
        &self,
        request: ListRequest,
    ) -> BoxFuture<'_, Result<ListStream<ObjectMeta>, FetchError>> {
        assert_eq!(request.version_match, None, "the server's default is right");
        let mut page = format!(" limit={}", request.limit);
        if !request.continue_token.is_empty() {
            page += " continue=";
            page += &request.continue_token;
        }
        let words = self.answer(&format!("list rv={}", request.resource_version), &page);
        let value = |key| words.iter().find_map(|it| it.strip_prefix(key));
        let more = value("more=").unwrap_or("");
        let steps = Self::steps(&words, |word| {
            if let Some(version) = word.strip_prefix("rv=") {
                return Some(ListBatch::End(ListEnd {
                    resource_version: version.into(),
                    continue_token: more.into(),
                    remaining: None,
                }));
            }
            let item = match word.strip_prefix('?') {
                Some(name) => ListItem::Invalid(invalid(name)),
                None if word.contains('@') => ListItem::Object(object(word)),
                None => return None,
            };
            Some(ListBatch::Items(vec![item]))
        });
        let stream = Pieces(self.stream(steps));
        let refused = refusal(&self.inner, &words);
        Box::pin(async move {
            refused.await?;
            Ok(Box::pin(stream) as ListStream<_>)
        })
    }

    fn watch(
        &self,
        request: WatchRequest,
    ) -> BoxFuture<'_, Result<WatchStream<ObjectMeta>, FetchError>> {
        assert!(request.bookmarks, "bookmarks are always asked for");
        let timeout = request.timeout.expect("every watch has one").as_secs();
        assert!((300..600).contains(&timeout), "{timeout}");
        let expected = request
            .send_initial_events
            .then_some(VersionMatch::NotOlderThan);
        assert_eq!(request.version_match, expected);
        let verb = if request.send_initial_events {
            "stream"
        } else {
            "watch"
        };
        let words = self.answer(&format!("{verb} rv={}", request.resource_version), "");
        let steps = Self::steps(&words, watch_item);
        let stream = self.stream(steps);
        let refused = refusal(&self.inner, &words);
        Box::pin(async move {
            refused.await?;
            Ok(Box::pin(stream) as WatchStream<_>)
        })
    }

    fn supports_streaming_list(&self) -> bool {
        self.inner().streams
    }

    fn streaming_list_refused(&self) {
        self.inner().streams = false;
    }
}

/// `refuse` and `never`.
fn refusal(
    inner: &Arc<Mutex<Inner>>,
    words: &[String],
) -> BoxFuture<'static, Result<(), FetchError>> {
    let refused = words.iter().position(|it| it == "refuse");
    let refused = refused.map(|at| error(&words[at + 1]));
    let never = words.iter().any(|it| it == "never");
    if refused.is_some() || never {
        inner
            .lock()
            .expect("no test panics while it holds the lock")
            .spent = true;
    }
    Box::pin(async move {
        if never {
            std::future::pending::<()>().await;
        }
        refused.map_or(Ok(()), Err)
    })
}

fn watch_item(word: &str) -> Option<WatchItem<ObjectMeta>> {
    let bookmark = |version: &str, initial_events_end| WatchItem::Bookmark {
        resource_version: version.into(),
        initial_events_end,
    };
    Some(match (word.split_at(1), word.split_once('@')) {
        (("+", text), _) => WatchItem::Added(object(text)),
        (("~", text), _) => WatchItem::Modified(object(text)),
        (("-", text), _) => WatchItem::Deleted(object(text)),
        (("?", text), _) => unread(text),
        (_, Some(("mark", version))) => bookmark(version, false),
        (_, Some(("end", version))) => bookmark(version, true),
        _ => return None,
    })
}

fn object(text: &str) -> ObjectMeta {
    let (name, version) = text.split_once('@').expect("name@version");
    ObjectMeta {
        name: name.into(),
        uid: name.into(),
        resource_version: version.into(),
        ..ObjectMeta::default()
    }
}

/// `~name@version` and the like: the event type is known; `name` alone: it is not.
fn unread(text: &str) -> WatchItem<ObjectMeta> {
    let event = match text.split_at(1).0 {
        "+" => Some(EventType::Added),
        "~" => Some(EventType::Modified),
        "-" => Some(EventType::Deleted),
        _ => None,
    };
    let rest = if event.is_some() { &text[1..] } else { text };
    let (name, version) = rest.split_once('@').unwrap_or((rest, ""));
    WatchItem::Invalid(InvalidEvent {
        event,
        resource_version: version.into(),
        item: invalid(name),
    })
}

fn invalid(name: &str) -> InvalidItem {
    InvalidItem {
        name: Some(ObjectName::cluster(name)),
        error: WireErrorKind::Truncated.into(),
    }
}

/// `throttled:7` has `Retry-After: 7`.
pub(super) fn error(word: &str) -> FetchError {
    crate::script::error(word)
}
