//! Numbers with check digits.

use super::Compiled;
use regex::Regex;
use std::sync::LazyLock;

static CREDIT_CARD: Compiled = LazyLock::new(|| {
    Regex::new(
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}\
         |3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$",
    )
    .ok()
});

pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !super::matches(&CREDIT_CARD, &digits) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let digit = u32::from(digit - b'0');
            match digit * 2 {
                _ if index % 2 == 0 => digit,
                double if double >= 10 => double % 10 + 1,
                double => double,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Returns the digits of a book number, without white space and dashes.
fn book_digits(text: &str) -> Vec<u8> {
    let is_ignored = |b: &u8| matches!(b, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'-');
    text.bytes().filter(|b| !is_ignored(b)).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = book_digits(text);
    let Some((last, first)) = digits.split_last() else {
        return false;
    };
    let is_last = *last == b'X' || last.is_ascii_digit();
    if first.len() != 9 || !first.iter().all(u8::is_ascii_digit) || !is_last {
        return false;
    }
    let mut sum = 0;
    for (weight, digit) in (1..).zip(first) {
        sum += weight * u32::from(digit - b'0');
    }
    let last = if *last == b'X' {
        10
    } else {
        u32::from(last - b'0')
    };
    (sum + 10 * last).is_multiple_of(11)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = book_digits(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let mut sum = 0;
    for (index, digit) in digits.iter().enumerate() {
        let factor = if index % 2 == 0 { 1 } else { 3 };
        sum += factor * u32::from(digit - b'0');
    }
    sum.is_multiple_of(10)
}

/// Reports whether a text is a social security number of eleven characters.
pub(super) fn is_ssn(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(index, b)| match index {
            3 | 6 => matches!(b, b'-' | b' '),
            _ => b.is_ascii_digit(),
        })
}
