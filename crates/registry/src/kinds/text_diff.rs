//! What changed between two JSON texts, as upstream shows it: a unified diff of their lines.

use std::fmt::Write as _;

use super::line_matches::{self, Block};

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Texts with more lines than this are not compared.
const LINES_MAX: usize = 4000;

/// The hunks of the difference, without a header; empty if there is none.
pub(super) fn json_diff(old: &str, new: &str) -> String {
    let (old, new) = (indented(old), indented(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > LINES_MAX || new.len() > LINES_MAX {
        return String::new();
    }
    hunks(&edits(&old, &new))
}

/// JSON with one line for each value, and one space for each level.
fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                out.push(c);
            }
            '{' | '[' if matches!(chars.peek(), Some('}' | ']')) => {
                out.push(c);
                out.extend(chars.next());
            }
            '{' | '[' => {
                depth += 1;
                out.push(c);
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// What makes the new lines of the old ones.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    let mut edits = Vec::with_capacity(old.len().max(new.len()));
    let (mut i, mut j) = (0, 0);
    let end = Block {
        old: old.len(),
        new: new.len(),
        lines: 0,
    };
    for block in line_matches::blocks(old, new).into_iter().chain([end]) {
        let part = |lines: &[&'a str], from: usize, to: usize| -> Vec<&'a str> {
            lines.get(from..to).unwrap_or_default().to_vec()
        };
        let (removed, added) = (part(old, i, block.old), part(new, j, block.new));
        edits.extend(removed.into_iter().map(Edit::Removed));
        edits.extend(added.into_iter().map(Edit::Added));
        (i, j) = (block.old + block.lines, block.new + block.lines);
        edits.extend(part(old, block.old, i).into_iter().map(Edit::Same));
    }
    edits
}

fn hunks(edits: &[Edit<'_>]) -> String {
    let mut out = String::new();
    let changed = |edit: &Edit<'_>| !matches!(edit, Edit::Same(_));
    let mut at = 0;
    while let Some(first) = edits[at..].iter().position(changed).map(|it| it + at) {
        let start = first.saturating_sub(CONTEXT);
        let mut last = first;
        while let Some(next) = edits[last + 1..].iter().position(changed) {
            if next > 2 * CONTEXT {
                break;
            }
            last += next + 1;
        }
        let end = (last + CONTEXT + 1).min(edits.len());
        push_hunk(&mut out, edits, start, end);
        at = end;
    }
    out
}

fn push_hunk(out: &mut String, edits: &[Edit<'_>], start: usize, end: usize) {
    let olds = |part: &[Edit<'_>]| {
        part.iter()
            .filter(|it| !matches!(it, Edit::Added(_)))
            .count()
    };
    let news = |part: &[Edit<'_>]| {
        part.iter()
            .filter(|it| !matches!(it, Edit::Removed(_)))
            .count()
    };
    let (before, hunk) = (&edits[..start], &edits[start..end]);
    let (old, new) = (olds(before) + 1, news(before) + 1);
    let (old_count, new_count) = (olds(hunk), news(hunk));
    let (old, new) = (range(old, old_count), range(new, new_count));
    // Writing to a String cannot fail.
    let _ = writeln!(out, "@@ -{old} +{new} @@");
    for edit in hunk {
        let (mark, line) = match edit {
            Edit::Same(line) => (' ', line),
            Edit::Removed(line) => ('-', line),
            Edit::Added(line) => ('+', line),
        };
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    }
}

/// The lines of a hunk, as `diff` writes them.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", first.saturating_sub(1)),
        1 => first.to_string(),
        _ => format!("{first},{count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::json_diff;

    #[test]
    fn a_change_is_shown_among_its_neighbours() {
        let old = r#"{"A":1,"B":null,"C":["x"],"D":{},"E":"a,\"b"}"#;
        let new = r#"{"A":1,"B":2,"C":["x"],"D":{},"E":"a,\"b"}"#;
        let expected = "@@ -1,6 +1,6 @@\n {\n  \"A\": 1,\n- \"B\": null,\n+ \"B\": 2,\n  \
                        \"C\": [\n   \"x\"\n  ],\n";
        assert_eq!(json_diff(old, new), expected);
        assert_eq!(json_diff(old, old), "");
    }

    #[test]
    fn much_that_differs_is_shown_as_replaced() {
        let list = |add: usize| {
            let items: Vec<String> = (0..1_000).map(|it| (it + add).to_string()).collect();
            format!("[{}]", items.join(","))
        };
        let diff = json_diff(&list(0), &list(5_000));
        assert_eq!(diff.lines().filter(|it| it.starts_with('-')).count(), 1_000);
        assert_eq!(diff.lines().filter(|it| it.starts_with('+')).count(), 1_000);
    }

    #[test]
    fn an_item_that_is_added_is_shown_where_its_neighbours_fit_longest() {
        let volume = |name: &str| format!(r#"{{"Name":"{name}","A":null,"B":null}}"#);
        let old = format!(r#"{{"Volumes":[{}],"C":1}}"#, volume("a"));
        let new = format!(r#"{{"Volumes":[{},{}],"C":1}}"#, volume("a"), volume("b"));
        assert_eq!(
            json_diff(&old, &new),
            "@@ -4,6 +4,11 @@\n    \"Name\": \"a\",\n    \"A\": null,\n    \"B\": null\n+  },\n+  \
             {\n+   \"Name\": \"b\",\n+   \"A\": null,\n+   \"B\": null\n   }\n  ],\n  \"C\": 1\n"
        );
    }

    #[test]
    fn changes_far_apart_are_shown_apart() {
        let list = |first: &str, last: &str| {
            let middle: Vec<String> = (0..20).map(|it| it.to_string()).collect();
            format!("[{first},{},{last}]", middle.join(","))
        };
        let diff = json_diff(&list("1", "1"), &list("2", "2"));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
    }
}
