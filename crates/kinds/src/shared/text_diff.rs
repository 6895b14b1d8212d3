//! Differences between two JSON texts as upstream shows them: a unified diff of lines.

use kubist_apimachinery::go_text::escape_html;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// The number of lines around a change.
const CONTEXT: usize = 3;
/// The maximum number of lines in texts that are compared.
const LINES_MAX: usize = 4000;
/// The maximum number of lines and pairs of equal lines to compare: some milliseconds of work.
/// Lines beyond it are shown as replaced.
const STEPS_MAX: usize = 1 << 17;
/// In texts with at least this many lines, lines that occur in more than 1% of the places do not
/// begin a run.
const LONG_LINES: usize = 200;

/// Returns the hunks of the difference without a header. Equal texts have none.
pub(crate) fn json_diff(old: &str, new: &str) -> String {
    let (old, new) = (indented(&escape_html(old)), indented(&escape_html(new)));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > LINES_MAX || new.len() > LINES_MAX {
        return String::new();
    }
    hunks(&edits(&old, &new))
}

/// Formats JSON with one line per value and one space per level.
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

/// A run of consecutive lines that both texts share.
#[derive(Clone, Copy)]
struct Match {
    old: usize,
    new: usize,
    length: usize,
}

/// Finds common lines as upstream's library does: first the longest run, then the runs before and
/// after it. The difference is not always the shortest.
struct Matcher<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// The positions of a line in the new text, unless it occurs too often to begin a run.
    places: BTreeMap<&'a str, Vec<usize>>,
    /// The number of remaining steps.
    left: usize,
}

impl<'a> Matcher<'a> {
    fn new(old: &'a [&'a str], new: &'a [&'a str]) -> Self {
        let mut places: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
        for (place, line) in new.iter().enumerate() {
            places.entry(line).or_default().push(place);
        }
        if new.len() >= LONG_LINES {
            let most = new.len() / 100 + 1;
            places.retain(|_, places| places.len() <= most);
        }
        Self {
            old,
            new,
            places,
            left: STEPS_MAX,
        }
    }

    /// Returns all runs in order.
    fn matches(&mut self) -> Vec<Match> {
        let mut found = Vec::new();
        let mut open = vec![(0..self.old.len(), 0..self.new.len())];
        while let Some((old, new)) = open.pop() {
            let run = self.longest(&old, &new);
            if run.length == 0 {
                continue;
            }
            found.push(run);
            let (old_end, new_end) = (run.old + run.length, run.new + run.length);
            for (old, new) in [
                (old.start..run.old, new.start..run.new),
                (old_end..old.end, new_end..new.end),
            ] {
                if !old.is_empty() && !new.is_empty() {
                    open.push((old, new));
                }
            }
        }
        found.sort_unstable_by_key(|run| run.old);
        found
    }

    /// Returns the longest run within two ranges, or the first of several.
    fn longest(&mut self, old: &Range<usize>, new: &Range<usize>) -> Match {
        let mut best = Match {
            old: old.start,
            new: new.start,
            length: 0,
        };
        // The lengths of runs that end with the previous line, by their end position.
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for place in old.clone() {
            let mut ending = BTreeMap::new();
            let places = self.places.get(self.old[place]);
            let places = places.map_or(&[][..], Vec::as_slice);
            let first = places.partition_point(|it| *it < new.start);
            let last = places.partition_point(|it| *it < new.end);
            let Some(left) = self.left.checked_sub(1 + last.saturating_sub(first)) else {
                self.left = 0;
                return best;
            };
            self.left = left;
            for &other in &places[first..last.max(first)] {
                let run = other.checked_sub(1).and_then(|it| before.get(&it));
                let length = run.copied().unwrap_or_default() + 1;
                ending.insert(other, length);
                if length > best.length {
                    best = Match {
                        old: place + 1 - length,
                        new: other + 1 - length,
                        length,
                    };
                }
            }
            before = ending;
        }
        self.widened(best, old, new)
    }

    /// Extends a run by the adjacent equal lines that cannot begin a run.
    fn widened(&self, mut run: Match, old: &Range<usize>, new: &Range<usize>) -> Match {
        while run.old > old.start
            && run.new > new.start
            && self.old[run.old - 1] == self.new[run.new - 1]
        {
            run.old -= 1;
            run.new -= 1;
            run.length += 1;
        }
        while run.old + run.length < old.end
            && run.new + run.length < new.end
            && self.old[run.old + run.length] == self.new[run.new + run.length]
        {
            run.length += 1;
        }
        run
    }
}

/// Returns the edits that turn one list of lines into the other.
fn edits<'a>(old: &'a [&'a str], new: &'a [&'a str]) -> Vec<Edit<'a>> {
    let mut edits: Vec<Edit<'a>> = Vec::with_capacity(old.len().max(new.len()));
    let end = Match {
        old: old.len(),
        new: new.len(),
        length: 0,
    };
    let (mut i, mut j) = (0, 0);
    for run in Matcher::new(old, new).matches().into_iter().chain([end]) {
        edits.extend(old[i..run.old].iter().map(|line| Edit::Removed(line)));
        edits.extend(new[j..run.new].iter().map(|line| Edit::Added(line)));
        (i, j) = (run.old + run.length, run.new + run.length);
        edits.extend(old[run.old..i].iter().map(|line| Edit::Same(line)));
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
    let old = lines(olds(before), olds(hunk));
    let new = lines(news(before), news(hunk));
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

/// Formats the line range of a hunk: the first line and the line count.
fn lines(before: usize, count: usize) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        _ => format!("{},{count}", before + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::json_diff;

    #[test]
    fn an_item_is_put_before_the_one_that_follows_it() {
        let old = r#"{"Ports":[{"Name":"a","Port":1}]}"#;
        let new = r#"{"Ports":[{"Name":"","Port":0},{"Name":"a","Port":1}]}"#;
        let expected = "@@ -1,5 +1,9 @@\n {\n  \"Ports\": [\n+  {\n+   \"Name\": \"\",\n+   \
                        \"Port\": 0\n+  },\n   {\n    \"Name\": \"a\",\n    \"Port\": 1\n";
        assert_eq!(json_diff(old, new), expected);
    }

    #[test]
    fn long_texts_that_repeat_themselves_are_compared_in_time() {
        let list = |of: &str| format!("[{}]", vec![of; 3_900].join(","));
        let diff = json_diff(&list("1,2"), &list("1"));
        assert!(diff.is_empty(), "too many lines");
        let diff = json_diff(&list("1"), &list("1").replace("1,1,1]", "1,2,1]"));
        assert!(diff.contains("+ 2"), "{diff}");
    }

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
    fn changes_far_apart_are_shown_apart() {
        let list = |first: &str, last: &str| {
            let middle: Vec<String> = (0..20).map(|it| it.to_string()).collect();
            format!("[{first},{},{last}]", middle.join(","))
        };
        let diff = json_diff(&list("1", "1"), &list("2", "2"));
        assert_eq!(diff.matches("@@ -").count(), 2, "{diff}");
    }
}
