//! The screen by its frames.

mod odd;

use super::super::row::tests::{columns, row};
use super::*;
use kubist_cache::Deleted;
use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};
use ratatui_core::terminal::Terminal;
use serde_json::json;
use std::sync::Arc;

struct Shown {
    screen: Screen,
    terminal: Terminal<TestBackend>,
    columns: super::super::row::Columns,
    at: Duration,
}

impl Shown {
    /// Pods on a screen of this size, with the status of a live watch.
    fn new(width: u16, height: u16) -> Self {
        let resource = ApiResource {
            plural: "pods".into(),
            kind: "Pod".into(),
            version: "v1".into(),
            namespaced: true,
            ..ApiResource::default()
        };
        let mut screen = Screen::new(&resource, "kind-1", true, false);
        screen.set_status(status("42", Link::Live, None));
        Self {
            screen,
            terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
            columns: columns(&["Name", "Ready", "Age", "+IP"]),
            at: Duration::ZERO,
        }
    }

    fn row(&self, name: &str, ready: &str) -> Arc<Row> {
        Arc::new(row(&self.columns, name, &[name, ready, "", "::1"]))
    }

    fn now(&self) -> Moment {
        let clock = Time::from_unix(i64::try_from(self.at.as_secs()).unwrap());
        Moment { at: self.at, clock }
    }

    fn list(&mut self, name: &str) {
        let (object, now) = (self.row(name, "0/1"), self.now());
        let initial = true;
        self.screen
            .apply(&ResourceEvent::Added { object, initial }, now);
    }

    fn update(&mut self, name: &str, ready: &str) {
        let (old, new, now) = (self.row(name, "0/1"), self.row(name, ready), self.now());
        self.screen.apply(&ResourceEvent::Updated { old, new }, now);
    }

    /// As a relist finds it: its last state is not always known.
    fn delete(&mut self, name: &str) {
        let (name, now) = (ObjectName::new("shop", name), self.now());
        let last_known = None;
        let deleted = ResourceEvent::Deleted(Deleted::FinalStateUnknown { name, last_known });
        self.screen.apply(&deleted, now);
    }

    fn press(&mut self, keys: &[Key]) {
        for key in keys {
            assert_eq!(self.screen.press(*key), Wish::Continue, "{key:?}");
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.at += Duration::from_secs(seconds);
    }

    fn frame(&mut self) -> Buffer {
        let now = self.now();
        self.terminal
            .draw(|frame| self.screen.draw(frame, now))
            .unwrap();
        self.terminal.backend().buffer().clone()
    }

    fn lines(&mut self) -> Vec<String> {
        let buffer = self.frame();
        let width = usize::from(buffer.area.width);
        let lines = buffer.content().chunks(width);
        let lines = lines.map(|line| line.iter().map(Cell::symbol).collect::<String>());
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    /// The names of the visible rows.
    fn names(&mut self) -> Vec<String> {
        let lines = self.lines();
        let rows = lines[2..lines.len() - 1].iter();
        let names = rows.filter_map(|line| Some(line.split_whitespace().nth(1)?.to_owned()));
        names.collect()
    }

    /// The name in the row that is reversed.
    fn selected(&mut self) -> String {
        let buffer = self.frame();
        let reversed = |y: &u16| buffer[(0, *y)].modifier.contains(Modifier::REVERSED);
        let y = (2..buffer.area.height).find(reversed).expect("a selection");
        let line = &self.lines()[usize::from(y)];
        line.split_whitespace().nth(1).expect("a name").to_owned()
    }
}

fn status(version: &str, link: Link, problem: Option<String>) -> Status {
    let version = version.to_owned();
    Status {
        version,
        link,
        problem,
    }
}

#[test]
fn rows_are_sorted_below_a_title_and_headings() {
    let mut shown = Shown::new(70, 6);
    shown.list("web-1");
    shown.list("api");
    shown.pass(90);
    assert_eq!(
        shown.lines(),
        [
            "pods  kind-1  live  2 objects  version 42",
            "NAMESPACE   NAME    READY   AGE",
            "shop        api     0/1     90s",
            "shop        web-1   0/1     90s",
            "",
            "↑↓ jk: move  Enter: details  /: filter  w: wide  q: quit",
        ]
    );
    shown.press(&[Key::Char('w')]);
    assert!(shown.lines()[1].ends_with("AGE   IP"), "wide");
}

#[test]
fn what_has_changed_is_marked_for_a_moment() {
    let mut shown = Shown::new(70, 6);
    shown.list("api");
    shown.list("web");
    let ready = |shown: &mut Shown| shown.frame()[(19, 3)].fg;
    shown.press(&[Key::Home]);
    assert_eq!(ready(&mut shown), Color::Reset);
    shown.update("web", "1/1");
    assert!(shown.lines()[3].contains("1/1"));
    assert_eq!(ready(&mut shown), Color::Yellow);
    assert_eq!(
        shown.frame()[(12, 3)].fg,
        Color::Reset,
        "the name is as before"
    );
    shown.pass(2);
    shown.update("web", "1/1");
    assert_eq!(
        ready(&mut shown),
        Color::Yellow,
        "an update of something else"
    );
    shown.pass(3);
    assert!(shown.screen.is_due(shown.now()));
    assert_eq!(ready(&mut shown), Color::Reset);

    shown.delete("web");
    let buffer = shown.frame();
    assert_eq!(
        buffer[(12, 3)].fg,
        Color::Red,
        "deleted, and still to be seen"
    );
    shown.pass(3);
    assert_eq!(shown.names(), ["api"]);
}

#[test]
fn the_selection_stays_with_its_object_and_moves_when_that_is_gone() {
    let mut shown = Shown::new(70, 7);
    for name in ["b", "d", "f"] {
        shown.list(name);
    }
    assert_eq!(shown.selected(), "b");
    shown.press(&[Key::Char('j')]);
    assert_eq!(shown.selected(), "d");
    shown.list("a");
    shown.list("c");
    assert_eq!(shown.names(), ["a", "b", "c", "d"]);
    shown.delete("d");
    shown.pass(3);
    assert_eq!(shown.selected(), "f");
    assert_eq!(shown.names(), ["a", "b", "c", "f"], "no empty line below");
    shown.press(&[Key::End, Key::Up, Key::Up]);
    assert_eq!(shown.selected(), "b");
    shown.press(&[Key::PageUp, Key::Up]);
    assert_eq!(shown.selected(), "a");
}

#[test]
fn of_many_rows_those_around_the_selection_are_drawn() {
    let mut shown = Shown::new(70, 23);
    for number in 0..10_000 {
        shown.list(&format!("pod-{number:04}"));
    }
    assert_eq!(shown.names().len(), 20);
    shown.press(&[Key::PageDown, Key::Down]);
    assert_eq!(shown.names()[19], "pod-0021");
    shown.press(&[Key::Up; 3]);
    assert_eq!(shown.names()[0], "pod-0002", "scrolled only as needed");
    shown.press(&[Key::End]);
    assert_eq!(shown.selected(), "pod-9999");
    shown.terminal.backend_mut().resize(70, 6);
    shown.screen.resized();
    assert_eq!(shown.names(), ["pod-9997", "pod-9998", "pod-9999"]);
}

#[test]
fn a_filter_is_typed_kept_and_cleared() {
    let mut shown = Shown::new(70, 8);
    for name in ["api", "quota", "web"] {
        shown.list(name);
    }
    shown.press(&[Key::Char('/'), Key::Char('q'), Key::Char('U')]);
    assert_eq!(shown.names(), ["quota"], "q is text here");
    assert!(shown.lines()[0].contains("1 of 3 objects"));
    assert!(shown.lines()[7].starts_with("/qu"), "{:?}", shown.lines());
    shown.press(&[Key::Enter]);
    shown.list("quick");
    shown.list("other");
    shown.delete("quota");
    assert_eq!(
        shown.names(),
        ["quick", "quota"],
        "new rows are filtered, too"
    );
    shown.pass(3);
    assert_eq!(shown.names(), ["quick"]);
    shown.press(&[Key::Escape]);
    assert_eq!(shown.names().len(), 4);
    assert_eq!(shown.screen.press(Key::Char('q')), Wish::Quit);
    shown.press(&[Key::Char('/')]);
    assert_eq!(shown.screen.press(Key::Interrupt), Wish::Interrupt);
}

fn object() -> Unstructured {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web", "namespace": "shop", "labels": {"app": "web"},
            "finalizers": ["example.com/clean-up"], "managedFields": [{"manager": "m"}],
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs",
                "uid": "u", "controller": true}],
        },
        "status": {"conditions": [
            {"type": "Ready", "status": "Unknown", "reason": "Silent", "message": "no\nword",
                "lastTransitionTime": "1970-01-01T00:00:00Z"},
        ]},
    });
    serde_json::from_value(object).unwrap()
}

#[test]
fn details_have_the_conditions_first_and_the_rest_below() {
    let mut shown = Shown::new(60, 30);
    shown.list("web");
    assert_eq!(shown.screen.take_wanted(), None);
    shown.press(&[Key::Enter]);
    let name = ObjectName::new("shop", "web");
    assert_eq!(shown.screen.take_wanted().as_ref(), Some(&name));
    assert_eq!(shown.screen.take_wanted(), None, "once");
    assert_eq!(shown.lines()[1], "reading…");
    shown.screen.fetched(&name, Ok(object()));
    shown.pass(90);
    let lines = shown.lines();
    assert_eq!(lines[0], "Pod shop/web  kind-1  live  1 object  version 42");
    assert_eq!(
        lines[1..13],
        [
            "Conditions",
            "  TYPE   STATUS   REASON  AGE  MESSAGE",
            "  Ready  Unknown  Silent  90s  no word",
            "",
            "Labels",
            "  app=web",
            "",
            "Owners",
            "  ReplicaSet/rs (controller)",
            "",
            "Finalizers",
            "  example.com/clean-up",
        ]
    );
    assert_eq!(lines[14..16], ["YAML", "apiVersion: v1"]);
    assert!(!lines.iter().any(|it| it.contains("managedFields")));
}

#[test]
fn details_follow_the_object_until_it_is_gone() {
    let mut shown = Shown::new(60, 8);
    shown.list("other");
    shown.list("web");
    shown.press(&[Key::Down, Key::Enter]);
    let name = shown.screen.take_wanted().expect("at first");
    shown.update("web", "1/1");
    assert_eq!(shown.screen.take_wanted(), None, "the first is on its way");
    shown.screen.fetched(&name, Ok(object()));
    assert_eq!(
        shown.screen.take_wanted().as_ref(),
        Some(&name),
        "then again"
    );
    shown.screen.fetched(&name, Err("forbidden".to_owned()));
    assert_eq!(shown.lines()[1], "forbidden");
    assert_eq!(shown.lines()[2], "Conditions", "the last state remains");
    shown.update("other", "1/1");
    assert_eq!(shown.screen.take_wanted(), None, "of no interest");
    shown.delete("web");
    assert!(shown.lines()[0].starts_with("Pod shop/web (deleted)"));
    assert_eq!(shown.screen.take_wanted(), None);

    shown.press(&[Key::Char('G')]);
    assert!(
        shown.lines()[6].contains("type: Ready"),
        "{:#?}",
        shown.lines()
    );
    shown.press(&[Key::Escape]);
    assert_eq!(shown.names(), ["other", "web"]);
    shown.screen.fetched(&name, Ok(object()));
    assert_eq!(shown.names(), ["other", "web"], "too late");
}

#[test]
fn a_long_line_of_the_details_is_wrapped_and_one_of_the_table_is_cut() {
    let mut shown = Shown::new(30, 40);
    shown.list("a-name-that-is-longer-than-the-screen");
    assert!(shown.lines()[2].ends_with('…'), "{:?}", shown.lines());
    shown.press(&[Key::Enter]);
    let name = shown.screen.take_wanted().unwrap();
    let mut long = object();
    long.set_metadata("note", "0123456789 and 0123456789 and more");
    shown.screen.fetched(&name, Ok(long));
    let lines = shown.lines();
    let at = lines.iter().position(|it| it.contains("note: ")).unwrap();
    assert_eq!(lines[at], "  note: 0123456789 and 0123456");
    assert_eq!(lines[at + 1], "789 and more");
}

#[test]
fn the_title_says_whether_the_watch_is_live() {
    let mut shown = Shown::new(80, 5);
    shown.lines();
    assert!(!shown.screen.is_due(shown.now()), "nothing has happened");
    for (link, text) in [
        (Link::Listing, "listing"),
        (Link::Live, "live"),
        (Link::Relisting, "relisting"),
        (
            Link::Lost(Duration::from_secs(125)),
            "reconnecting for 2m5s",
        ),
    ] {
        let problem = "the connection was refused".to_owned();
        shown.screen.set_status(status("", link, Some(problem)));
        assert!(shown.screen.is_due(shown.now()));
        let lines = shown.lines();
        assert!(
            lines[0].ends_with(&format!("{text}  0 objects")),
            "{lines:?}"
        );
        assert_eq!(lines[4], "the connection was refused");
    }
    shown.pass(1);
    assert!(shown.screen.is_due(shown.now()), "ages have grown");

    let problem = format!("{} (check the server's address)", "no answer ".repeat(10));
    shown
        .screen
        .set_status(status("42", Link::Live, Some(problem)));
    let lines = shown.lines();
    assert!(lines[4].ends_with("address)"), "the advice is at the end");
}

#[test]
fn no_size_is_too_small() {
    for (width, height) in [(0, 0), (1, 1), (3, 2), (5, 3)] {
        let mut shown = Shown::new(width, height);
        shown.list("web");
        shown.frame();
        shown.press(&[Key::PageDown, Key::Enter]);
        let name = shown.screen.take_wanted().unwrap();
        shown.screen.fetched(&name, Ok(object()));
        shown.press(&[Key::PageDown, Key::End]);
        shown.frame();
    }
}
