//! The generated parts of `docs/PERFORMANCE.md`: those between two markers.

use kubist_test_support::process::Outcome;

/// Puts `text` between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
pub(super) fn replace(document: &str, name: &str, text: &str) -> Outcome<String> {
    let (begin, end) = (
        format!("<!-- bench:{name} -->"),
        format!("<!-- /bench:{name} -->"),
    );
    let (before, rest) = document
        .split_once(&begin)
        .ok_or_else(|| format!("the document has no {begin}"))?;
    let (_, after) = rest
        .split_once(&end)
        .ok_or_else(|| format!("the document has no {end}"))?;
    let text = text.trim_end();
    Ok(format!("{before}{begin}\n\n{text}\n\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_what_is_between_the_markers_is_replaced() {
        let document = "a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n";
        let once = replace(document, "x", "new\n").unwrap();
        assert_eq!(once, "a\n<!-- bench:x -->\n\nnew\n\n<!-- /bench:x -->\nb\n");
        assert_eq!(replace(&once, "x", "new").unwrap(), once);
        assert!(replace(document, "y", "new").is_err());
    }
}
