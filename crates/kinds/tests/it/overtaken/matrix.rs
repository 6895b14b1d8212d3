//! Every mutating verb on kinds of every sort, with every other verb running before each of its
//! storage calls. The test reads the history of each object through a watch, and checks that each
//! commit was validated against the version that it replaced.

mod history;
mod rows;
mod verbs;

use super::*;
use history::{History, Outcome};
use rows::Row;
use std::sync::Arc;
use verbs::Verb;

/// Returns two servers that both serve the resources of all rows.
async fn servers() -> Arc<Pair> {
    let pair = Pair::new().await;
    define_widgets(&pair).await;
    pair
}

/// Pauses one verb before each of its storage calls, and runs another verb there.
async fn meet(pair: &Arc<Pair>, row: &'static Row, verb: Verb, other: Verb) {
    let runs = at_every_call_of(
        pair,
        async |pair: &Pair, at| {
            let name = format!("{}-{}-{at}", verb.word(), other.word());
            let history = History::begin(&pair.second, row).await;
            let before = row.make(&pair.second, &name, verb.needs_none()).await;
            (name, before, history)
        },
        async |pair: &Pair, (name, before, _)| verb.run(&pair.first, row, name, *before).await,
        |pair, (name, before, _)| {
            let (name, before) = (name.clone(), *before);
            Box::pin(async move { other.run(&pair.second, row, &name, before).await })
        },
        async |pair: &Pair, (name, before, history), ran, passed, at| {
            let events = history.end(&pair.second, row, &name).await;
            let mut outcomes = vec![Outcome { verb, ran }];
            outcomes.extend(passed.map(|ran| Outcome { verb: other, ran }));
            let place = format!("{} {verb:?} overtaken by {other:?} at {at}", row.plural);
            history::check(row, before, &events, &outcomes, &place);
        },
    )
    .await;
    assert!(runs > 1, "{} {verb:?} calls storage", row.plural);
}

async fn all(row: &'static Row) {
    let pair = servers().await;
    for verb in Verb::ALL {
        for other in Verb::ALL {
            if verb.suits(row) && other.suits(row) {
                meet(&pair, row, verb, other).await;
            }
        }
    }
}

macro_rules! rows {
    ($($name:ident => $row:ident),+ $(,)?) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $name() {
                all(&rows::$row).await;
            }
        )+
    };
}

rows! {
    config_maps_are_what_was_judged => CONFIG_MAPS,
    pods_with_a_grace_period_are_what_was_judged => PODS,
    deployments_are_what_was_judged => DEPLOYMENTS,
    services_with_their_claims_are_what_was_judged => SERVICES,
    events_with_a_time_to_live_are_what_was_judged => EVENTS,
    namespaces_are_what_was_judged => NAMESPACES,
    signing_requests_are_what_was_judged => SIGNING_REQUESTS,
    definitions_are_what_was_judged => DEFINITIONS,
    custom_resources_are_what_was_judged => WIDGETS,
}
