//! Duration strings against a table that Go's own parser made.

use proptest::prelude::*;

use super::*;

#[test]
fn texts_parse_and_print_as_in_go() {
    #[rustfmt::skip]
    let table: &[(&str, Result<(i64, &str), &str>)] = &[
        ("", Err("time: invalid duration \"\"")),
        ("0", Ok((0, "0s"))),
        ("+0", Ok((0, "0s"))),
        ("-0", Ok((0, "0s"))),
        ("0s", Ok((0, "0s"))),
        ("5s", Ok((5000000000, "5s"))),
        ("1.5h", Ok((5400000000000, "1h30m0s"))),
        ("-1.5h", Ok((-5400000000000, "-1h30m0s"))),
        ("1h30m", Ok((5400000000000, "1h30m0s"))),
        ("1h30m0.5s", Ok((5400500000000, "1h30m0.5s"))),
        ("100ms", Ok((100000000, "100ms"))),
        ("1us", Ok((1000, "1µs"))),
        ("1µs", Ok((1000, "1µs"))),
        ("1μs", Ok((1000, "1µs"))),
        ("1.234567ms", Ok((1234567, "1.234567ms"))),
        ("999ns", Ok((999, "999ns"))),
        ("1000ns", Ok((1000, "1µs"))),
        ("60s", Ok((60000000000, "1m0s"))),
        ("3600s", Ok((3600000000000, "1h0m0s"))),
        ("24h", Ok((86400000000000, "24h0m0s"))),
        ("1000h", Ok((3600000000000000, "1000h0m0s"))),
        ("2562047h47m16.854775807s", Ok((9223372036854775807, "2562047h47m16.854775807s"))),
        ("2562047h47m16.854775808s", Err("time: invalid duration \"2562047h47m16.854775808s\"")),
        ("-2562047h47m16.854775808s", Ok((-9223372036854775808, "-2562047h47m16.854775808s"))),
        ("9223372036854775807ns", Ok((9223372036854775807, "2562047h47m16.854775807s"))),
        ("9223372036854775808ns", Err("time: invalid duration \"9223372036854775808ns\"")),
        ("-9223372036854775808ns", Ok((-9223372036854775808, "-2562047h47m16.854775808s"))),
        ("0.1s", Ok((100000000, "100ms"))),
        (".5s", Ok((500000000, "500ms"))),
        ("5.s", Ok((5000000000, "5s"))),
        ("1.s", Ok((1000000000, "1s"))),
        ("0.000000001s", Ok((1, "1ns"))),
        ("0.0000000001s", Ok((0, "0s"))),
        ("0.3333333333333333333h", Ok((1200000000000, "20m0s"))),
        ("1d", Err("time: unknown unit \"d\" in duration \"1d\"")),
        ("1", Err("time: missing unit in duration \"1\"")),
        ("1.5", Err("time: missing unit in duration \"1.5\"")),
        ("s", Err("time: invalid duration \"s\"")),
        (".s", Err("time: invalid duration \".s\"")),
        ("-", Err("time: invalid duration \"-\"")),
        ("+", Err("time: invalid duration \"+\"")),
        ("+5s", Ok((5000000000, "5s"))),
        ("--5s", Err("time: invalid duration \"--5s\"")),
        ("1h 30m", Err("time: unknown unit \"h \" in duration \"1h 30m\"")),
        (" 1h", Err("time: invalid duration \" 1h\"")),
        ("1h30", Err("time: missing unit in duration \"1h30\"")),
        ("3000000h", Err("time: invalid duration \"3000000h\"")),
        ("0.9223372036854775807h", Ok((3320413933267, "55m20.413933267s"))),
        ("99999999999999999999s", Err("time: invalid duration \"99999999999999999999s\"")),
        ("1e3s", Err("time: unknown unit \"e\" in duration \"1e3s\"")),
        ("-.5m", Ok((-30000000000, "-30s"))),
        ("1m60s", Ok((120000000000, "2m0s"))),
        ("1x1s", Err("time: unknown unit \"x\" in duration \"1x1s\"")),
        ("1é", Err("time: unknown unit \"\\xc3\\xa9\" in duration \"1\\xc3\\xa9\"")),
        ("é\n\"\\", Err("time: invalid duration \"\\xc3\\xa9\\x0a\\\"\\\\\"")),
    ];
    for (text, expected) in table {
        let found = text.parse::<Duration>();
        match (&found, expected) {
            (Ok(duration), Ok((nanos, printed))) => {
                assert_eq!(duration.as_nanos(), *nanos, "{text}");
                assert_eq!(duration.to_string(), *printed, "{text}");
            }
            (Err(error), Err(message)) => assert_eq!(error.to_string(), *message),
            _ => panic!("{text}: {found:?}, not {expected:?}"),
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
        let _ = text.parse::<Duration>();
    }
}
