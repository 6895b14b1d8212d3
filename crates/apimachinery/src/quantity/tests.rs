//! Quantities against tables that upstream's own type made.

use proptest::prelude::*;

use super::ParseQuantityError::{Format, Numeric, Suffix};
use super::QuantityFormat::{BinarySi, DecimalExponent, DecimalSi};
use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().expect("the text is a quantity")
}

#[rustfmt::skip]
const TABLE: &[(&str, Result<(&str, QuantityFormat), ParseQuantityError>)] = &[
    ("", Err(Format)),
    ("0", Ok(("0", DecimalSi))),
    ("00", Ok(("0", DecimalSi))),
    ("0m", Ok(("0", DecimalSi))),
    ("0Ki", Ok(("0", BinarySi))),
    ("-0", Ok(("0", DecimalSi))),
    ("+", Ok(("0", DecimalSi))),
    ("-", Ok(("0", DecimalSi))),
    (".", Ok(("0", DecimalSi))),
    ("Ki", Ok(("0", BinarySi))),
    ("m", Ok(("0", DecimalSi))),
    (".Ki", Ok(("0", BinarySi))),
    (".Ei", Err(Numeric)),
    ("Ei", Err(Numeric)),
    ("1", Ok(("1", DecimalSi))),
    ("100", Ok(("100", DecimalSi))),
    ("1000", Ok(("1k", DecimalSi))),
    ("1000m", Ok(("1", DecimalSi))),
    ("1500m", Ok(("1500m", DecimalSi))),
    ("100m", Ok(("100m", DecimalSi))),
    ("1.5", Ok(("1500m", DecimalSi))),
    ("1.500", Ok(("1.500", DecimalSi))),
    ("0.5", Ok(("500m", DecimalSi))),
    ("0005", Ok(("0005", DecimalSi))),
    ("+5", Ok(("+5", DecimalSi))),
    ("-5", Ok(("-5", DecimalSi))),
    ("12.345", Ok(("12.345", DecimalSi))),
    ("1.5Gi", Ok(("1536Mi", BinarySi))),
    ("0.5Gi", Ok(("512Mi", BinarySi))),
    ("0.5Ki", Ok(("512", BinarySi))),
    ("0.5Mi", Ok(("512Ki", BinarySi))),
    ("1024Mi", Ok(("1Gi", BinarySi))),
    ("1024Ki", Ok(("1Mi", BinarySi))),
    ("1025Ki", Ok(("1025Ki", BinarySi))),
    ("1020Ki", Ok(("1020Ki", BinarySi))),
    ("8Ki", Ok(("8Ki", BinarySi))),
    ("8Gi", Ok(("8Gi", BinarySi))),
    ("001Ki", Ok(("001Ki", BinarySi))),
    ("1023", Ok(("1023", DecimalSi))),
    ("1.1Ki", Ok(("1126400m", BinarySi))),
    ("0.001Ki", Ok(("1024m", BinarySi))),
    ("1k", Ok(("1k", DecimalSi))),
    ("1000k", Ok(("1M", DecimalSi))),
    ("1M", Ok(("1M", DecimalSi))),
    ("1G", Ok(("1G", DecimalSi))),
    ("1T", Ok(("1T", DecimalSi))),
    ("1P", Ok(("1P", DecimalSi))),
    ("1E", Ok(("1E", DecimalSi))),
    ("10E", Ok(("10E", DecimalSi))),
    ("9223372036854775807", Ok(("9223372036854775807", DecimalSi))),
    ("9223372036854775808", Ok(("9223372036854775808", DecimalSi))),
    ("99999999999999999999999999", Ok(("99999999999999999999999999", DecimalSi))),
    ("100000000000000000000", Ok(("100E", DecimalSi))),
    ("8Ei", Ok(("9223372036854775807", BinarySi))),
    ("7Ei", Ok(("7Ei", BinarySi))),
    ("100Ei", Ok(("9223372036854775807", BinarySi))),
    ("-9Ei", Ok(("-9223372036854775807", BinarySi))),
    ("1n", Ok(("1n", DecimalSi))),
    ("0.1n", Ok(("1n", DecimalSi))),
    ("1.1n", Ok(("2n", DecimalSi))),
    ("100u", Ok(("100u", DecimalSi))),
    ("1000000000n", Ok(("1", DecimalSi))),
    ("1500000000n", Ok(("1500m", DecimalSi))),
    ("-0.1n", Ok(("-1n", DecimalSi))),
    ("1e3", Ok(("1e3", DecimalExponent))),
    ("1E3", Ok(("1E3", DecimalExponent))),
    ("1e-3", Ok(("1e-3", DecimalExponent))),
    ("1e100", Ok(("10e99", DecimalExponent))),
    ("2e2", Ok(("200", DecimalExponent))),
    ("1e0", Ok(("1e0", DecimalExponent))),
    ("1.5e3", Ok(("1500", DecimalExponent))),
    ("100e3", Ok(("100e3", DecimalExponent))),
    ("1000e3", Ok(("1e6", DecimalExponent))),
    ("1e", Err(Suffix)),
    ("1e+3", Ok(("1e+3", DecimalExponent))),
    ("1e-12", Ok(("1e-9", DecimalExponent))),
    ("123456789012345678901234567890e-9", Ok(("123456789012345678901234567890e-9", DecimalExponent))),
    ("1.0000000000000000001", Ok(("1000000001n", DecimalSi))),
    ("0.0000000001", Ok(("1n", DecimalSi))),
    ("0.0000000001Gi", Ok(("107374183n", DecimalSi))),
    ("0.9Ki", Ok(("921600m", BinarySi))),
    ("1.0Gi", Ok(("1Gi", BinarySi))),
    ("1.00Gi", Ok(("1Gi", BinarySi))),
    ("10.24Ki", Ok(("10485760m", BinarySi))),
    ("1i", Err(Suffix)),
    ("1ki", Err(Suffix)),
    ("1mi", Err(Suffix)),
    ("1KI", Err(Format)),
    ("1K", Err(Suffix)),
    ("1kk", Err(Suffix)),
    ("1 ", Err(Format)),
    (" 1", Err(Format)),
    ("1..5", Err(Format)),
    ("1.2.3", Err(Format)),
    ("--1", Err(Suffix)),
    ("1-", Err(Suffix)),
    ("a", Err(Format)),
    ("100m5", Err(Suffix)),
    ("1Gi5", Err(Suffix)),
    ("5e3x", Err(Format)),
    ("e3", Ok(("0", DecimalExponent))),
    ("1.G", Ok(("1.G", DecimalSi))),
    ("3.001", Ok(("3.001", DecimalSi))),
    ("0.3Gi", Ok(("322122547200m", BinarySi))),
    ("128Mi", Ok(("128Mi", BinarySi))),
    ("1000Mi", Ok(("1000Mi", BinarySi))),
    ("500Mi", Ok(("500Mi", BinarySi))),
    ("1000Ki", Ok(("1000Ki", BinarySi))),
    ("1048576", Ok(("1048576", DecimalSi))),
    ("1000000", Ok(("1M", DecimalSi))),
    ("100500", Ok(("100500", DecimalSi))),
    ("123456k", Ok(("123456k", DecimalSi))),
];

#[test]
fn texts_parse_and_print_as_upstream() {
    for (text, expected) in TABLE {
        let found = text.parse::<Quantity>();
        let found = found
            .as_ref()
            .map(|it| (it.as_str(), it.format()))
            .map_err(|error| *error);
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn a_printed_quantity_is_printed_the_same_again() {
    for (text, expected) in TABLE {
        let Ok((printed, _)) = expected else { continue };
        assert_eq!(quantity(printed).as_str(), *printed, "{text}");
        assert_eq!(quantity(printed), quantity(text), "{text}");
    }
}

#[test]
fn errors_have_upstreams_words() {
    for (text, expected) in [
        (
            "1 ",
            "quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("1K", "unable to parse quantity's suffix"),
        ("Ei", "unable to parse numeric part of quantity"),
    ] {
        let error = text.parse::<Quantity>().expect_err("it is not a quantity");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn amounts_beyond_the_largest_suffix_are_kept() {
    // Upstream prints "1" here.
    assert_eq!(quantity("1000E").as_str(), "1e21");
    assert_eq!(quantity("1000000E"), quantity("1e24"));
}

#[test]
fn values_are_rounded_away_from_zero() {
    #[rustfmt::skip]
    let table = [
        ("0", 0, 0),
        ("1", 1, 1000),
        ("100m", 1, 100),
        ("1.5", 2, 1500),
        ("-5", -5, -5000),
        ("12.345", 13, 12345),
        ("1.5Gi", 1610612736, 1610612736000),
        ("1.1Ki", 1127, 1126400),
        ("0.001Ki", 2, 1024),
        ("1n", 1, 1),
        ("0.1n", 1, 1),
        ("1500000000n", 2, 1500),
        ("1e3", 1000, 1000000),
        ("1e-3", 1, 1),
        ("0.9Ki", 922, 921600),
        ("3.001", 4, 3001),
        ("0.3Gi", 322122548, 322122547200),
        ("-1.5", -2, -1500),
        ("9223372036854775807", i64::MAX, i64::MAX),
        ("99999999999999999999999999", i64::MAX, i64::MAX),
        ("-1e100", i64::MIN, i64::MIN),
        ("1E", 1_000_000_000_000_000_000, i64::MAX),
    ];
    for (text, value, milli) in table {
        let quantity = quantity(text);
        assert_eq!(
            (quantity.value(), quantity.milli_value()),
            (value, milli),
            "{text}"
        );
    }
    assert!((quantity("1.5Gi").to_f64() - 1_610_612_736.0).abs() < 1e-6);
}

#[test]
fn sums_and_differences_are_those_of_upstream() {
    #[rustfmt::skip]
    let table = [
        ("1", "1", "2", "0", "-1", 0),
        ("100m", "900m", "1", "-800m", "-100m", -1),
        ("1Gi", "512Mi", "1536Mi", "512Mi", "-1Gi", 1),
        ("0.5Ki", "0.5Ki", "1Ki", "0", "-512", 0),
        ("1Gi", "1", "1073741825", "1073741823", "-1Gi", 1),
        ("1", "1Gi", "1073741825", "-1073741823", "-1", -1),
        ("0", "1Gi", "1Gi", "-1Gi", "0", -1),
        ("0", "5", "5", "-5", "0", -1),
        ("1Ki", "-1Ki", "0", "2Ki", "-1Ki", 1),
        ("1.5Gi", "1.5Gi", "3Gi", "0", "-1536Mi", 0),
        ("9223372036854775807", "1", "9223372036854775808", "9223372036854775806", "-9223372036854775807", 1),
        ("1e3", "500", "1500", "500", "-1e3", 1),
        ("1k", "1000", "2k", "0", "-1k", 0),
        ("1Ki", "1024", "2Ki", "0", "-1Ki", 0),
        ("1023", "1Ki", "2047", "-1", "-1023", -1),
        ("1n", "1", "1000000001n", "-999999999n", "-1n", -1),
        ("-5", "3", "-2", "-8", "5", -1),
        ("1500m", "1.5", "3", "0", "-1500m", 0),
        ("8Ei", "8Ei", "18446744073709551614", "0", "-9223372036854775807", 0),
        ("0.5Gi", "512Mi", "1Gi", "0", "-512Mi", 0),
        ("1E", "1000P", "2E", "0", "-1E", 0),
        ("1T", "1Ti", "2099511627776", "-99511627776", "-1T", -1),
        ("1e3", "1Ki", "2024", "-24", "-1e3", -1),
        ("12.5m", "12.5m", "25m", "0", "-12500u", 0),
    ];
    for (left, right, sum, difference, negation, order) in table {
        let (left, right) = (quantity(left), quantity(right));
        assert_eq!((left.clone() + &right).as_str(), sum);
        assert_eq!((left.clone() - &right).as_str(), difference);
        assert_eq!((-left.clone()).as_str(), negation);
        assert_eq!(left.cmp(&right), order.cmp(&0), "{left} {right}");
        let mut assigned = left.clone();
        assigned += &right;
        assigned -= &right;
        assert_eq!(assigned, left);
    }
}

#[test]
fn numbers_make_quantities() {
    assert_eq!(Quantity::from(2000).as_str(), "2k");
    assert_eq!(Quantity::new(2048, BinarySi).as_str(), "2Ki");
    assert_eq!(Quantity::from_milli(1500).as_str(), "1500m");
    assert_eq!(Quantity::default().as_str(), "0");
    assert!(Quantity::default().is_zero() && quantity("0Ki").is_zero());
    assert_eq!(
        (
            quantity("-5").signum(),
            quantity("0").signum(),
            quantity("+5").signum()
        ),
        (-1, 0, 1)
    );
}

#[test]
fn json_takes_strings_and_numbers() {
    for (json, expected) in [
        ("\"100m\"", "100m"),
        ("\" 1Gi \"", "1Gi"),
        ("5", "5"),
        ("-5", "-5"),
        ("1000", "1k"),
        ("0.5", "500m"),
        ("18446744073709551615", "18446744073709551615"),
        ("null", "0"),
    ] {
        let quantity: Quantity = serde_json::from_str(json).expect(json);
        assert_eq!(quantity.as_str(), expected, "{json}");
        let printed = serde_json::to_string(&quantity).ok();
        assert_eq!(printed, Some(format!("\"{expected}\"")));
    }
    for json in ["\"\"", "\"x\"", "true", "[]", "{}"] {
        assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
    }
}

#[test]
fn it_is_its_text_and_a_byte() {
    assert!(size_of::<Quantity>() <= 24);
    let text = Str::from("128Mi");
    let quantity = Quantity::try_from(text.clone()).expect("it is a quantity");
    assert!(quantity.text().same_allocation(&text));
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(
        mantissa in -1_000_000_000_000_i64..1_000_000_000_000,
        suffix in "(|n|u|m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi|Ei|e-?[0-9]{1,2})",
    ) {
        let quantity = quantity(&format!("{mantissa}{suffix}"));
        let again: Quantity = quantity.as_str().parse()?;
        prop_assert_eq!(&again, &quantity);
        prop_assert_eq!(again.as_str(), quantity.as_str());
    }

    #[test]
    fn addition_undoes_subtraction(a in "[1-9][0-9]{0,20}(\\.[0-9]{1,9})?[mkMG]?", b in "[1-9][0-9]{0,20}(Ki|Mi|Gi)?") {
        let (a, b) = (quantity(&a), quantity(&b));
        prop_assert_eq!(a.clone() + &b - &b, a.clone());
        prop_assert!(a.clone() + &b > a);
    }

    #[test]
    fn no_text_panics(text in "[-+0-9.eEinumkKMGTP]{0,24}") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            let _ = (quantity.value(), quantity.milli_value(), quantity.to_f64());
            let sum = quantity.clone() + &Quantity::from(1);
            prop_assert!(sum.as_str().len() < 10_000);
        }
    }
}
