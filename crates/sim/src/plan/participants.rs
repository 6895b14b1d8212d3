//! The participants of a run: informers with their handlers, and the controller.

use super::{Defect, NAMESPACES, TIER, TIERS};
use crate::rng::SimRng;
use kubist_cache::Selection;
use kubist_informers::{Config, Delivery, InitialSync, Overflow, QueueKind, Resync};
use std::time::Duration;

/// The stored form of an informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Decoded,
    Encoded,
    Metadata,
}

/// How a handler is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerMode {
    /// Synchronously.
    Called,
    /// Asynchronously, with a pause of up to this time per call.
    Waits { pause_max: Duration },
    /// As a subscription, with a pause of up to this time per event.
    Asks { pause_max: Duration },
}

/// The plan of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandlerPlan {
    pub(crate) delivery: Delivery,
    pub(crate) mode: HandlerMode,
    pub(crate) resync: Option<Duration>,
}

/// The plan of an informer.
#[derive(Clone, Debug)]
pub(crate) struct InformerPlan {
    pub(crate) form: Form,
    pub(crate) queue: QueueKind,
    pub(crate) resync: Resync,
    pub(crate) selection: Selection,
    pub(crate) reflector: Config,
    /// The handlers that are added before the start.
    pub(crate) handlers: Vec<HandlerPlan>,
}

/// The plan of the controller.
#[derive(Clone, Debug)]
pub(crate) struct ControllerPlan {
    pub(crate) workers: usize,
    /// Whether a manager runs it and its informers, which stop together.
    pub(crate) managed: bool,
    pub(crate) keeps_backoff: bool,
    pub(crate) by_namespace: bool,
    pub(crate) reflector: Config,
    pub(crate) resync: Option<Duration>,
}

pub(super) fn informers(rng: &mut SimRng) -> Vec<InformerPlan> {
    let count = rng.between(2, 4);
    (0..count).map(|_| informer(rng)).collect()
}

fn informer(rng: &mut SimRng) -> InformerPlan {
    let mut selection = Selection::all();
    if rng.chance(30) {
        selection = selection.in_namespace(rng.pick(&NAMESPACES));
    }
    if rng.chance(50) {
        let selector = match rng.below(3) {
            0 => format!("{TIER}={}", TIERS[0]),
            1 => format!("{TIER} notin ({})", TIERS[1]),
            _ => format!("!{TIER}"),
        };
        selection = selection.with_labels(selector);
    }
    let handlers = rng.between(1, 3);
    InformerPlan {
        form: rng.pick(&[Form::Decoded, Form::Encoded, Form::Metadata]),
        queue: rng.pick(&[QueueKind::RealFifo, QueueKind::DeltaFifo]),
        resync: rng.pick(&[Resync::Exact, Resync::Checked(Duration::from_secs(10))]),
        selection,
        reflector: reflector(rng),
        handlers: (0..handlers).map(|_| handler(rng)).collect(),
    }
}

/// Chooses a reflector's configuration, with short times so that a run has many retries.
fn reflector(rng: &mut SimRng) -> Config {
    let watch_timeout = rng.pick(&[5, 20, 60, 300]);
    Config {
        initial_sync: rng.pick(&[InitialSync::StreamingList, InitialSync::ListThenWatch]),
        page_size: rng.pick(&[None, Some(0), Some(1), Some(2), Some(5)]),
        watch_timeout: Duration::from_secs(watch_timeout),
        ..Config::default()
    }
}

pub(super) fn handler(rng: &mut SimRng) -> HandlerPlan {
    let pending_max = rng.pick(&[1, 3, 8, 1000]);
    let delivery = match rng.below(6) {
        0..=2 => Delivery::Coalesced,
        3 => Delivery::EveryEvent { pending_max: 1000 },
        4 => Delivery::EveryEvent { pending_max },
        _ => Delivery::Bounded {
            pending_max,
            on_overflow: rng.pick(&[Overflow::Snapshot, Overflow::End]),
        },
    };
    let pause_max = Duration::from_millis(rng.pick(&[0, 100, 3_000, 30_000]));
    HandlerPlan {
        delivery,
        mode: rng.pick(&[
            HandlerMode::Called,
            HandlerMode::Waits { pause_max },
            HandlerMode::Asks { pause_max },
        ]),
        resync: rng.chance(20).then_some(Duration::from_secs(7)),
    }
}

pub(super) fn controller(rng: &mut SimRng) -> ControllerPlan {
    ControllerPlan {
        workers: rng.pick(&[1, 2, 4]),
        managed: rng.chance(30),
        keeps_backoff: rng.chance(30),
        by_namespace: rng.chance(30),
        reflector: reflector(rng),
        resync: rng.chance(20).then_some(Duration::from_secs(20)),
    }
}

/// Adapts the informers so that a defect can show.
pub(super) fn suit(informers: &mut [InformerPlan], defect: Defect) {
    let (delivery, mode) = match defect {
        Defect::HoardsChanges => {
            let pause_max = Duration::from_millis(1);
            (Delivery::Coalesced, HandlerMode::Asks { pause_max })
        }
        Defect::SkipsSteps => (
            Delivery::EveryEvent { pending_max: 1000 },
            HandlerMode::Called,
        ),
        _ => (Delivery::Coalesced, HandlerMode::Called),
    };
    for informer in informers {
        informer.selection = Selection::all();
        informer.handlers = vec![HandlerPlan {
            delivery,
            mode,
            resync: None,
        }];
    }
}
