//! A sink in memory, which can be slow, out of reach or of another opinion.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kubist_api::events::v1::{Event, EventSeries};
use kubist_apimachinery::{Status, StatusReason};
use kubist_client::ApiError;
use kubist_events::EventSink;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct MemorySink {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) events: Vec<Event>,
    pub(crate) attempts: usize,
    /// Requests hang.
    pub(crate) is_out_of_reach: bool,
    /// How long an answer takes.
    pub(crate) latency: Duration,
    /// What the next answers are.
    pub(crate) refusals: Vec<i32>,
    /// Whether the next create is applied and not answered.
    pub(crate) loses_answer: bool,
}

impl MemorySink {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while it is held")
    }

    pub(crate) fn reasons(&self) -> Vec<String> {
        let state = self.state();
        state
            .events
            .iter()
            .map(|it| it.reason.to_string())
            .collect()
    }

    fn serve(
        &self,
        act: impl FnOnce(&mut State) -> Result<(), i32> + Send + 'static,
    ) -> BoxFuture<'_, Result<(), ApiError>> {
        async move {
            let (hangs, latency) = {
                let mut state = self.state();
                state.attempts += 1;
                (state.is_out_of_reach, state.latency)
            };
            if hangs {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(latency).await;
            let answer = {
                let mut state = self.state();
                if state.refusals.is_empty() {
                    act(&mut state)
                } else {
                    Err(state.refusals.remove(0))
                }
            };
            answer.map_err(|code| ApiError::Status(status(code).into()))
        }
        .boxed()
    }
}

fn status(code: i32) -> Status {
    let reason = match code {
        403 => StatusReason::Forbidden,
        404 => StatusReason::NotFound,
        409 => StatusReason::AlreadyExists,
        _ => StatusReason::InternalError,
    };
    Status::failure(code, reason, "as the test says".to_owned())
}

impl EventSink for MemorySink {
    fn create(&self, event: Event) -> BoxFuture<'_, Result<(), ApiError>> {
        self.serve(move |state| {
            let name = &event.metadata.name;
            if state.events.iter().any(|it| it.metadata.name == *name) {
                return Err(409);
            }
            state.events.push(event);
            if std::mem::take(&mut state.loses_answer) {
                return Err(500);
            }
            Ok(())
        })
    }

    fn set_series<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
        series: EventSeries,
    ) -> BoxFuture<'a, Result<(), ApiError>> {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        self.serve(move |state| {
            let is_it =
                |it: &&mut Event| it.metadata.name == *name && it.metadata.namespace == *namespace;
            let event = state.events.iter_mut().find(is_it).ok_or(404)?;
            event.series = Some(Box::new(series));
            Ok(())
        })
    }
}
