//! The correlator, asked and answered by hand.

use super::*;
use kubist_apimachinery::MicroTime;

const MINUTE: Duration = Duration::from_secs(60);

/// A correlator and its clock.
struct Desk {
    correlator: Correlator,
    now: Instant,
    begin: Instant,
}

impl Desk {
    fn new() -> Self {
        Self::with(EventBroadcasterConfig::default())
    }

    fn with(config: EventBroadcasterConfig) -> Self {
        let begin = tokio::time::Instant::now().into_std();
        Self {
            correlator: Correlator::new(config, 1, begin),
            now: begin,
            begin,
        }
    }

    fn observe(&mut self, object: &str, reason: &str) {
        let seconds = (self.now - self.begin).as_secs();
        let seconds = i64::try_from(seconds).expect("it is small");
        self.correlator
            .observe(self.now, event(object, reason, seconds));
    }

    fn write(&mut self) -> (EntryId, Write) {
        match self.correlator.poll(self.now) {
            Output::Write(id, write) => (id, write),
            Output::SleepUntil(_) => panic!("nothing is to be written"),
        }
    }

    /// Expects a create, and reports it as done.
    fn created(&mut self) -> Box<Event> {
        let (id, Write::Create(event)) = self.write() else {
            panic!("no create");
        };
        self.correlator.written(self.now, id, Outcome::Done);
        event
    }

    /// Expects a patch, reports it as done, and returns count and time.
    fn patched(&mut self) -> (i32, i64) {
        let (id, write) = self.write();
        self.correlator.written(self.now, id, Outcome::Done);
        series(&write)
    }

    fn sleep(&mut self) -> Duration {
        match self.correlator.poll(self.now) {
            Output::SleepUntil(at) => at - self.now,
            Output::Write(_, write) => panic!("{write:?}"),
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }
}

pub(super) fn event(object: &str, reason: &str, seconds: i64) -> Event {
    let mut event = Event::default();
    event.metadata.namespace = "shop".into();
    event.metadata.name = format!("{object}.{seconds}").into();
    event.regarding.name = object.into();
    event.reason = reason.into();
    event.event_time = Some(MicroTime::from_unix(seconds, 0));
    event
}

fn series(write: &Write) -> (i32, i64) {
    let Write::Patch { series, .. } = write else {
        panic!("no patch: {write:?}");
    };
    let time = series.last_observed_time.expect("it is set");
    (series.count, time.unix())
}

#[test]
fn the_second_event_makes_a_series_and_further_ones_are_counted() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    assert_eq!(desk.created().series, None);
    desk.pass(5 * MINUTE);
    desk.observe("web", "Failed");
    assert_eq!(desk.patched(), (2, 300));
    for _ in 0..10 {
        desk.pass(MINUTE);
        desk.observe("web", "Failed");
        assert!(desk.sleep() <= 6 * MINUTE);
    }
    assert_eq!(desk.sleep(), 6 * MINUTE, "the end of the series");
    desk.pass(6 * MINUTE);
    assert_eq!(desk.patched(), (12, 900), "its last count");
    desk.observe("web", "Failed");
    assert_eq!(desk.created().metadata.name, "web.1260", "another event");
    assert_eq!(desk.correlator.entries.len(), 1);
}

#[test]
fn a_lasting_series_is_written_every_thirty_minutes() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    desk.created();
    let mut patches = Vec::new();
    for _ in 0..62 {
        desk.pass(MINUTE);
        desk.observe("web", "Failed");
        while let Output::Write(id, write) = desk.correlator.poll(desk.now) {
            desk.correlator.written(desk.now, id, Outcome::Done);
            patches.push(series(&write).0);
        }
    }
    assert_eq!(patches, [2, 31, 61]);
}

/// Contract EVENT-3.
#[test]
fn a_series_that_begins_during_the_create_follows_it() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    let (id, _) = desk.write();
    desk.pass(MINUTE);
    desk.observe("web", "Failed");
    desk.observe("web", "Failed");
    desk.sleep(); // one write of an event at a time
    desk.correlator.written(desk.now, id, Outcome::Done);
    assert_eq!(desk.patched(), (3, 60));
}

#[test]
fn a_failed_create_is_attempted_twelve_times_with_what_is_known_by_then() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    desk.observe("web", "Failed");
    let failed = Outcome::Failed { after: None };
    let mut attempts = 0;
    while attempts < 12 {
        let (id, Write::Create(event)) = desk.write() else {
            panic!("it does not exist");
        };
        assert_eq!(event.series.expect("there are two").count, 2);
        attempts += 1;
        desk.correlator.written(desk.now, id, failed);
        let pause = desk.sleep();
        if attempts < 12 {
            let range = Duration::from_secs(10)..Duration::from_millis(12_500);
            assert!(range.contains(&pause), "{pause:?}");
            desk.pass(pause);
        }
    }
    assert!(desk.sleep() > MINUTE, "no more attempts");
    let stats = desk.correlator.stats();
    assert_eq!((stats.retried, stats.given_up, stats.created), (11, 1, 0));
}

#[test]
fn a_server_that_asks_for_a_longer_pause_gets_it() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    let (id, _) = desk.write();
    let after = Some(MINUTE);
    desk.correlator
        .written(desk.now, id, Outcome::Failed { after });
    assert_eq!(desk.sleep(), MINUTE);
}

#[test]
fn a_rejected_event_is_not_repeated() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    let (id, _) = desk.write();
    desk.correlator.written(desk.now, id, Outcome::Rejected);
    assert_eq!(desk.sleep(), 6 * MINUTE);
    assert_eq!(desk.correlator.stats().rejected, 1);
    desk.pass(6 * MINUTE);
    desk.sleep();
    assert!(desk.correlator.entries.is_empty());
}

#[test]
fn a_series_whose_event_is_gone_is_created_with_its_count() {
    let mut desk = Desk::new();
    desk.observe("web", "Failed");
    desk.created();
    desk.observe("web", "Failed");
    let (id, _) = desk.write();
    desk.correlator.written(desk.now, id, Outcome::Missing);
    let event = desk.created();
    assert_eq!(event.series.expect("it is a series").count, 2);
    assert_eq!(desk.correlator.stats().created, 2);
}

#[test]
fn an_object_with_too_many_events_gets_one_each_five_minutes() {
    let mut desk = Desk::new();
    for reason in 0..40 {
        desk.observe("web", &format!("Reason{reason}"));
    }
    desk.observe("db", "Reason");
    let created = (0..26).map(|_| desk.created()).count();
    assert_eq!(created, 26, "and the other object's");
    assert_eq!(desk.correlator.stats().filtered, 15);
    desk.pass(5 * MINUTE);
    desk.observe("web", "Late");
    desk.observe("web", "Later");
    assert_eq!(desk.created().reason, "Late");
    assert_eq!(desk.correlator.stats().filtered, 16);
}

#[test]
fn a_series_that_has_no_token_is_counted_and_written_later() {
    let mut desk = Desk::with(EventBroadcasterConfig {
        burst: 1,
        ..EventBroadcasterConfig::default()
    });
    desk.observe("web", "Failed");
    desk.created();
    desk.observe("web", "Failed");
    assert_eq!(desk.sleep(), 6 * MINUTE);
    desk.pass(6 * MINUTE);
    assert_eq!(desk.patched(), (2, 0));
}

/// Contract EVENT-2.
#[test]
fn full_queues_drop_new_events_and_old_series_make_room() {
    let mut desk = Desk::with(EventBroadcasterConfig {
        waiting_writes_max: 2,
        remembered_max: 3,
        concurrent_writes_max: 1,
        ..EventBroadcasterConfig::default()
    });
    for object in ["a", "b", "c"] {
        desk.observe(object, "Failed");
    }
    assert_eq!(desk.correlator.stats().dropped, 1);
    let (id, _) = desk.write();
    desk.sleep(); // one at a time
    desk.correlator.written(desk.now, id, Outcome::Done);
    desk.created();
    desk.observe("a", "Failed");
    desk.patched();
    desk.observe("a", "Failed"); // counted, not written
    for object in ["d", "e"] {
        desk.observe(object, "Failed"); // `b` makes room for `e`
        desk.created();
    }
    desk.observe("f", "Failed");
    assert_eq!(desk.patched(), (3, 0), "`a` made room");
    desk.created();
    assert_eq!(desk.correlator.entries.len(), 3);
}

#[test]
fn the_end_writes_all_counts_and_makes_one_attempt() {
    let mut desk = Desk::new();
    for _ in 0..5 {
        desk.observe("web", "Failed");
    }
    desk.created();
    desk.observe("web", "Failed");
    desk.observe("db", "Failed");
    let (id, _) = desk.write();
    let failed = Outcome::Failed { after: None };
    desk.correlator.written(desk.now, id, failed);
    desk.sleep(); // until the next attempt
    desk.correlator.drain(desk.now);
    let (id, _) = desk.write();
    desk.correlator.written(desk.now, id, failed);
    assert_eq!(desk.patched(), (6, 0));
    desk.observe("web", "Failed");
    assert_eq!(desk.patched(), (7, 0), "at once, now");
    assert!(desk.correlator.is_idle());
    assert_eq!(desk.correlator.stats().given_up, 1);
}
