//! Label and field selectors: what parses prints as something that parses to the same, and
//! matches the same.

#![no_main]

use kubist_apimachinery::{FieldSelector, Selector};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(selector) = text.parse::<Selector>() {
        let printed = selector.to_string();
        let again: Selector = printed.parse().expect("what was printed can be parsed");
        assert_eq!(printed, again.to_string());
        for value in [None, Some(""), Some("a"), Some("7")] {
            let matches = |it: &Selector| it.matches(|_| value);
            assert_eq!(matches(&selector), matches(&again), "{printed} {value:?}");
        }
    }
    if let Ok(selector) = text.parse::<FieldSelector>() {
        let printed = selector.to_string();
        let again: FieldSelector = printed.parse().expect("what was printed can be parsed");
        // Terms are sorted as they were written, and `==` is printed as `=`.
        assert_eq!(terms(&selector), terms(&again));
    }
});

fn terms(selector: &FieldSelector) -> Vec<String> {
    let mut terms: Vec<_> = selector.terms().iter().map(ToString::to_string).collect();
    terms.sort_unstable();
    terms
}
