//! Quantities: what parses prints as something that parses to an equal amount, and sums are
//! undone by differences.

#![no_main]

use kubist_apimachinery::Quantity;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut words = text.splitn(2, ' ');
    let Some(Ok(one)) = words.next().map(str::parse::<Quantity>) else {
        return;
    };
    let printed = |it: &Quantity| -> Quantity {
        let parsed = it.as_str().parse();
        parsed.expect("what was printed can be parsed")
    };
    let again = printed(&one);
    assert_eq!(again, one);
    // 312.5Ki is printed as 320000, which is decimal: 320k. There it ends, as upstream does.
    let third = printed(&again);
    assert_eq!((&third, third.as_str()), (&again, again.as_str()));
    assert_eq!(one.is_zero(), one.signum() == 0);
    let (value, milli) = (one.value(), one.milli_value());
    assert_eq!(value.signum(), i64::from(one.signum()));
    assert_eq!(milli.signum(), i64::from(one.signum()));
    assert!(!one.to_f64().is_nan());
    assert_eq!(-(-one.clone()), one);
    let Some(Ok(other)) = words.next().map(str::parse::<Quantity>) else {
        return;
    };
    if [&one, &other].iter().any(|it| is_extreme(it)) {
        return;
    }
    let sum = one.clone() + other.clone();
    assert_eq!(sum.cmp(&one), other.cmp(&Quantity::default()));
    assert_eq!(sum - other, one);
});

/// So large that a binary amount is cut to the largest integer, as upstream does, or so small
/// that a sum keeps the larger alone.
fn is_extreme(quantity: &Quantity) -> bool {
    let size = quantity.to_f64().abs();
    !quantity.is_zero() && !(1e-300..1e18).contains(&size)
}
