//! Duration strings against a table that Go's own parser made.

use super::*;
use crate::upstream_table::read;
use proptest::prelude::*;

#[test]
fn texts_parse_and_print_as_in_go() {
    // The text; the nanoseconds, if it is a duration; what it is printed as, or the error.
    let table: Vec<(String, Option<i64>, String)> =
        read(include_str!("../../testdata/durations.json"));
    for (text, nanos, expected) in table {
        match (text.parse::<Duration>(), nanos) {
            (Ok(duration), Some(nanos)) => {
                assert_eq!(
                    (duration.as_nanos(), duration.to_string()),
                    (nanos, expected)
                );
            }
            (Err(error), None) => assert_eq!(error.to_string(), expected),
            (found, _) => panic!("{text}: {found:?}, not {expected}"),
        }
    }
}

#[test]
fn json_is_the_text() {
    let duration = Duration::from_secs(90);
    assert_eq!(
        serde_json::to_string(&duration).ok().as_deref(),
        Some("\"1m30s\"")
    );
    assert_eq!(serde_json::from_str("\"1m30s\"").ok(), Some(duration));
    for json in ["90", "null", "\"\"", "\"1m30\""] {
        assert!(serde_json::from_str::<Duration>(json).is_err(), "{json}");
    }
}

#[test]
fn it_converts_to_the_standard_type() {
    let second = std::time::Duration::from_secs(1);
    assert_eq!(Duration::from(second), Duration::from_secs(1));
    assert_eq!(Duration::from_secs(1).to_std(), Some(second));
    assert_eq!(Duration::from_nanos(-1).to_std(), None);
    assert_eq!(
        Duration::from(std::time::Duration::MAX).as_nanos(),
        i64::MAX
    );
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(nanos in any::<i64>(), shift in 0_u32..63) {
        let duration = Duration::from_nanos(nanos >> shift);
        prop_assert_eq!(duration.to_string().parse(), Ok(duration));
    }

    #[test]
    fn no_text_panics(text in "[-+]?[0-9.hmsnuµ ]{0,20}") {
        drop(text.parse::<Duration>());
    }
}
