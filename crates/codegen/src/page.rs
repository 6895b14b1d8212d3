//! `Page`: text in the layout of rustfmt, at a depth of nested modules.

use crate::docs;
use std::fmt::Write as _;

/// The columns of a step of indentation.
const STEP: usize = 4;
/// The most columns of an attribute's items in one line.
const ATTRIBUTE_WIDTH: usize = 70;

/// A text that grows by lines.
#[derive(Debug, Default)]
pub(crate) struct Page {
    text: String,
    depth: usize,
}

impl Page {
    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Adds a line; an empty one has no indentation.
    pub(crate) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            let width = self.depth * STEP;
            let _infallible = write!(self.text, "{:width$}{line}", "");
        }
        self.text.push('\n');
    }

    /// Adds lines in a block: `head {`, what `inside` adds, and `}`.
    pub(crate) fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        let line = format!("{head} {{");
        if self.fits(&line) {
            self.line(&line);
        } else {
            self.line(head);
            self.line("{");
        }
        self.indented(inside);
        self.line("}");
    }

    /// Adds a comment with a mark such as `///`.
    pub(crate) fn docs(&mut self, mark: &str, description: &str) {
        let width = docs::WIDTH - self.depth * STEP - mark.len() - 1;
        for line in docs::lines(description, width) {
            if line.is_empty() {
                self.line(mark);
            } else {
                self.line(&format!("{mark} {line}"));
            }
        }
    }

    /// Adds an attribute; a long one has a line for each item.
    pub(crate) fn attribute(&mut self, mark: &str, name: &str, items: &[String]) {
        let joined = items.join(", ");
        let line = format!("{mark}[{name}({joined})]");
        if joined.chars().count() <= ATTRIBUTE_WIDTH && self.fits(&line) {
            return self.line(&line);
        }
        self.line(&format!("{mark}[{name}("));
        self.indented(|page| {
            for (index, item) in items.iter().enumerate() {
                let comma = if index + 1 < items.len() { "," } else { "" };
                page.line(&format!("{item}{comma}"));
            }
        });
        self.line(")]");
    }

    /// Adds a list between two texts, as in `use a::{B, C};`; a long one has as many items in a
    /// line as fit.
    pub(crate) fn filled(&mut self, before: &str, items: &[String], after: &str) {
        let line = format!("{before}{}{after}", items.join(", "));
        if self.fits(&line) {
            return self.line(&line);
        }
        self.line(before);
        self.indented(|page| {
            let mut line = String::new();
            for item in items {
                if !line.is_empty() && !page.fits(&format!("{line} {item},")) {
                    page.line(&std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                let _infallible = write!(line, "{item},");
            }
            page.line(&line);
        });
        self.line(after);
    }

    /// Adds a field; a long type has its own line, or a line for each of its parameters.
    pub(crate) fn field(&mut self, name: &str, ty: &str) {
        let line = format!("pub {name}: {ty},");
        if self.fits(&line) {
            return self.line(&line);
        }
        let fits = (self.depth + 1) * STEP + ty.chars().count() < docs::WIDTH;
        if !fits && ty.ends_with('>') {
            return self.broken(&format!("pub {name}: "), ty);
        }
        self.line(&format!("pub {name}:"));
        self.indented(|page| page.line(&format!("{ty},")));
    }

    /// Adds a type with a line for each of its parameters.
    fn broken(&mut self, before: &str, ty: &str) {
        let inner = ty.split_once('<').and_then(|(head, rest)| {
            let inner = rest.strip_suffix('>')?;
            Some((head, inner))
        });
        let Some((head, inner)) = inner else {
            return self.line(&format!("{before}{ty},"));
        };
        self.line(&format!("{before}{head}<"));
        self.indented(|page| {
            let parameters = match inner.split_once(", ") {
                Some((key, value)) if head == "BTreeMap" => vec![key, value],
                _ => vec![inner],
            };
            for it in parameters {
                if page.fits(&format!("{it},")) {
                    page.line(&format!("{it},"));
                } else {
                    page.broken("", it);
                }
            }
        });
        self.line(">,");
    }

    fn fits(&self, line: &str) -> bool {
        self.depth * STEP + line.chars().count() <= docs::WIDTH
    }

    fn indented(&mut self, inside: impl FnOnce(&mut Self)) {
        self.depth += 1;
        inside(self);
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_as_rustfmt_breaks_them() {
        let long = |letter: &str| letter.repeat(60);
        let mut page = Page::default();
        page.attribute("#", "serde", &["a".to_owned(), "b".to_owned()]);
        page.attribute("#", "serde", &[long("a"), long("b")]);
        page.filled("#[derive(", &[long("A"), "B".to_owned(), long("C")], ")]");
        page.block("struct A", |page| page.field(&long("a"), &long("B")));
        let expected = format!(
            "#[serde(a, b)]\n#[serde(\n    {},\n    {}\n)]\n#[derive(\n    {}, B,\n    {},\n)]\n\
             struct A {{\n    pub {}:\n        {},\n}}\n",
            long("a"),
            long("b"),
            long("A"),
            long("C"),
            long("a"),
            long("B"),
        );
        assert_eq!(page.finish(), expected);
    }
}
