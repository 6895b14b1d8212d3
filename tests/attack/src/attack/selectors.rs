//! Selectors of the maximum length of a URL, over many objects.
//!
//! Each ends in a term that no object matches, so that all of its terms are evaluated for every
//! object and almost nothing is returned.

use crate::call::Call;
use crate::fill::pods;

/// Bytes of a selector: the rest of the 64 kB that HTTP libraries allow for a URL.
const SELECTOR_BYTES: usize = 62_000;

/// Returns all of them, as lists that may take a second, and as watches.
pub(super) fn calls() -> Vec<Call> {
    let value = |number: usize| format!("x{number:05}");
    let of_one = long("key%20in%20(", value, ")");
    let of_none = long("key%20notin%20(", value, "),zone=none");
    let unequal = long("", |number| format!("k{number:05}!=v"), ",zone=none");
    let same_key = long("", |number| format!("key!=x{number:05}"), ",zone=none");
    let absent = long("", |number| format!("!k{number:05}"), ",zone=none");
    let names = |number: usize| format!("metadata.name!=a{number:05}");
    let fields = long("", names, ",spec.nodeName=none");
    let list = |label, parameter, selector: &str| {
        Call::get(
            label,
            format!("{}?timeout=1s&{parameter}={selector}", pods()),
        )
    };
    let watch = |label, parameter, selector: &str| {
        let options = "watch=true&resourceVersion=0&timeoutSeconds=1";
        Call::get(
            label,
            format!("{}?{options}&{parameter}={selector}", pods()),
        )
    };
    vec![
        list("list, set", "labelSelector", &of_one),
        list("list, not in a set", "labelSelector", &of_none),
        list("list, requirements", "labelSelector", &unequal),
        list("list, requirements of one key", "labelSelector", &same_key),
        list("list, absent keys", "labelSelector", &absent),
        list("list, fields", "fieldSelector", &fields),
        watch("watch, set", "labelSelector", &of_one),
        watch("watch, not in a set", "labelSelector", &of_none),
        watch("watch, requirements", "labelSelector", &unequal),
        watch("watch, fields", "fieldSelector", &fields),
    ]
}

/// Returns as many terms as fit.
fn long(begin: &str, term: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = begin.to_owned();
    for number in 0.. {
        let term = term(number);
        if text.len() + term.len() + 1 + end.len() > SELECTOR_BYTES {
            break;
        }
        if number > 0 {
            text.push(',');
        }
        text += &term;
    }
    text + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_as_long_as_a_url_may_be_and_whole() {
        let selector = long("key%20in%20(", |number| format!("x{number:05}"), ")");
        assert!(selector.starts_with("key%20in%20(x00000,x00001,"));
        assert!(selector.ends_with(')') && !selector.contains(",)"));
        assert!((SELECTOR_BYTES - 10..=SELECTOR_BYTES).contains(&selector.len()));
        for call in calls() {
            call.head("127.0.0.1:65535", Some("t")).unwrap();
        }
    }
}
