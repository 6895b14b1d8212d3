//! Canonical printing: the shortest mantissa without a fraction, and a suffix of the format.

use super::QuantityFormat;
use super::decimal::Decimal;

const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Returns the canonical text. Binary amounts below 1024 or with a fraction are printed with
/// decimal suffixes, so that nothing is lost.
pub(super) fn print(amount: &Decimal, format: QuantityFormat) -> String {
    if amount.is_zero() {
        return "0".to_owned();
    }
    match format {
        QuantityFormat::BinarySi if is_binary(amount) => print_binary(amount),
        QuantityFormat::BinarySi | QuantityFormat::DecimalSi => print_decimal(amount, true),
        QuantityFormat::DecimalExponent => print_decimal(amount, false),
    }
}

fn is_binary(amount: &Decimal) -> bool {
    let limit = Decimal::from(1024);
    amount.exponent() >= 0 && (*amount >= limit || *amount <= limit.negated())
}

fn print_binary(amount: &Decimal) -> String {
    let mut mantissa = amount.clone();
    let mut index = 0;
    while index + 1 < BINARY_SUFFIXES.len() {
        let Some(next) = mantissa.kibi() else { break };
        mantissa = next;
        index += 1;
    }
    let zeros = usize::try_from(mantissa.exponent()).unwrap_or_default();
    format!(
        "{}{}{}",
        sign(amount),
        mantissa.digits_text(zeros),
        BINARY_SUFFIXES[index]
    )
}

/// Amounts beyond the largest suffix get an exponent. (Upstream drops the suffix there, and with it
/// the amount: `1000E` becomes `1`.)
fn print_decimal(amount: &Decimal, suffixes: bool) -> String {
    // Zeros in the mantissa make the exponent a multiple of three.
    let zeros = amount.exponent().rem_euclid(3);
    let exponent = amount.exponent() - zeros;
    let mantissa = amount.digits_text(usize::try_from(zeros).unwrap_or_default());
    let suffix = usize::try_from(exponent / 3 + 3)
        .ok()
        .and_then(|it| DECIMAL_SUFFIXES.get(it));
    let sign = sign(amount);
    match suffix {
        Some(suffix) if suffixes => format!("{sign}{mantissa}{suffix}"),
        _ if exponent == 0 => format!("{sign}{mantissa}"),
        _ => format!("{sign}{mantissa}e{exponent}"),
    }
}

fn sign(amount: &Decimal) -> &'static str {
    if amount.is_negative() { "-" } else { "" }
}
