//! Times against tables that Go's own types made.

use super::*;
use crate::MicroTime;
use crate::upstream_table::{Outcome, read};
use proptest::prelude::*;

/// As text, with Go's word for the zero time.
fn printed<T: fmt::Display>(time: T, zero: bool) -> String {
    if zero {
        "null".to_owned()
    } else {
        time.to_string()
    }
}

#[test]
fn texts_parse_and_print_as_in_go() {
    let table: Vec<(String, Outcome, Outcome)> = read(include_str!("../../testdata/times.json"));
    for (text, seconds, micros) in table {
        let time = text
            .parse::<Time>()
            .map(|time| printed(time, time.is_zero()));
        assert_eq!(Outcome::of(&time), seconds, "{text}");
        let time = text
            .parse::<MicroTime>()
            .map(|time| printed(time, time.is_zero()));
        assert_eq!(Outcome::of(&time), micros, "{text}");
    }
}

#[test]
fn a_fraction_of_microseconds_may_have_a_sign_in_place_of_its_first_digit() {
    let parse = |text: &str| {
        let time = text.parse::<MicroTime>();
        time.map_or_else(|error| error.to_string(), |time| time.to_string())
    };
    let at = |fraction: &str| format!("2024-01-02T03:04:05{fraction}Z");
    assert_eq!(parse(&at(".+00042")), at(".000042"));
    assert_eq!(parse(&at(",-00000")), at(".000000"));
    assert_eq!(
        parse(&at(".-00001")),
        "parsing time \"2024-01-02T03:04:05.-00001Z\": fractional second out of range"
    );
    assert!(parse(&at(".+-0000")).contains("cannot parse"));
}

#[test]
fn every_second_prints_as_in_go() {
    let table = [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (1_000_000_000, "2001-09-09T01:46:40Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "10000-01-01T00:00:00Z"),
        (-62_135_596_800, "0001-01-01T00:00:00Z"),
        (-62_135_596_801, "0000-12-31T23:59:59Z"),
        (-62_167_219_200, "0000-01-01T00:00:00Z"),
        (-62_167_219_201, "-0001-12-31T23:59:59Z"),
        (1_000_000_000_000, "33658-09-27T01:46:40Z"),
        (-1_000_000_000_000, "-29719-04-05T22:13:20Z"),
        (1_099_511_627_776, "36812-02-20T00:36:16Z"),
    ];
    for (seconds, expected) in table {
        assert_eq!(Time::from_unix(seconds).to_string(), expected);
    }
    // Outside of Go's own range; it must not panic.
    assert!(!Time::from_unix(i64::MAX).to_string().is_empty());
    assert!(!Time::from_unix(i64::MIN).to_string().is_empty());
}

#[test]
fn zero_is_null_in_json() {
    assert_eq!(
        serde_json::to_string(&Time::ZERO).ok().as_deref(),
        Some("null")
    );
    assert_eq!(serde_json::from_str("null").ok(), Some(Time::ZERO));
    assert_eq!(
        serde_json::from_str("\"0001-01-01T00:00:00Z\"").ok(),
        Some(Time::ZERO)
    );
    assert_eq!(
        serde_json::to_string(&MicroTime::ZERO).ok().as_deref(),
        Some("null")
    );
    assert_eq!(serde_json::from_str("null").ok(), Some(MicroTime::ZERO));
    assert!(serde_json::from_str::<Time>("5").is_err());
    let text = "\"2024-01-02T03:04:05Z\"";
    let time: Time = serde_json::from_str(text).expect("it is a time");
    assert_eq!(serde_json::to_string(&time).ok().as_deref(), Some(text));
}

#[test]
fn an_optional_time_takes_no_more_than_16_bytes() {
    assert_eq!(size_of::<Option<Time>>(), 16);
}

#[test]
fn it_converts_to_and_from_other_types() {
    let instant = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1500);
    assert_eq!(Time::from(instant), Time::from_unix(1));
    assert_eq!(
        MicroTime::from(instant).to_string(),
        "1970-01-01T00:00:01.500000Z"
    );
    let before = std::time::SystemTime::UNIX_EPOCH - std::time::Duration::from_millis(1500);
    assert_eq!(Time::from(before), Time::from_unix(-2));
    assert_eq!(
        MicroTime::from(before).to_string(),
        "1969-12-31T23:59:58.500000Z"
    );
    let timestamp = jiff::Timestamp::from_second(5).expect("it is in range");
    assert_eq!(Time::from(timestamp).timestamp(), Some(timestamp));
    assert_eq!(Time::from_unix(i64::MAX).timestamp(), None);
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(seconds in -62_167_219_200_i64..=253_402_300_799) {
        let time = Time::from_unix(seconds);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        let expected = jiff::Timestamp::from_second(seconds).expect("it is in range");
        prop_assert_eq!(time.to_string(), expected.to_string());
    }

    #[test]
    fn micro_times_parse_back(
        seconds in -62_167_219_200_i64..=253_402_300_799,
        micros in 0..1_000_000,
    ) {
        let time = MicroTime::from_unix(seconds, micros * 1000);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn no_text_panics(text in "[-0-9TZ:.,+é]{0,40}") {
        drop(text.parse::<Time>());
        drop(text.parse::<MicroTime>());
    }
}
