//! Times against tables that Go's own types made.

use proptest::prelude::*;

use super::*;
use crate::MicroTime;

/// A text, what `Time` makes of it, and what `MicroTime` makes of it. `null` is the zero time.
type Row = (
    &'static str,
    Result<&'static str, &'static str>,
    Result<&'static str, &'static str>,
);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("2006-01-02T15:04:05Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2006-01-02T15:04:05+01:00", Ok("2006-01-02T14:04:05Z"), Err("parsing time \"2006-01-02T15:04:05+01:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+01:00\" as \".000000\"")),
    ("2006-01-02T15:04:05-07:30", Ok("2006-01-02T22:34:05Z"), Err("parsing time \"2006-01-02T15:04:05-07:30\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"-07:30\" as \".000000\"")),
    ("2006-01-02T15:04:05.5Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05.5Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \".5Z\" as \".000000\"")),
    ("2006-01-02T15:04:05.123456789Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05.123456789Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"789Z\" as \"Z07:00\"")),
    ("2006-01-02T15:04:05,123Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05,123Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \",123Z\" as \".000000\"")),
    ("2006-01-02T15:04:05.123456Z", Ok("2006-01-02T15:04:05Z"), Ok("2006-01-02T15:04:05.123456Z")),
    ("2006-01-02T15:04:05.123456+02:00", Ok("2006-01-02T13:04:05Z"), Ok("2006-01-02T13:04:05.123456Z")),
    ("2006-01-02T5:04:05Z", Ok("2006-01-02T05:04:05Z"), Err("parsing time \"2006-01-02T5:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2006-01-02T15:4:05Z", Err("parsing time \"2006-01-02T15:4:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"4:05Z\" as \"04\""), Err("parsing time \"2006-01-02T15:4:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"4:05Z\" as \"04\"")),
    ("0001-01-01T00:00:00Z", Ok("null"), Err("parsing time \"0001-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("0000-01-01T00:00:00Z", Ok("0000-01-01T00:00:00Z"), Err("parsing time \"0000-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("1969-12-31T23:59:59Z", Ok("1969-12-31T23:59:59Z"), Err("parsing time \"1969-12-31T23:59:59Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("9999-12-31T23:59:59Z", Ok("9999-12-31T23:59:59Z"), Err("parsing time \"9999-12-31T23:59:59Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("9999-12-31T23:59:59-01:00", Ok("10000-01-01T00:59:59Z"), Err("parsing time \"9999-12-31T23:59:59-01:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"-01:00\" as \".000000\"")),
    ("10000-01-01T00:00:00Z", Err("parsing time \"10000-01-01T00:00:00Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"0-01-01T00:00:00Z\" as \"-\""), Err("parsing time \"10000-01-01T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"0-01-01T00:00:00Z\" as \"-\"")),
    ("2024-02-29T00:00:00Z", Ok("2024-02-29T00:00:00Z"), Err("parsing time \"2024-02-29T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2023-02-29T00:00:00Z", Err("parsing time \"2023-02-29T00:00:00Z\": day out of range"), Err("parsing time \"2023-02-29T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2100-02-29T00:00:00Z", Err("parsing time \"2100-02-29T00:00:00Z\": day out of range"), Err("parsing time \"2100-02-29T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2000-02-29T00:00:00Z", Ok("2000-02-29T00:00:00Z"), Err("parsing time \"2000-02-29T00:00:00Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2006-13-02T15:04:05Z", Err("parsing time \"2006-13-02T15:04:05Z\": month out of range"), Err("parsing time \"2006-13-02T15:04:05Z\": month out of range")),
    ("2006-00-02T15:04:05Z", Err("parsing time \"2006-00-02T15:04:05Z\": month out of range"), Err("parsing time \"2006-00-02T15:04:05Z\": month out of range")),
    ("2006-01-32T15:04:05Z", Err("parsing time \"2006-01-32T15:04:05Z\": day out of range"), Err("parsing time \"2006-01-32T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2006-01-00T15:04:05Z", Err("parsing time \"2006-01-00T15:04:05Z\": day out of range"), Err("parsing time \"2006-01-00T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"")),
    ("2006-01-02T24:00:00Z", Err("parsing time \"2006-01-02T24:00:00Z\": hour out of range"), Err("parsing time \"2006-01-02T24:00:00Z\": hour out of range")),
    ("2006-01-02T23:60:00Z", Err("parsing time \"2006-01-02T23:60:00Z\": minute out of range"), Err("parsing time \"2006-01-02T23:60:00Z\": minute out of range")),
    ("2006-01-02T23:59:60Z", Err("parsing time \"2006-01-02T23:59:60Z\": second out of range"), Err("parsing time \"2006-01-02T23:59:60Z\": second out of range")),
    ("2006-01-02t15:04:05z", Err("parsing time \"2006-01-02t15:04:05z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"t15:04:05z\" as \"T\""), Err("parsing time \"2006-01-02t15:04:05z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"t15:04:05z\" as \"T\"")),
    ("2006-01-02 15:04:05Z", Err("parsing time \"2006-01-02 15:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \" 15:04:05Z\" as \"T\""), Err("parsing time \"2006-01-02 15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \" 15:04:05Z\" as \"T\"")),
    ("2006-01-02T15:04:05", Err("parsing time \"2006-01-02T15:04:05\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \".000000\"")),
    ("2006-01-02T15:04", Err("parsing time \"2006-01-02T15:04\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \":\""), Err("parsing time \"2006-01-02T15:04\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \":\"")),
    ("2006-01-02", Err("parsing time \"2006-01-02\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\""), Err("parsing time \"2006-01-02\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"T\"")),
    ("yesterday", Err("parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\""), Err("parsing time \"yesterday\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"yesterday\" as \"2006\"")),
    ("", Err("parsing time \"\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"2006\""), Err("parsing time \"\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"2006\"")),
    ("2006", Err("parsing time \"2006\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"-\""), Err("parsing time \"2006\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\" as \"-\"")),
    ("200", Err("parsing time \"200\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"200\" as \"2006\""), Err("parsing time \"200\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"200\" as \"2006\"")),
    ("20a6-01-02T15:04:05Z", Err("parsing time \"20a6-01-02T15:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"20a6-01-02T15:04:05Z\" as \"2006\""), Err("parsing time \"20a6-01-02T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"20a6-01-02T15:04:05Z\" as \"2006\"")),
    ("2006-1-02T15:04:05Z", Err("parsing time \"2006-1-02T15:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"1-02T15:04:05Z\" as \"01\""), Err("parsing time \"2006-1-02T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"1-02T15:04:05Z\" as \"01\"")),
    ("2006-01-2T15:04:05Z", Err("parsing time \"2006-01-2T15:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"2T15:04:05Z\" as \"02\""), Err("parsing time \"2006-01-2T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"2T15:04:05Z\" as \"02\"")),
    ("2006-01-02T15:04:05Zx", Err("parsing time \"2006-01-02T15:04:05Zx\": extra text: \"x\""), Err("parsing time \"2006-01-02T15:04:05Zx\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Zx\" as \".000000\"")),
    ("2006-01-02T15:04:05+0100", Err("parsing time \"2006-01-02T15:04:05+0100\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"+0100\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05+0100\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+0100\" as \".000000\"")),
    ("2006-01-02T15:04:05+01", Err("parsing time \"2006-01-02T15:04:05+01\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"+01\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05+01\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+01\" as \".000000\"")),
    ("2006-01-02T15:04:05+24:00", Ok("2006-01-01T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05+24:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+24:00\" as \".000000\"")),
    ("2006-01-02T15:04:05+25:00", Err("parsing time \"2006-01-02T15:04:05+25:00\": time zone offset hour out of range"), Err("parsing time \"2006-01-02T15:04:05+25:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+25:00\" as \".000000\"")),
    ("2006-01-02T15:04:05+01:60", Ok("2006-01-02T13:04:05Z"), Err("parsing time \"2006-01-02T15:04:05+01:60\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+01:60\" as \".000000\"")),
    ("2006-01-02T15:04:05+01:61", Err("parsing time \"2006-01-02T15:04:05+01:61\": time zone offset minute out of range"), Err("parsing time \"2006-01-02T15:04:05+01:61\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+01:61\" as \".000000\"")),
    ("2006-01-02T15:04:05x01:00", Err("parsing time \"2006-01-02T15:04:05x01:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x01:00\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05x01:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"x01:00\" as \".000000\"")),
    ("2006-01-02T15:04:05+aa:00", Err("parsing time \"2006-01-02T15:04:05+aa:00\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"+aa:00\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05+aa:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"+aa:00\" as \".000000\"")),
    ("2006-01-02T15:04:05.Z", Err("parsing time \"2006-01-02T15:04:05.Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \".Z\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05.Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \".Z\" as \".000000\"")),
    ("2006-01-02T15:04:05.12345Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05.12345Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \".12345Z\" as \".000000\"")),
    ("2006-01-02T15:04:05.1234567Z", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05.1234567Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"7Z\" as \"Z07:00\"")),
    ("2006-01-02T15:04:05.abcdefZ", Err("parsing time \"2006-01-02T15:04:05.abcdefZ\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \".abcdefZ\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05.abcdefZ\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \".abcdefZ\" as \".000000\"")),
    ("2006-01-02T15:04:05,123456Z", Ok("2006-01-02T15:04:05Z"), Ok("2006-01-02T15:04:05.123456Z")),
    ("2006-01-02T15:04:05é", Err("parsing time \"2006-01-02T15:04:05\\xc3\\xa9\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\\xc3\\xa9\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05\\xc3\\xa9\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\\xc3\\xa9\" as \".000000\"")),
    ("2006-01-02T15:04:05\"\n", Err("parsing time \"2006-01-02T15:04:05\\\"\\x0a\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\\\"\\x0a\" as \"Z07:00\""), Err("parsing time \"2006-01-02T15:04:05\\\"\\x0a\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"\\\"\\x0a\" as \".000000\"")),
    ("-006-01-02T15:04:05Z", Err("parsing time \"-006-01-02T15:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"-006-01-02T15:04:05Z\" as \"2006\""), Err("parsing time \"-006-01-02T15:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"-006-01-02T15:04:05Z\" as \"2006\"")),
    ("2006-01-02T1x:04:05Z", Err("parsing time \"2006-01-02T1x:04:05Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x:04:05Z\" as \":\""), Err("parsing time \"2006-01-02T1x:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"x:04:05Z\" as \":\"")),
    ("2006-01-02T15:04:5Z", Err("parsing time \"2006-01-02T15:04:5Z\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"5Z\" as \"05\""), Err("parsing time \"2006-01-02T15:04:5Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"5Z\" as \"05\"")),
    ("2006-01-02T15:04:05.999999999+00:00", Ok("2006-01-02T15:04:05Z"), Err("parsing time \"2006-01-02T15:04:05.999999999+00:00\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"999+00:00\" as \"Z07:00\"")),
];

fn printed<T: fmt::Display>(result: Result<T, ParseTimeError>, zero: &T) -> Result<String, String>
where
    T: PartialEq,
{
    let time = result.map_err(|error| error.to_string())?;
    Ok(if time == *zero {
        "null".to_owned()
    } else {
        time.to_string()
    })
}

#[test]
fn texts_parse_and_print_as_in_go() {
    for (text, time, micro) in TABLE {
        let expected = time.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(printed(text.parse(), &Time::ZERO), expected, "{text}");
        let expected = micro.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(printed(text.parse(), &MicroTime::ZERO), expected, "{text}");
    }
}

#[test]
fn every_second_prints_as_in_go() {
    let table = [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (1000000000, "2001-09-09T01:46:40Z"),
        (253402300799, "9999-12-31T23:59:59Z"),
        (253402300800, "10000-01-01T00:00:00Z"),
        (-62135596800, "0001-01-01T00:00:00Z"),
        (-62135596801, "0000-12-31T23:59:59Z"),
        (-62167219200, "0000-01-01T00:00:00Z"),
        (-62167219201, "-0001-12-31T23:59:59Z"),
        (1000000000000, "33658-09-27T01:46:40Z"),
        (-1000000000000, "-29719-04-05T22:13:20Z"),
        (1099511627776, "36812-02-20T00:36:16Z"),
    ];
    for (seconds, expected) in table {
        assert_eq!(Time::from_unix(seconds).to_string(), expected);
    }
    // Out of Go's own range, but no reason to panic.
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
    fn micro_times_parse_back(seconds in -62_167_219_200_i64..=253_402_300_799, micros in 0..1_000_000) {
        let time = MicroTime::from_unix(seconds, micros * 1000);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn no_text_panics(text in "[-0-9TZ:.,+é]{0,40}") {
        let _ = text.parse::<Time>();
        let _ = text.parse::<MicroTime>();
    }
}
