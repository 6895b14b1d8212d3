//! `Due`: what a world has to do later, and what its clients tell it.

use super::World;
use crate::explore::hub::{Copy, Hold, Signal};
use crate::explore::plan::{FaultKind, Stale};
use crate::explore::problem::Problem;
use crate::explore::running::Running;
use crate::story::What;
use std::time::Duration;
use tokio::time::Instant;

/// The first pause before a controller that has ended is started again, as of a kubelet.
const RESTART_PAUSE: Duration = Duration::from_secs(10);
/// What has to be done at a time.
#[derive(Clone, Debug)]
pub(super) enum Due {
    Start(usize, Option<Stale>),
    CatchUp(usize, u32),
    Thaw(usize, u32),
    Release(usize, Hold),
}

impl World<'_> {
    /// Does what a client has told.
    pub(super) async fn handle(&mut self, signal: Signal) {
        match signal {
            Signal::Crash(copy, fault) => {
                let Some(index) = self.find(copy) else { return };
                self.copies[index].is_down = true;
                self.copies[index].crash().await;
                if let FaultKind::Crash { down, stale, .. } = fault.kind {
                    let at = Instant::now() + down;
                    self.due.push((at, Due::Start(index, stale)));
                }
            }
            Signal::Freeze(copy, time) => {
                let Some(index) = self.find(copy) else { return };
                let thaw = Due::Thaw(index, copy.life);
                self.due.push((Instant::now() + time, thaw));
            }
            Signal::Hold(controller, time, hold) => {
                let release = Due::Release(controller, hold);
                self.due.push((Instant::now() + time, release));
            }
            Signal::Ended(copy, ended) => self.ended(copy, ended).await,
            Signal::Stop => {}
        }
    }

    async fn ended(&mut self, copy: Copy, ended: Result<(), String>) {
        let Some(index) = self.find(copy) else { return };
        let limits = &self.terms.scenario.limits;
        let running = &mut self.copies[index];
        running.is_down = true;
        running.crash().await;
        running.ends += 1;
        let error = ended.err().unwrap_or_else(|| "without an error".to_owned());
        let label = running.label().clone();
        let text = format!("{label} ended by itself: {error}");
        self.hub.trace.note(|| What::Controller(text));
        if running.ends > limits.restarts {
            let controller = label.to_string();
            return self.hub.report(Problem::Ended { controller, error });
        }
        let pause = RESTART_PAUSE * running.ends.min(30);
        let start = Due::Start(index, None);
        self.due.push((Instant::now() + pause, start));
    }

    /// Returns the index of a copy, if it is in the same life and not down already: requests that
    /// were under way together may each have crashed it.
    fn find(&self, copy: Copy) -> Option<usize> {
        let is_it = |it: &Running| it.copy == copy && !it.is_down;
        self.copies.iter().position(is_it)
    }

    /// Does what was due.
    pub(super) fn act(&mut self, due: Due) {
        self.hub.ledger.lock().disturb();
        let of = |index: usize, life: u32| {
            let running = self.copies.get(index);
            running.filter(|it| it.copy.life == life)
        };
        match due {
            Due::Start(index, stale) => self.start(index, stale),
            Due::CatchUp(index, life) => {
                let Some(running) = of(index, life) else {
                    return;
                };
                let text = format!("the caches of {} catch up", running.label());
                self.hub.trace.note(|| What::Fault(text));
                running.tap().into_iter().for_each(|it| it.catch_up());
            }
            Due::Thaw(index, life) => {
                let Some(running) = of(index, life) else {
                    return;
                };
                let text = format!("{} goes on", running.label());
                self.hub.trace.note(|| What::Fault(text));
                running.tap().into_iter().for_each(|it| it.frost.thaw());
            }
            Due::Release(controller, hold) => {
                let text = format!("{} gets events again", self.hub.names[controller]);
                self.hub.trace.note(|| What::Fault(text));
                hold.released.cancel();
            }
        }
    }
}
