//! Who takes part: informers with their handlers, and the controller.

use super::{Defect, NAMESPACES, TIER, TIERS};
use crate::dice::Dice;
use kubist_cache::Selection;
use kubist_informers::{Config, Delivery, InitialSync, Overflow, QueueKind, Resync};
use std::time::Duration;

/// In what form an informer holds its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Decoded,
    Encoded,
    Metadata,
}

/// How a handler works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is called.
    Called,
    /// It is called, and each call waits for up to so long.
    Waits { pause_max: Duration },
    /// It asks for changes, and takes up to so long for each.
    Asks { pause_max: Duration },
}

/// One handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandlerPlan {
    pub(crate) delivery: Delivery,
    pub(crate) manner: Manner,
    pub(crate) resync: Option<Duration>,
}

/// One informer.
#[derive(Clone, Debug)]
pub(crate) struct InformerPlan {
    pub(crate) form: Form,
    pub(crate) queue: QueueKind,
    pub(crate) resync: Resync,
    pub(crate) selection: Selection,
    pub(crate) reflector: Config,
    /// Those that are added before the start.
    pub(crate) handlers: Vec<HandlerPlan>,
}

/// The controller.
#[derive(Clone, Debug)]
pub(crate) struct ControllerPlan {
    pub(crate) workers: usize,
    /// A manager runs it and its informers; they end together.
    pub(crate) managed: bool,
    pub(crate) keeps_backoff: bool,
    pub(crate) by_namespace: bool,
    pub(crate) reflector: Config,
    pub(crate) resync: Option<Duration>,
}

pub(super) fn informers(dice: &mut Dice) -> Vec<InformerPlan> {
    let count = dice.between(2, 4);
    (0..count).map(|_| informer(dice)).collect()
}

fn informer(dice: &mut Dice) -> InformerPlan {
    let mut selection = Selection::all();
    if dice.chance(30) {
        selection = selection.in_namespace(dice.pick(&NAMESPACES));
    }
    if dice.chance(50) {
        let selector = match dice.below(3) {
            0 => format!("{TIER}={}", TIERS[0]),
            1 => format!("{TIER} notin ({})", TIERS[1]),
            _ => format!("!{TIER}"),
        };
        selection = selection.with_labels(selector);
    }
    let handlers = dice.between(1, 3);
    InformerPlan {
        form: dice.pick(&[Form::Decoded, Form::Encoded, Form::Metadata]),
        queue: dice.pick(&[QueueKind::RealFifo, QueueKind::DeltaFifo]),
        resync: dice.pick(&[Resync::Exact, Resync::Checked(Duration::from_secs(10))]),
        selection,
        reflector: reflector(dice),
        handlers: (0..handlers).map(|_| handler(dice)).collect(),
    }
}

/// A reflector's choices; short times, so that a run sees many ends.
fn reflector(dice: &mut Dice) -> Config {
    let watch_timeout = dice.pick(&[5, 20, 60, 300]);
    Config {
        initial_sync: dice.pick(&[InitialSync::StreamingList, InitialSync::ListThenWatch]),
        page_size: dice.pick(&[None, Some(0), Some(1), Some(2), Some(5)]),
        watch_timeout: Duration::from_secs(watch_timeout),
        ..Config::default()
    }
}

pub(super) fn handler(dice: &mut Dice) -> HandlerPlan {
    let pending_max = dice.pick(&[1, 3, 8, 1000]);
    let delivery = match dice.below(6) {
        0..=2 => Delivery::Coalesced,
        3 => Delivery::EveryEvent { pending_max: 1000 },
        4 => Delivery::EveryEvent { pending_max },
        _ => Delivery::Bounded {
            pending_max,
            on_overflow: dice.pick(&[Overflow::Snapshot, Overflow::End]),
        },
    };
    let pause_max = Duration::from_millis(dice.pick(&[0, 100, 3_000, 30_000]));
    HandlerPlan {
        delivery,
        manner: dice.pick(&[
            Manner::Called,
            Manner::Waits { pause_max },
            Manner::Asks { pause_max },
        ]),
        resync: dice.chance(20).then_some(Duration::from_secs(7)),
    }
}

pub(super) fn controller(dice: &mut Dice) -> ControllerPlan {
    ControllerPlan {
        workers: dice.pick(&[1, 2, 4]),
        managed: dice.chance(30),
        keeps_backoff: dice.chance(30),
        by_namespace: dice.chance(30),
        reflector: reflector(dice),
        resync: dice.chance(20).then_some(Duration::from_secs(20)),
    }
}

/// Gives a defect something to show itself on.
pub(super) fn suit(informers: &mut [InformerPlan], defect: Defect) {
    let (delivery, manner) = match defect {
        Defect::HoardsChanges => {
            let pause_max = Duration::from_millis(1);
            (Delivery::Coalesced, Manner::Asks { pause_max })
        }
        Defect::SkipsSteps => (Delivery::EveryEvent { pending_max: 1000 }, Manner::Called),
        _ => (Delivery::Coalesced, Manner::Called),
    };
    for informer in informers {
        informer.selection = Selection::all();
        informer.handlers = vec![HandlerPlan {
            delivery,
            manner,
            resync: None,
        }];
    }
}
