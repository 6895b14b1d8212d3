//! Plans of seeds.

use super::*;
use crate::faults::Sender;
use http::{Method, Request};

fn outline() -> Outline {
    let controller = Measured {
        name: "operator".to_owned(),
        copies: 1,
        writes: 5,
        requests: 20,
        events: 10,
        is_elected: false,
    };
    Outline {
        controllers: vec![controller],
        steps: 3,
    }
}

#[test]
fn a_seed_makes_the_same_plan_again() {
    for seed in 0..100 {
        let plan = Plan::of(seed, Kept::default(), &outline());
        assert_eq!(plan, Plan::of(seed, Kept::default(), &outline()));
        assert_eq!(plan.steps.len(), 3);
        assert!((1..=3).contains(&plan.faults.len()));
    }
}

#[test]
fn a_thousand_seeds_have_every_kind_of_fault_at_every_write() {
    let plans = (0..1000).map(|seed| Plan::of(seed, Kept::default(), &outline()));
    let faults: Vec<Fault> = plans.flat_map(|it| it.faults).collect();
    for write in 1..=8 {
        for done in [false, true] {
            let crashes = |it: &&Fault| {
                it.at == write && matches!(it.kind, FaultKind::Crash { done: is, .. } if is == done)
            };
            assert!(
                faults.iter().any(|it| crashes(&it)),
                "write {write}, {done}"
            );
        }
    }
    let is = |is: fn(&FaultKind) -> bool| faults.iter().any(|it| is(&it.kind));
    assert!(is(|it| matches!(it, FaultKind::Hold { relist: true, .. })));
    assert!(is(|it| matches!(
        it,
        FaultKind::Fail {
            failing: Failing::TimeoutAfter,
            ..
        }
    )));
    assert!(is(|it| matches!(it, FaultKind::Outage { .. })));
    assert!(
        !is(|it| matches!(it, FaultKind::Freeze { .. })),
        "nobody leads"
    );
}

#[test]
fn what_is_not_kept_is_left_out() {
    let kept = Kept {
        faults: Some(vec![]),
        steps: Some(vec![0, 2]),
        moved: BTreeMap::new(),
        no_delays: true,
        no_hurry: true,
    };
    let plan = Plan::of(7, kept, &outline());
    assert!(plan.faults.is_empty() && plan.delay_max.is_zero());
    assert_eq!(plan.steps, [(0, None), (2, None)]);
}

#[test]
fn a_moved_fault_strikes_elsewhere() {
    let kept = Kept {
        moved: BTreeMap::from([(0, 77), (9, 1)]),
        ..Kept::default()
    };
    let (plan, whole) = (
        Plan::of(7, kept, &outline()),
        Plan::of(7, Kept::default(), &outline()),
    );
    assert_eq!(plan.faults[0].at, 77);
    assert_eq!(plan.faults[0].kind, whole.faults[0].kind);
    assert_eq!(plan.faults[1..], whole.faults[1..]);
}

#[test]
fn a_fault_that_a_request_cannot_have_is_told_as_the_one_that_it_gets() {
    let fault = |failing| Fault {
        controller: 0,
        at: 3,
        kind: FaultKind::Fail {
            failing,
            of_writes: false,
        },
    };
    let told = |method: &Method, failing| {
        let path = "/api/v1/namespaces/default/configmaps/a";
        let path = if *method == Method::POST {
            path.trim_end_matches("/a")
        } else {
            path
        };
        let request = Request::builder().method(method).uri(path).body(());
        let call = Call::of(&Sender::default(), &request.unwrap());
        fault(failing).at_request(&call).describe("operator")
    };
    for (method, conflict, timeout) in [
        (Method::POST, "is answered 500", "is done, and answered 504"),
        (
            Method::DELETE,
            "is answered 500",
            "is done, and answered 504",
        ),
        (Method::PUT, "is answered 409", "is done, and answered 504"),
        (
            Method::PATCH,
            "is answered 409",
            "is done, and answered 504",
        ),
        (Method::GET, "is answered 500", "is answered 500"),
    ] {
        let begin = "operator's request 3";
        assert_eq!(
            told(&method, Failing::Conflict),
            format!("{begin} {conflict}")
        );
        assert_eq!(
            told(&method, Failing::TimeoutAfter),
            format!("{begin} {timeout}")
        );
    }
}
