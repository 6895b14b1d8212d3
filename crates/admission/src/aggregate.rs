//! Several errors as one text.

use std::collections::BTreeSet;

/// Returns the text of several errors as upstream prints their aggregate: the only one, or all that
/// differ in brackets. `None` if there is none.
pub(crate) fn aggregate(errors: &[String]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let differing: Vec<&str> = errors
        .iter()
        .map(String::as_str)
        .filter(|it| seen.insert(*it))
        .collect();
    match differing[..] {
        [] => None,
        [one] => Some(one.to_owned()),
        _ => Some(format!("[{}]", differing.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_stands_alone_and_several_in_brackets() {
        let errors = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(aggregate(&[]), None);
        assert_eq!(aggregate(&errors[..1]), Some("a".to_owned()));
        assert_eq!(aggregate(&errors), Some("[a, b]".to_owned()));
    }
}
