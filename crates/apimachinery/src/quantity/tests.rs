//! Quantities against tables that upstream's own type made.

use super::QuantityFormat::{BinarySi, DecimalExponent, DecimalSi};
use super::*;
use crate::upstream_table::{Outcome, read};
use proptest::prelude::*;

fn quantity(text: &str) -> Quantity {
    text.parse().expect("the text is a quantity")
}

/// The text, what it is printed as, its format, and its value in ones and thousandths.
type Row = (String, Outcome, Option<String>, Option<i64>, Option<i64>);

fn table() -> Vec<Row> {
    let rows: Vec<Vec<serde_json::Value>> = read(include_str!("../../testdata/quantities.json"));
    let padded = rows.into_iter().map(|mut row| {
        row.resize(5, serde_json::Value::Null);
        serde_json::from_value(row.into()).expect("a row has this form")
    });
    padded.collect()
}

#[test]
fn texts_parse_and_print_as_upstream() {
    for (text, expected, format, _, _) in table() {
        let found = text.parse::<Quantity>();
        assert_eq!(Outcome::of(&found), expected, "{text}");
        let found = found.ok().map(|quantity| match quantity.format() {
            DecimalSi => "DecimalSI".to_owned(),
            BinarySi => "BinarySI".to_owned(),
            DecimalExponent => "DecimalExponent".to_owned(),
        });
        assert_eq!(found, format, "{text}");
    }
}

#[test]
fn values_are_those_of_upstream_where_they_fit() {
    for (text, _, _, value, milli) in table() {
        let (Some(value), Some(milli)) = (value, milli) else {
            continue;
        };
        // Upstream rounds long negative numbers up, and short ones away from zero.
        if text == "-0.1n" {
            continue;
        }
        let quantity = quantity(&text);
        // Beyond the limits upstream returns 0 or wraps; ours saturates.
        let limit = [i64::MIN, i64::MAX];
        assert!(
            quantity.value() == value || limit.contains(&quantity.value()),
            "{text}"
        );
        let found = quantity.milli_value();
        assert!(found == milli || limit.contains(&found), "{text}: {found}");
    }
}

#[test]
fn a_printed_quantity_is_printed_the_same_again() {
    for (text, expected, ..) in table() {
        let Outcome::Ok(printed) = expected else {
            continue;
        };
        assert_eq!(quantity(&printed).as_str(), printed, "{text}");
        assert_eq!(quantity(&printed), quantity(&text), "{text}");
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
    let table = [
        ("-1.5", -2, -1500),
        ("-0.1n", -1, -1),
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
    let table: Vec<(String, String, String, String, String, i32)> =
        read(include_str!("../../testdata/quantity_sums.json"));
    for (left, right, sum, difference, negation, order) in table {
        let (left, right) = (quantity(&left), quantity(&right));
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
    for text in ["128Mi", "8Gi", "1Gi", "100m", "12", "0"].map(Str::from) {
        let quantity = Quantity::try_from(text.clone()).expect("it is a quantity");
        assert!(quantity.text().same_allocation(&text), "{text}");
    }
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
    fn addition_undoes_subtraction(
        a in "[1-9][0-9]{0,20}(\\.[0-9]{1,9})?[mkMG]?",
        b in "[1-9][0-9]{0,20}(Ki|Mi|Gi)?",
    ) {
        let (a, b) = (quantity(&a), quantity(&b));
        let sum = a.clone() + &b;
        prop_assert!(sum > a);
        prop_assert_eq!(sum - &b, a);
    }

    #[test]
    fn no_text_panics(text in "[-+0-9.eEinumkKMGTP]{0,24}") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            let _ = (quantity.value(), quantity.milli_value(), quantity.to_f64());
            let sum = quantity + &Quantity::from(1);
            prop_assert!(sum.as_str().len() < 10_000);
        }
    }
}
