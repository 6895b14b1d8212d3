//! Tests of requests that wait, give up and stall.

use super::*;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_authorization::{Action, User};
use std::pin::pin;
use tokio::time::sleep;

/// Everybody's requests have a level with this response, and most of ten seats.
fn one_level(response: &str) -> Configuration {
    let mut configuration = Configuration::default();
    let level = format!(
        r#"{{"metadata":{{"name":"busy"}},"spec":{{"type":"Limited","limited":{{
           "nominalConcurrencyShares":1,"limitResponse":{response}}}}}}}"#
    );
    configuration.put_level(parsed(&level));
    configuration.put_schema(parsed(
        r#"{"metadata":{"name":"all"},"spec":{"priorityLevelConfiguration":{"name":"busy"},
           "distinguisherMethod":{"type":"ByUser"},"matchingPrecedence":2,"rules":[{
           "subjects":[{"kind":"User","user":{"name":"*"}}],
           "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}}"#,
    ));
    configuration
}

fn parsed<K: Wire>(json: &str) -> K {
    K::from_json(json.as_bytes(), &mut DecodeContext::new()).expect("it is valid")
}

/// A flow control with one seat for this level.
fn flow_control(response: &str) -> Arc<FlowControl> {
    let flow = FlowControl::new(1);
    flow.configure(&one_level(response));
    flow
}

const QUEUE: &str = r#"{"type":"Queue","queuing":{"queues":1,"handSize":1,"queueLengthLimit":2}}"#;

async fn admit(flow: &Arc<FlowControl>, name: &str) -> Result<FlowSeat, Refused> {
    let user = User {
        name: name.into(),
        ..User::default()
    };
    let request = Attributes {
        user: &user,
        verb: "get",
        action: Action::Path("/"),
    };
    flow.admit(request, Work::ONE).await
}

fn waiting(flow: &FlowControl) -> usize {
    flow.state.lock().flows.levels().map(|it| it.waiting).sum()
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_its_seat_in_order() {
    let flow = flow_control(QUEUE);
    let first = admit(&flow, "a").await.expect("there is a seat");
    assert_eq!(&*first.class().priority_level, "busy");
    let (mut second, mut third) = (pin!(admit(&flow, "b")), pin!(admit(&flow, "c")));
    assert!(futures_util::poll!(&mut second).is_pending());
    assert!(futures_util::poll!(&mut third).is_pending());
    assert!(admit(&flow, "d").await.is_err(), "the queue is full");
    drop(first);
    let second = second.await.expect("its turn has come");
    assert!(futures_util::poll!(&mut third).is_pending());
    drop(second);
    drop(third.await.expect("its turn has come"));
    assert!(flow.state.lock().waiters.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_too_long_is_refused() {
    let flow = flow_control(QUEUE);
    let _seat = admit(&flow, "a").await.expect("there is a seat");
    let began = Instant::now();
    assert!(admit(&flow, "b").await.is_err());
    assert_eq!(began.elapsed(), WAIT_MAX);
    assert_eq!(waiting(&flow), 0);
    let no_queues = flow_control(r#"{"type":"Reject"}"#);
    let _seat = admit(&no_queues, "a").await.expect("there is a seat");
    let began = Instant::now();
    assert!(admit(&no_queues, "b").await.is_err());
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_gives_its_place_up() {
    let flow = flow_control(QUEUE);
    let seat = admit(&flow, "a").await.expect("there is a seat");
    {
        let mut leaves = pin!(admit(&flow, "b"));
        assert!(futures_util::poll!(&mut leaves).is_pending());
        assert_eq!(waiting(&flow), 1);
    }
    assert_eq!(waiting(&flow), 0);
    {
        let mut leaves = pin!(admit(&flow, "b"));
        assert!(futures_util::poll!(&mut leaves).is_pending());
        drop(seat); // it is let in, and does not look any more
    }
    drop(admit(&flow, "c").await.expect("the seat is free"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_accepts_nothing_loses_its_seat_to_one_that_waits() {
    let flow = flow_control(QUEUE);
    let mut slow = admit(&flow, "a").await.expect("there is a seat");
    slow.sending();
    sleep(STALLED / 2).await;
    slow.took();
    let began = Instant::now();
    let next = admit(&flow, "b")
        .await
        .expect("nobody reads the first answer");
    assert!(began.elapsed() >= STALLED);
    drop(slow);
    let mut third = pin!(admit(&flow, "c"));
    assert!(
        futures_util::poll!(&mut third).is_pending(),
        "a seat is given back once"
    );
    drop(next);
    drop(third.await.expect("the seat is free"));
}

#[tokio::test(start_paused = true)]
async fn what_waits_goes_on_by_another_configuration() {
    let flow = flow_control(QUEUE);
    let seat = admit(&flow, "a").await.expect("there is a seat");
    let mut waits = pin!(admit(&flow, "b"));
    assert!(futures_util::poll!(&mut waits).is_pending());
    let mut exempt = one_level(QUEUE);
    exempt.put_level(parsed(
        r#"{"metadata":{"name":"busy"},"spec":{"type":"Exempt","exempt":{}}}"#,
    ));
    flow.configure(&exempt);
    drop(admit(&flow, "c").await.expect("it is exempt"));
    let _second = admit(&flow, "d").await.expect("it is exempt");
    drop(seat);
    drop(waits.await.expect("its turn has come"));
}
