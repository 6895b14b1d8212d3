//! Shows the rows of an informer on the terminal's alternate screen, until a key or signal ends it.
//!
//! Keys are handled before events, events in turns, and a frame is drawn only when the terminal has
//! taken the one before.

use super::super::clock;
use super::super::signal::{self, Continued, Signal};
use super::Target;
use super::connection::{Connection, Link};
use super::follow::{TURN_MAX, passed};
use super::following::Following;
use super::problems::Problems;
use super::row::Row;
use super::row_source::RowSource;
use super::screen::{Moment, Screen, Status, Wish};
use super::terminal::{AlternateScreen, Input};
use futures_util::FutureExt as _;
use kubist_apimachinery::{ObjectName, Unstructured, with_causes};
use kubist_client::Api;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(50);
/// How long a problem is displayed after its last occurrence, and while events arrive.
const PROBLEM_SHOWN: Duration = Duration::from_secs(60);
const PAST_PROBLEM_SHOWN: Duration = Duration::from_secs(5);

/// Shows the objects of `target`, and a summary on standard error at the end.
pub(super) async fn browse(
    target: &Target,
    terminal: AlternateScreen,
    screen: Screen,
    limit: Option<Duration>,
) -> io::Result<ExitCode> {
    let mut signals = signal::listen_on_terminal()?;
    let problems = Arc::new(Problems::kept());
    let connection = Connection::new();
    let source = Arc::new(RowSource::new(
        &target.client,
        &target.resource,
        &target.selection,
    ));
    let source = connection.observe(source);
    let mut browser = Browser {
        target,
        terminal,
        screen,
        following: Following::start(target, source, Arc::clone(&problems)),
        connection,
        problems,
        fetches: JoinSet::new(),
        started: Instant::now(),
        continued: Continued::listen()?,
    };
    let mut is_hung_up = false;
    let ended = tokio::select! {
        biased;
        signal = signals.next() => {
            is_hung_up = signal == Signal::HangUp;
            Ok(signal.exit_code())
        }
        () = passed(limit) => Ok(ExitCode::SUCCESS),
        ended = browser.run() => ended,
    };
    let Browser {
        terminal,
        following,
        ..
    } = browser;
    // The summary comes after the screen, if anything can.
    if terminal.close() && !is_hung_up {
        following.finish().await;
    }
    ended
}

struct Browser<'a> {
    target: &'a Target,
    terminal: AlternateScreen,
    screen: Screen,
    following: Following<Row>,
    connection: Connection,
    problems: Arc<Problems>,
    /// The requests for details.
    fetches: JoinSet<(ObjectName, Result<Unstructured, String>)>,
    started: Instant,
    continued: Continued,
}

impl Browser<'_> {
    async fn run(&mut self) -> io::Result<ExitCode> {
        let mut frames = interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                input = self.terminal.input() => {
                    if let Some(code) = self.take_input(input?) {
                        return Ok(code);
                    }
                }
                () = self.continued.next() => {
                    self.terminal.resume()?;
                    self.screen.resized();
                }
                _ = frames.tick() => self.draw()?,
                Some(fetched) = self.fetches.join_next() => {
                    if let Ok((name, object)) = fetched {
                        self.screen.fetched(&name, object);
                    }
                }
                change = self.following.next() => {
                    let Some(change) = change else {
                        return Ok(ExitCode::SUCCESS);
                    };
                    self.take_events(change);
                    // Signals are handled even during a flood of events.
                    tokio::task::yield_now().await;
                }
            }
            if let Some(name) = self.screen.take_wanted() {
                self.fetch(name);
            }
        }
    }

    fn take_input(&mut self, input: Input) -> Option<ExitCode> {
        let Input::Key(key) = input else {
            self.screen.resized();
            return None;
        };
        match self.screen.press(key) {
            Wish::Continue => None,
            Wish::Quit => Some(ExitCode::SUCCESS),
            Wish::Interrupt => Some(Signal::Interrupt.exit_code()),
        }
    }

    /// Takes in an event and those that wait behind it.
    fn take_events(&mut self, first: kubist_cache::ResourceEvent<Row>) {
        let now = self.now();
        let mut next = Some(first);
        let mut taken = 0;
        while let Some(change) = next.take() {
            self.screen.apply(&change, now);
            self.following.shown(&change);
            taken += 1;
            if taken < TURN_MAX {
                next = self.following.next().now_or_never().flatten();
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        self.following.has_synced();
        let link = self.connection.link();
        let shown = match link {
            Link::Live => PAST_PROBLEM_SHOWN,
            // A state, such as that the kind is not served, is reported only once.
            Link::Lost(time) => time.saturating_add(PAST_PROBLEM_SHOWN),
            _ => PROBLEM_SHOWN,
        };
        let problem = self.problems.last().filter(|(_, age)| *age < shown);
        self.screen.set_status(Status {
            version: self.following.version(),
            link,
            problem: problem.map(|(text, _)| text),
        });
        let now = self.now();
        if !self.terminal.is_ready()? || !self.screen.is_due(now) {
            return Ok(());
        }
        let screen = &mut self.screen;
        self.terminal.draw(|frame| screen.draw(frame, now))
    }

    fn fetch(&mut self, name: ObjectName) {
        let Target {
            client, resource, ..
        } = self.target;
        let all = Api::<Unstructured>::dynamic(client.clone(), resource);
        let api = if resource.namespaced {
            all.in_namespace(name.namespace.clone())
        } else {
            all
        };
        self.fetches.spawn(async move {
            let object = api.get(&name.name).await;
            (name, object.map_err(|error| with_causes(&error)))
        });
    }

    fn now(&self) -> Moment {
        Moment {
            at: self.started.elapsed(),
            clock: clock::now(),
        }
    }
}
