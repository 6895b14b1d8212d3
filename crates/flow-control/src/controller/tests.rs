//! Tests of the controller: classes, seats and what waits for them.

use super::*;
use kubist_api::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_authorization::{Action, ResourceAction, User};

fn parse<K: Wire>(json: &str) -> K {
    K::from_json(json.as_bytes(), &mut DecodeContext::new()).expect("it is valid")
}

/// A level `busy` with a queue of its own for each user, and a schema for everybody.
fn configuration(shares: u32, queues: &str) -> Configuration {
    let mut configuration = Configuration::default();
    configuration.put_level(parse(&format!(
        r#"{{"metadata":{{"name":"busy","uid":"L"}},"spec":{{"type":"Limited","limited":{{
           "nominalConcurrencyShares":{shares},"limitResponse":{queues}}}}}}}"#
    )));
    configuration.put_schema(parse(
        r#"{"metadata":{"name":"everybody","uid":"S"},"spec":{
           "priorityLevelConfiguration":{"name":"busy"},"matchingPrecedence":500,
           "distinguisherMethod":{"type":"ByUser"},
           "rules":[{"subjects":[{"kind":"Group","group":{"name":"all"}}],
           "resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],
           "namespaces":["*"]}]}]}}"#,
    ));
    configuration
}

const QUEUES: &str =
    r#"{"type":"Queue","queuing":{"queues":64,"handSize":6,"queueLengthLimit":50}}"#;

fn user(name: &str, group: &str) -> User {
    User {
        name: name.into(),
        groups: vec![group.into()],
        ..User::default()
    }
}

fn get(user: &User) -> Attributes<'_> {
    let pods = ResourceAction {
        version: "v1",
        resource: "pods",
        namespace: "shop",
        ..ResourceAction::default()
    };
    Attributes {
        user,
        verb: "get",
        action: Action::Resource(pods),
    }
}

#[test]
fn requests_are_classified_by_precedence_and_the_rest_is_caught() {
    let mut flows = FlowController::new(10, &configuration(30, QUEUES));
    let class = |flows: &mut FlowController, user: &User| match flows.arrive(
        Duration::ZERO,
        &get(user),
        Work::ONE,
    ) {
        Arrival::Executes(class, execution) => {
            drop(flows.finish(Duration::ZERO, execution));
            class
        }
        other => panic!("{other:?}"),
    };
    let busy = class(&mut flows, &user("alice", "all"));
    assert_eq!(
        (&*busy.flow_schema_uid, &*busy.priority_level_uid),
        ("S", "L")
    );
    let exempt = class(&mut flows, &user("root", "system:masters"));
    assert_eq!(
        (&*exempt.flow_schema, &*exempt.priority_level),
        ("exempt", "exempt")
    );
    let rest = class(&mut flows, &user("eve", "nobody"));
    assert_eq!(
        (&*rest.flow_schema, &*rest.priority_level),
        ("catch-all", "catch-all")
    );
}

#[test]
fn a_schema_without_its_level_is_not_used() {
    let mut configuration = configuration(30, QUEUES);
    configuration.remove_level("busy");
    configuration.remove_level("exempt");
    assert!(!configuration.has_level("busy") && configuration.has_level("exempt"));
    let mut flows = FlowController::new(10, &configuration);
    let alice = user("alice", "all");
    let Arrival::Executes(class, _execution) =
        flows.arrive(Duration::ZERO, &get(&alice), Work::ONE)
    else {
        panic!("there are seats");
    };
    assert_eq!(&*class.flow_schema, "catch-all");
}

#[test]
fn a_waiting_request_goes_on_when_another_ends_or_gives_up() {
    // 5 of 6 seats; catch-all has the other.
    let mut flows = FlowController::new(6, &configuration(25, QUEUES));
    let alice = user("alice", "all");
    let mut running = Vec::new();
    let mut waiting = Vec::new();
    for _ in 0..7 {
        match flows.arrive(Duration::ZERO, &get(&alice), Work::ONE) {
            Arrival::Executes(_, execution) => running.push(execution),
            Arrival::Waits(_, ticket) => waiting.push(ticket),
            Arrival::Rejected(_, why) => panic!("{why}"),
        }
    }
    assert_eq!((running.len(), waiting.len()), (5, 2));
    let (waited, begun) = flows.cancel(Duration::from_secs(1), waiting[0]);
    assert!(waited && begun.is_empty());
    let ended = running.pop().expect("five run");
    let mut begun = flows.finish(Duration::from_secs(1), ended);
    assert_eq!(begun.len(), 1);
    let (ticket, execution) = begun.remove(0);
    assert_eq!(ticket, waiting[1]);
    assert!(
        !flows.cancel(Duration::from_secs(1), ticket).0,
        "it does not wait any more"
    );
    drop(flows.finish(Duration::from_secs(2), execution));
    let stats = flows
        .levels()
        .find(|it| *it.name == *"busy")
        .expect("it is there");
    assert_eq!(
        (stats.executing, stats.waiting, stats.nominal_seats),
        (4, 0, 5)
    );
}

#[test]
fn requests_are_shown_while_they_wait_and_while_they_are_handled() {
    let mut flows = FlowController::new(6, &configuration(25, QUEUES));
    let alice = user("alice", "all");
    let arrivals: Vec<_> = (0..6)
        .map(|second| flows.arrive(Duration::from_secs(second), &get(&alice), Work::ONE))
        .collect();
    let shown = |flows: &FlowController| -> Vec<_> {
        let all = flows.requests();
        all.map(|it| {
            (
                it.arrived.as_secs(),
                it.began.map(|it| it.as_secs()),
                it.place,
            )
        })
        .collect()
    };
    let last = flows.requests().last().expect("six are there");
    assert_eq!(&*last.distinguisher, "alice");
    assert_eq!(shown(&flows)[4..], [(4, Some(4), None), (5, None, Some(0))]);
    let queues: Vec<_> = flows
        .queues()
        .filter(|it| it.waiting + it.executing as usize > 0)
        .collect();
    assert_eq!(flows.queues().count(), 64);
    assert_eq!(queues.iter().map(|it| it.executing).sum::<u32>(), 5);
    assert_eq!(queues.iter().map(|it| it.waiting_seats).sum::<u32>(), 1);
    for arrival in arrivals {
        if let Arrival::Executes(_, execution) = arrival {
            let begun = flows.finish(Duration::from_secs(9), execution);
            for (_, execution) in begun {
                assert_eq!(shown(&flows).last(), Some(&(5, Some(9), None)));
                drop(flows.finish(Duration::from_secs(9), execution));
            }
        }
    }
    assert_eq!(flows.requests().count(), 0);
}

#[test]
fn a_busy_level_borrows_seats_and_gives_them_back() {
    let mut flows = FlowController::new(100, &{
        let mut both = configuration(50, QUEUES);
        both.put_level(parse::<PriorityLevelConfiguration>(
            r#"{"metadata":{"name":"lender"},"spec":{"type":"Limited","limited":{
               "nominalConcurrencyShares":45,"lendablePercent":100,
               "limitResponse":{"type":"Reject"}}}}"#,
        ));
        both
    });
    let limit = |flows: &FlowController, name: &str| {
        let mut levels = flows.levels();
        levels
            .find(|it| *it.name == *name)
            .map(|it| it.current_seats)
    };
    assert_eq!(limit(&flows, "busy"), Some(50));
    let alice = user("alice", "all");
    let mut running = Vec::new();
    for _ in 0..200 {
        if let Arrival::Executes(_, execution) =
            flows.arrive(Duration::ZERO, &get(&alice), Work::ONE)
        {
            running.push(execution);
        }
    }
    assert_eq!(running.len(), 50);
    let begun = flows.adjust(Duration::from_secs(10));
    assert_eq!(begun.len(), 45, "all but those of catch-all");
    running.extend(begun.into_iter().map(|(_, execution)| execution));
    assert_eq!(limit(&flows, "lender"), Some(1));
    for execution in running {
        drop(flows.finish(Duration::from_secs(11), execution));
    }
    drop(flows.adjust(Duration::from_secs(20)));
    assert!(limit(&flows, "busy") >= Some(50));
}

#[test]
fn a_removed_level_drains_and_its_place_is_used_again() {
    let mut flows = FlowController::new(10, &configuration(30, QUEUES));
    let alice = user("alice", "all");
    let Arrival::Executes(_, execution) = flows.arrive(Duration::ZERO, &get(&alice), Work::ONE)
    else {
        panic!("there are seats");
    };
    drop(flows.configure(Duration::ZERO, &Configuration::default()));
    assert_eq!(flows.levels().count(), 3, "it still runs there");
    drop(flows.finish(Duration::ZERO, execution));
    assert_eq!(flows.levels().count(), 2);
    let places = flows.levels.len();
    drop(flows.configure(Duration::ZERO, &configuration(30, QUEUES)));
    assert_eq!((flows.levels().count(), flows.levels.len()), (3, places));
}

#[test]
fn schemas_of_equal_precedence_are_asked_by_name() {
    let mut configuration = configuration(30, QUEUES);
    let mut earlier: FlowSchema = FlowSchema::default();
    earlier.clone_from(
        configuration
            .schemas()
            .find(|it| it.metadata.name == "everybody")
            .expect("it is there"),
    );
    earlier.metadata.name = "a-first".into();
    configuration.put_schema(earlier);
    let mut flows = FlowController::new(10, &configuration);
    let alice = user("alice", "all");
    match flows.arrive(Duration::ZERO, &get(&alice), Work::ONE) {
        Arrival::Executes(class, _execution) => assert_eq!(&*class.flow_schema, "a-first"),
        other => panic!("{other:?}"),
    }
}
