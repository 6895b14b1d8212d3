//! One machine, asked and answered by hand.

use super::*;
use crate::timing::Timing;
use kubist_apimachinery::MicroTime;
use std::collections::BTreeMap;
use std::time::Duration;

/// A machine and its clock.
struct Desk {
    machine: Machine,
    begin: Instant,
    now: Instant,
}

impl Desk {
    fn new() -> Self {
        let candidate = Candidate {
            identity: "me".into(),
            timing: Timing::DEFAULT,
            labels: BTreeMap::from([("app".into(), "operator".into())]),
            seed: 1,
        };
        let begin = tokio::time::Instant::now().into_std();
        Self {
            machine: Machine::new(candidate, begin),
            begin,
            now: begin,
        }
    }

    /// One that leads since 0 s, with the lease at version 1.
    fn leading() -> (Self, Lease) {
        let mut desk = Self::new();
        assert_eq!(desk.poll(), Output::Read);
        desk.answer(Answer::NotFound);
        let lease = desk.create();
        let lease = versioned(lease, "1");
        desk.answer(Answer::Lease(lease.clone().into()));
        let begun = Begun {
            transitions: 0,
            resource_version: "1".into(),
            until: desk.at(10_000),
        };
        assert_eq!(desk.poll(), Output::NewLeader(Some("me".into())));
        assert_eq!(desk.poll(), Output::BecameLeader(begun));
        (desk, lease)
    }

    fn at(&self, milliseconds: u64) -> Instant {
        self.begin + Duration::from_millis(milliseconds)
    }

    fn moment(&self) -> Now {
        let since = self.now - self.begin;
        let seconds = i64::try_from(since.as_secs()).expect("it is small");
        Now {
            instant: self.now,
            time: MicroTime::from_unix(1_000 + seconds, 0),
        }
    }

    fn poll(&mut self) -> Output {
        let moment = self.moment();
        self.machine.poll(moment)
    }

    fn answer(&mut self, answer: Answer) {
        let moment = self.moment();
        self.machine.answered(moment, answer);
    }

    /// Lets time pass until `milliseconds` after the beginning.
    fn pass(&mut self, milliseconds: u64) {
        self.now = self.at(milliseconds);
    }

    /// Sleeps once, and returns for how long.
    fn sleep(&mut self) -> Duration {
        let Output::SleepUntil(at) = self.poll() else {
            panic!("it does not sleep");
        };
        let slept = at - self.now;
        self.now = at;
        slept
    }

    fn update(&mut self) -> Lease {
        match self.poll() {
            Output::Update(lease) => *lease,
            other => panic!("no update: {other:?}"),
        }
    }

    fn create(&mut self) -> Lease {
        match self.poll() {
            Output::Create(lease) => *lease,
            other => panic!("no create: {other:?}"),
        }
    }
}

fn versioned(mut lease: Lease, version: &str) -> Lease {
    lease.metadata.resource_version = version.into();
    lease
}

fn held_by(holder: &str, version: &str) -> Lease {
    let mut lease = versioned(Lease::default(), version);
    lease.spec.holder_identity = Some(holder.into());
    lease.spec.lease_duration_seconds = Some(15);
    lease.spec.lease_transitions = Some(4);
    lease.spec.acquire_time = Some(MicroTime::from_unix(1, 0));
    lease.spec.renew_time = Some(MicroTime::from_unix(1, 0)); // long ago, by the wall clock
    lease
}

fn read(lease: &Lease) -> Answer {
    Answer::Lease(lease.clone().into())
}

#[test]
fn the_first_leader_creates_the_lease() {
    let (mut desk, lease) = Desk::leading();
    let now = Some(MicroTime::from_unix(1_000, 0));
    assert_eq!(lease.spec.holder_identity.as_deref(), Some("me"));
    assert_eq!(lease.spec.lease_duration_seconds, Some(15));
    assert_eq!((lease.spec.acquire_time, lease.spec.renew_time), (now, now));
    assert_eq!(lease.spec.lease_transitions, Some(0));
    assert_eq!(lease.metadata.labels["app"], "operator");
    assert_eq!(desk.sleep(), Duration::from_secs(2));
}

#[test]
fn a_lease_counts_from_when_its_record_was_seen_to_change_not_from_its_times() {
    let mut desk = Desk::new();
    let mut reads = 0;
    let taken = loop {
        match desk.poll() {
            Output::Read => {
                reads += 1;
                // Somebody labels it all the time, which is not a renewal.
                desk.answer(read(&held_by("other", &format!("{reads}"))));
            }
            Output::NewLeader(leader) => assert_eq!(leader.as_deref(), Some("other")),
            Output::SleepUntil(at) => {
                let pause = at - desk.now;
                let range = Duration::from_secs(2)..Duration::from_millis(4_400);
                assert!(range.contains(&pause), "{pause:?}");
                desk.now = at;
            }
            Output::Update(lease) => break lease,
            other => panic!("{other:?}"),
        }
    };
    let waited = desk.now - desk.begin;
    assert!((15..20).contains(&waited.as_secs()), "{waited:?}");
    assert_eq!(taken.metadata.resource_version, reads.to_string().as_str());
    assert_eq!(taken.spec.lease_transitions, Some(5));
    assert_eq!(taken.spec.acquire_time, taken.spec.renew_time);
}

#[test]
fn a_lease_that_was_given_up_is_taken_at_once() {
    let mut desk = Desk::new();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&held_by("", "7")));
    assert_eq!(desk.update().spec.lease_transitions, Some(5));
}

#[test]
fn a_renewal_is_one_request_and_keeps_the_beginning_of_the_term() {
    let (mut desk, first) = Desk::leading();
    desk.sleep();
    let renewed = desk.update();
    assert_eq!(renewed.metadata.resource_version, "1");
    assert_eq!(renewed.spec.acquire_time, first.spec.acquire_time);
    assert_eq!(renewed.spec.lease_transitions, Some(0));
    let later = Some(MicroTime::from_unix(1_002, 0));
    assert_eq!(renewed.spec.renew_time, later);
    desk.pass(5_000); // the server was slow: the term counts from the request
    desk.answer(read(&versioned(renewed, "2")));
    let until = desk.at(12_000);
    assert_eq!(desk.poll(), Output::Renewed { until });
    assert_eq!(desk.sleep(), Duration::from_secs(2));
}

#[test]
fn a_failed_renewal_reads_at_once_and_then_each_period() {
    let (mut desk, lease) = Desk::leading();
    desk.sleep();
    desk.update();
    desk.answer(Answer::Conflict);
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&versioned(lease, "5")));
    assert_eq!(desk.update().metadata.resource_version, "5");
    desk.answer(Answer::Failed("503".into()));
    assert_eq!(desk.sleep(), Duration::from_secs(2));
    desk.update();
    desk.answer(Answer::Failed("503".into()));
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(Answer::Failed("no route".into()));
    assert_eq!(desk.sleep(), Duration::from_secs(2));
    desk.pass(10_000);
    let reason = LostReason::DeadlineExceeded {
        renew_deadline: Duration::from_secs(10),
        problem: Some("no route".into()),
    };
    assert_eq!(desk.poll(), Output::Lost(reason));
    assert_eq!(desk.machine.counts().slow_paths, 2);
}

#[test]
fn a_server_that_does_not_answer_cannot_prolong_the_term() {
    let (mut desk, lease) = Desk::leading();
    desk.sleep();
    desk.update();
    assert_eq!(
        desk.sleep(),
        Duration::from_secs(5),
        "the limit of a request"
    );
    assert_eq!(desk.poll(), Output::Read);
    assert_eq!(desk.sleep(), Duration::from_secs(3), "the end of the term");
    desk.answer(read(&lease)); // too late
    assert!(matches!(desk.poll(), Output::Lost(_)));
}

#[test]
fn a_confirmation_that_comes_after_the_deadline_prolongs_nothing() {
    let (mut desk, _) = Desk::leading();
    desk.sleep();
    let renewed = versioned(desk.update(), "2");
    desk.pass(10_500); // the process slept; the answer waits for it
    desk.answer(read(&renewed));
    assert!(matches!(desk.poll(), Output::Lost(_)));
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&renewed));
    let again = desk.update();
    assert_eq!(
        again.spec.lease_transitions,
        Some(1),
        "another term, another number"
    );
}

#[test]
fn a_lease_that_was_acquired_too_slowly_is_acquired_again() {
    let mut desk = Desk::new();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(Answer::NotFound);
    let lease = versioned(desk.create(), "1");
    desk.pass(10_000);
    desk.answer(read(&lease));
    assert_eq!(desk.poll(), Output::NewLeader(Some("me".into())));
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&lease));
    assert_eq!(desk.update().spec.lease_transitions, Some(1));
}

#[test]
fn a_lease_whose_acquisition_was_not_confirmed_is_known_as_ones_own() {
    let mut desk = Desk::new();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(Answer::NotFound);
    let lease = versioned(desk.create(), "1");
    desk.answer(Answer::Failed("the connection broke".into()));
    desk.sleep();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&lease));
    assert_eq!(desk.poll(), Output::NewLeader(Some("me".into())));
    assert_eq!(desk.update().metadata.resource_version, "1");
}

#[test]
fn another_process_with_the_same_identity_is_another_process() {
    let mut desk = Desk::new();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&held_by("me", "7")));
    assert_eq!(desk.poll(), Output::NewLeader(Some("me".into())));
    assert!(desk.sleep() >= Duration::from_secs(2), "it waits");
}

#[test]
fn a_record_that_names_somebody_else_ends_the_term() {
    let (mut desk, _) = Desk::leading();
    desk.sleep();
    desk.update();
    desk.answer(Answer::Conflict);
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&held_by("other", "9")));
    assert_eq!(desk.poll(), Output::NewLeader(Some("other".into())));
    let holder = "other".into();
    assert_eq!(desk.poll(), Output::Lost(LostReason::Superseded { holder }));
    assert!(desk.sleep() >= Duration::from_secs(2));
    assert_eq!(desk.poll(), Output::Read);
}

#[test]
fn a_deleted_lease_is_created_again_by_its_holder_and_by_others_only_later() {
    let (mut desk, first) = Desk::leading();
    desk.sleep();
    desk.update();
    desk.answer(Answer::NotFound);
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(Answer::NotFound);
    let again = desk.create();
    assert_eq!(again.spec.acquire_time, first.spec.acquire_time);
    desk.answer(read(&versioned(again, "12")));
    assert!(matches!(desk.poll(), Output::Renewed { .. }));

    let mut desk = Desk::new();
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&held_by("other", "7")));
    assert!(matches!(desk.poll(), Output::NewLeader(_)));
    let created = loop {
        match desk.poll() {
            Output::SleepUntil(at) => desk.now = at,
            Output::Read => desk.answer(Answer::NotFound),
            Output::Create(lease) => break lease,
            other => panic!("{other:?}"),
        }
    };
    assert!(desk.now - desk.begin >= Duration::from_secs(15));
    assert_eq!(created.spec.lease_transitions, Some(5), "the count goes on");
}

#[test]
fn a_stop_gives_the_lease_up() {
    let (mut desk, _) = Desk::leading();
    desk.machine.stop(desk.now, true);
    let given_up = desk.update();
    assert_eq!(given_up.spec.holder_identity.as_deref(), Some(""));
    assert_eq!(given_up.spec.lease_duration_seconds, Some(1));
    assert_eq!(given_up.spec.lease_transitions, Some(0));
    desk.answer(Answer::Conflict);
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&versioned(given_up, "3"))); // the first attempt had been applied
    assert_eq!(desk.poll(), Output::NewLeader(None));
    assert_eq!(desk.poll(), Output::Finished { released: true });
}

#[test]
fn a_stop_during_a_renewal_reads_what_became_of_it() {
    let (mut desk, _) = Desk::leading();
    desk.sleep();
    let renewed = desk.update();
    desk.machine.stop(desk.now, true);
    assert_eq!(desk.poll(), Output::Read);
    desk.answer(read(&versioned(renewed, "2")));
    let given_up = desk.update();
    assert_eq!(given_up.metadata.resource_version, "2");
    desk.answer(read(&versioned(given_up, "3")));
    assert_eq!(desk.poll(), Output::NewLeader(None));
    assert_eq!(desk.poll(), Output::Finished { released: true });
}

#[test]
fn a_stop_ends_in_time_and_without_release_at_once() {
    let (mut desk, _) = Desk::leading();
    desk.machine.stop(desk.now, true);
    let finished = loop {
        match desk.poll() {
            Output::SleepUntil(at) => desk.now = at,
            Output::Read | Output::Update(_) => {}
            other => break other,
        }
    };
    assert_eq!(finished, Output::Finished { released: false });
    assert_eq!(
        desk.now,
        desk.at(10_000),
        "the renew deadline after the stop"
    );

    let (mut desk, _) = Desk::leading();
    desk.machine.stop(desk.now, false);
    assert_eq!(desk.poll(), Output::Finished { released: false });
    let mut desk = Desk::new();
    desk.machine.stop(desk.now, true);
    assert_eq!(desk.poll(), Output::Finished { released: false });
}

#[test]
fn a_release_that_always_conflicts_is_no_storm() {
    let (mut desk, lease) = Desk::leading();
    desk.machine.stop(desk.now, true);
    let mut requests = 0;
    loop {
        match desk.poll() {
            Output::Read => desk.answer(read(&lease)),
            Output::Update(_) => desk.answer(Answer::Conflict),
            Output::SleepUntil(at) => desk.now = at,
            _ => break,
        }
        requests += 1;
        assert!(requests < 50, "it does not pause");
    }
}
