//! `Running`: one copy of a controller, as it is started, crashed and started again.

use crate::explore::ground::Standing;
use crate::explore::hub::{Copy, Hub, Signal};
use crate::explore::plan::Stale;
use crate::explore::problem::Problem;
use crate::explore::random::Random;
use crate::explore::scenario::Candidate;
use crate::explore::tap::{ClientTap, OldView};
use crate::faults::{Interposer, Sender, Tap};
use crate::login::Login;
use crate::story::What;
use futures_util::FutureExt as _;
use kubist::apimachinery::Str;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// One copy of a controller.
pub(crate) struct Running {
    pub(crate) copy: Copy,
    /// How often it has ended by itself.
    pub(crate) ends: u32,
    /// It was crashed or has ended, and is to be started again.
    pub(crate) is_down: bool,
    candidate: Candidate,
    login: Login,
    label: Str,
    tap: Option<Arc<ClientTap>>,
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Running {
    pub(crate) fn new(
        controller: usize,
        number: usize,
        candidate: &Candidate,
        login: Login,
    ) -> Self {
        Self {
            copy: Copy {
                controller,
                number,
                life: 0,
            },
            ends: 0,
            is_down: false,
            candidate: candidate.clone(),
            login,
            label: candidate.label(number).into(),
            tap: None,
            tasks: JoinSet::new(),
            stop: CancellationToken::new(),
        }
    }

    pub(crate) fn label(&self) -> &Str {
        &self.label
    }

    pub(crate) fn tap(&self) -> Option<&Arc<ClientTap>> {
        self.tap.as_ref()
    }

    /// Starts it, with caches that may begin at an older revision, not before `base`. Returns the
    /// view of the past that is to be lifted later.
    ///
    /// # Errors
    /// The client cannot be created.
    pub(crate) fn start(
        &mut self,
        standing: &Standing,
        hub: &Arc<Hub>,
        base: u64,
        stale: Option<Stale>,
    ) -> Result<(), Problem> {
        self.copy.life += 1;
        self.is_down = false;
        let now = standing.kv.stats().revision.0;
        let old_view = stale.map(|stale| OldView {
            revision: now.saturating_sub(stale.behind).max(base),
            lifted: CancellationToken::new(),
        });
        self.note_start(hub, now, old_view.as_ref());
        let tap = ClientTap::new(hub, self.copy, self.label.clone(), old_view);
        let tap = Arc::new(tap);
        let name: Str = self.candidate.name.as_str().into();
        let mut login = self.login.clone();
        login.user_agent = Some(name.clone());
        let sender = Sender {
            user: login.user.clone(),
            client: name.clone(),
        };
        let taps: Vec<Arc<dyn Tap>> = vec![Arc::clone(&tap) as _, Arc::new(hub.faults.clone())];
        let inner = standing.transport(&login)?;
        let transport = Interposer::transport(sender, Some(&name), taps, inner);
        let transport = transport.map_err(crate::explore::ground::setup)?;
        let Copy {
            controller,
            number,
            life,
        } = self.copy;
        let numbers = [controller as u64, number as u64, u64::from(life)];
        let seed = Random::new(hub.plan.seed).of("ambient", &numbers).next();
        let client = standing.client_over(transport, seed);
        self.stop = CancellationToken::new();
        let (factory, stop) = (Arc::clone(&self.candidate.factory), self.stop.clone());
        // The factory is called by the task: what it does at once belongs to the controller, too.
        let run = async move { factory(client, stop).await };
        let run = tap.frost.around(AssertUnwindSafe(run).catch_unwind());
        let (hub, copy) = (Arc::clone(hub), self.copy);
        self.tasks.spawn(async move {
            let ended = run.await;
            let ended = ended.unwrap_or_else(|_| Err("it panicked".to_owned()));
            hub.signal(Signal::Ended(copy, ended));
        });
        self.tap = Some(tap);
        Ok(())
    }

    fn note_start(&self, hub: &Hub, now: u64, old_view: Option<&OldView>) {
        let label = &self.label;
        hub.trace.note(|| {
            let text = match (self.copy.life, old_view) {
                (1, _) => format!("{label} starts"),
                (_, None) => format!("{label} starts again"),
                (_, Some(view)) => format!(
                    "{label} starts again; its caches begin at revision {}, {} behind",
                    view.revision,
                    now.saturating_sub(view.revision)
                ),
            };
            What::Controller(text)
        });
    }

    /// Drops its future, and whatever it owns.
    pub(crate) async fn crash(&mut self) {
        if let Some(tap) = &self.tap {
            tap.die();
        }
        self.tasks.shutdown().await;
        if let Some(tap) = &self.tap {
            tap.dropped();
        }
    }

    /// Reports what its wakers have noticed.
    pub(crate) fn check(&self, hub: &Hub) {
        let tap = self.tap.as_ref();
        if tap.is_some_and(|it| it.frost.was_woken_from_elsewhere()) {
            hub.report(Problem::Elsewhere {
                controller: self.candidate.name.clone(),
                what: "another thread has woken it".to_owned(),
            });
        }
    }

    /// Cancels its token, and waits until it has returned.
    pub(crate) async fn stop(&mut self, hub: &Hub, limit: Duration) {
        self.stop.cancel();
        if let Some(tap) = &self.tap {
            tap.frost.thaw();
        }
        let tasks = &mut self.tasks;
        let ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(limit, ended).await.is_err() && !hub.is_stopped() {
            hub.report(Problem::DoesNotStop {
                controller: self.candidate.name.clone(),
            });
        }
        self.crash().await;
    }
}
