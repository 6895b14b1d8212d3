//! Texts and keys that nobody would write on purpose.

use super::*;
use serde_json::Value;

fn type_all(shown: &mut Shown, text: &str) {
    let keys: Vec<Key> = text.chars().map(Key::Char).collect();
    shown.press(&keys);
}

fn fetched(shown: &mut Shown, object: Value) {
    let name = shown.screen.take_wanted().expect("a request");
    let Value::Object(object) = object else {
        panic!("no object");
    };
    shown.screen.fetched(&name, Ok(Unstructured { object }));
}

#[test]
fn a_column_with_a_long_text_does_not_push_out_those_behind_it() {
    let mut shown = Shown::new(80, 5);
    shown.columns = columns(&["Name", "Reason", "Message", "Phase"]);
    let long = "m".repeat(5000);
    let object = row(&shown.columns, "web", &["web", &long, &long, "Up"]);
    let object = Arc::new(object);
    let (initial, now) = (true, shown.now());
    let added = ResourceEvent::Added { object, initial };
    shown.screen.apply(&added, now);
    let lines = shown.lines();
    assert!(lines[1].ends_with("PHASE"), "{}", lines[1]);
    assert!(lines[2].ends_with("m…   Up"), "{}", lines[2]);
}

#[test]
fn headings_reverse_and_control_nothing() {
    let column = super::super::super::row::Column::new("A\u{1b}[31m\u{202e}b", false);
    assert_eq!(column.name, "A\u{fffd}[31m\u{fffd}b");
}

#[test]
fn pasted_text_is_a_filter_whose_end_stays_visible() {
    let mut shown = Shown::new(50, 6);
    shown.list("api");
    shown.list("web");
    shown.press(&[Key::Char('/')]);
    type_all(&mut shown, &"x".repeat(200));
    type_all(&mut shown, "the end");
    let lines = shown.lines();
    assert!(lines[5].contains("xthe end█"), "{}", lines[5]);
    assert_eq!(shown.names(), Vec::<String>::new());
    shown.press(&[Key::Escape]);
    assert_eq!(shown.names(), ["api", "web"]);
}

/// Keys that come together are handled before the next frame.
#[test]
fn keys_after_a_filter_see_its_effect_without_a_frame_between() {
    let mut shown = Shown::new(50, 6);
    for name in ["api", "web-1", "web-2"] {
        shown.list(name);
    }
    shown.lines();
    shown.press(&[Key::Char('/')]);
    type_all(&mut shown, "WEB");
    shown.press(&[Key::Down, Key::Enter]);
    assert_eq!(shown.selected(), "web-2");
    shown.press(&[Key::Enter]);
    let wanted = shown.screen.take_wanted();
    assert_eq!(wanted, Some(ObjectName::new("shop", "web-2")));
}

#[test]
fn details_show_the_values_of_a_secret_only_when_asked() {
    let mut shown = Shown::new(70, 20);
    shown.list("login");
    shown.lines();
    shown.press(&[Key::Enter]);
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": "shop"}, "data": {"pw": "aHVudGVyMg=="}});
    fetched(&mut shown, secret);
    let text = shown.lines().join("\n");
    assert!(text.contains("pw: (7 bytes)"), "{text}");
    assert!(text.contains("s: show or hide values"), "{text}");
    assert!(!text.contains("aHVudGVyMg"), "{text}");
    shown.press(&[Key::Char('s')]);
    assert!(shown.lines().join("\n").contains("aHVudGVyMg=="));
    shown.press(&[Key::Char('s')]);
    assert!(!shown.lines().join("\n").contains("aHVudGVyMg"));
}

#[test]
fn all_of_a_long_line_can_be_scrolled_to() {
    let mut shown = Shown::new(40, 10);
    shown.list("web");
    shown.lines();
    shown.press(&[Key::Enter]);
    let numbers: Vec<String> = (0..2000).map(|it| it.to_string()).collect();
    let text = numbers.join(",") + ",";
    fetched(
        &mut shown,
        json!({"kind": "ConfigMap", "data": {"a": text}, "zz": "last"}),
    );
    shown.lines();
    shown.press(&[Key::End]);
    let lines = shown.lines().join("\n");
    assert!(
        lines.contains("1999,") && lines.contains("zz: last"),
        "{lines}"
    );
    let mut seen = lines;
    for _ in 0..400 {
        shown.press(&[Key::PageUp]);
        seen.push_str(&shown.lines().concat());
    }
    for number in ["700,", "1000,", "1500,"] {
        assert!(seen.contains(number), "{number}");
    }
}

#[test]
fn a_screen_of_any_size_can_be_drawn() {
    for (width, height) in [(0, 0), (1, 1), (0, 5), (5, 0), (2, 3), (500, 200)] {
        let mut shown = Shown::new(width, height);
        shown.list("日本");
        let now = shown.now();
        shown
            .terminal
            .draw(|it| shown.screen.draw(it, now))
            .unwrap();
        shown.press(&[Key::Char('/'), Key::Char('本'), Key::Enter, Key::Enter]);
        shown
            .terminal
            .draw(|it| shown.screen.draw(it, now))
            .unwrap();
        fetched(&mut shown, json!({"kind": "日本", "a": "日本語"}));
        shown
            .terminal
            .draw(|it| shown.screen.draw(it, now))
            .unwrap();
    }
}
