//! Every contract in `docs/CONTRACTS.md` is cited by a test, and every cited contract exists.
//!
//! A citation is a comment of the form "Contract", a space and numbers such as `CACHE-1`,
//! separated by commas, above or in a test.

use super::files;
use crate::process::{Outcome, root};
use std::collections::{BTreeMap, BTreeSet};

/// The page of the contracts.
const PAGE: &str = "docs/CONTRACTS.md";

/// Reports contracts without a test, and citations without a contract.
pub(super) fn check() -> Outcome<Vec<String>> {
    let page = std::fs::read_to_string(root().join(PAGE))?;
    let mut sources = Vec::new();
    for (name, file) in files::sources()? {
        sources.push((name, std::fs::read_to_string(file)?));
    }
    Ok(compare(&page, &sources))
}

fn compare(page: &str, sources: &[(String, String)]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut promised = BTreeSet::new();
    for number in page.lines().filter_map(row) {
        if !promised.insert(number) {
            findings.push(format!("{PAGE}: {number} stands there twice"));
        }
    }
    let mut cited = BTreeMap::new();
    for (name, text) in sources {
        for number in text.lines().flat_map(citations) {
            cited.entry(number).or_insert(name.as_str());
        }
    }
    for number in &promised {
        if !cited.contains_key(number) {
            findings.push(format!("{PAGE}: no test cites {number}"));
        }
    }
    for (number, name) in cited {
        if !promised.contains(number) {
            findings.push(format!(
                "{name}: cites {number}, which {PAGE} does not have"
            ));
        }
    }
    findings
}

/// Returns the contract number of a table row.
fn row(line: &str) -> Option<&str> {
    let first = line.strip_prefix('|')?.split('|').next()?.trim();
    is_number(first).then_some(first)
}

/// Returns the contract numbers that a comment cites.
fn citations(line: &str) -> impl Iterator<Item = &str> {
    let comment = line.trim_start().trim_start_matches('/');
    let is_comment = line.trim_start().starts_with("//");
    let rest = comment.trim_start().strip_prefix("Contract ");
    let rest = rest.filter(|_| is_comment).unwrap_or_default();
    rest.split(',')
        .map(|it| it.trim().trim_end_matches('.'))
        .take_while(|it| is_number(it))
}

/// Reports whether it is of the form `CACHE-1`.
fn is_number(text: &str) -> bool {
    text.split_once('-').is_some_and(|(area, digits)| {
        !area.is_empty()
            && area.bytes().all(|it| it.is_ascii_uppercase())
            && !digits.is_empty()
            && digits.bytes().all(|it| it.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_without_a_test_and_a_citation_of_nothing_are_found() {
        let page =
            "| number | promise |\n|---|---|\n| AB-1 | one |\n| AB-2 | two |\n| AB-1 | x |\n";
        let test = "/// Contract AB-1, AB-9.\n#[test]\nlet x = \"Contract AB-2\";\n";
        let sources = [("a.rs".to_owned(), test.to_owned())];
        let expected = [
            "docs/CONTRACTS.md: AB-1 stands there twice",
            "docs/CONTRACTS.md: no test cites AB-2",
            "a.rs: cites AB-9, which docs/CONTRACTS.md does not have",
        ];
        assert_eq!(compare(page, &sources), expected);
    }
}
