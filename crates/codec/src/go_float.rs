//! `go_float`: formats numbers as Go does.

/// Formats a number like Go's `%g`: with the fewest digits that identify it.
pub(crate) fn go_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_numbers_have_an_exponent() {
        for (value, text) in [
            (1.5, "1.5"),
            (2.0, "2"),
            (-0.0, "-0"),
            (123_456.5, "123456.5"),
            (1e6, "1e+06"),
            (3e9, "3e+09"),
            (1e30, "1e+30"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
        ] {
            assert_eq!(go_float(value), text);
        }
    }
}
