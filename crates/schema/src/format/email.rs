//! Mail addresses, as Go's `mail.ParseAddress` accepts them: an address, optionally with a display
//! name or a comment, or a group of one.

use super::hosts;

pub(super) fn is_email(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    let count = parser.address(true);
    count == Some(1) && parser.skip_comments() && parser.rest.is_empty()
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Reads an address, or a group if `with_group`; returns how many addresses it has.
    fn address(&mut self, with_group: bool) -> Option<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        if self.plain_address() {
            self.skip_space();
            if self.take('(') && !self.comment() {
                return None;
            }
            return Some(1);
        }
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if with_group && self.take(':') {
            return self.group();
        }
        (self.take('<') && self.plain_address() && self.take('>')).then_some(1)
    }

    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        if self.take(';') {
            return self.skip_comments().then_some(0);
        }
        let mut count = 0;
        loop {
            self.skip_space();
            count += self.address(false)?;
            if !self.skip_comments() {
                return None;
            }
            if self.take(';') {
                return self.skip_comments().then_some(count);
            }
            if !self.take(',') {
                return None;
            }
        }
    }

    /// Reads `local@domain`; without one, nothing is read.
    fn plain_address(&mut self) -> bool {
        let start = self.rest;
        let is_read = self.local_and_domain().is_some();
        if !is_read {
            self.rest = start;
        }
        is_read
    }

    fn local_and_domain(&mut self) -> Option<()> {
        self.skip_space();
        if self.rest.starts_with('"') {
            let is_empty = self.quoted()?;
            if is_empty {
                return None;
            }
        } else {
            self.atom(false)?;
        }
        if !self.take('@') {
            return None;
        }
        self.skip_space();
        if self.take('[') {
            let end = self.rest.find(']')?;
            let (literal, rest) = self.rest.split_at(end);
            self.rest = &rest[1..];
            return hosts::is_strict_address(literal).then_some(());
        }
        self.atom(false)
    }

    /// Reads words: at least one.
    fn phrase(&mut self) -> Option<()> {
        let mut count = 0;
        loop {
            if count > 0 && !self.skip_comments() {
                return None;
            }
            self.skip_space();
            if self.rest.is_empty() {
                return Some(());
            }
            let word = if self.rest.starts_with('"') {
                self.quoted().map(|_| ())
            } else {
                self.atom(true)
            };
            if word.is_none() {
                return (count > 0).then_some(());
            }
            count += 1;
        }
    }

    /// Reads a quoted text, and returns whether it is empty.
    fn quoted(&mut self) -> Option<bool> {
        let mut is_escaped = false;
        for (index, c) in self.rest.char_indices().skip(1) {
            let is_plain = is_visible(c) || matches!(c, ' ' | '\t');
            if is_escaped {
                if !is_plain {
                    return None;
                }
                is_escaped = false;
            } else if c == '"' {
                self.rest = &self.rest[index + 1..];
                return Some(index == 1);
            } else if c == '\\' {
                is_escaped = true;
            } else if !is_plain {
                return None;
            }
        }
        None
    }

    fn atom(&mut self, is_permissive: bool) -> Option<()> {
        let is_end = |c: char| !is_visible(c) || "()<>[]:;@\\,\"".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        if atom.is_empty() {
            return None;
        }
        self.rest = rest;
        let is_dotted = atom.starts_with('.') || atom.ends_with('.') || atom.contains("..");
        (is_permissive || !is_dotted).then_some(())
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Skips space and comments; false if a comment does not end.
    fn skip_comments(&mut self) -> bool {
        self.skip_space();
        while self.take('(') {
            if !self.comment() {
                return false;
            }
            self.skip_space();
        }
        true
    }

    /// Skips a comment after its first parenthesis; false if it does not end.
    fn comment(&mut self) -> bool {
        let (mut depth, mut is_escaped) = (1_usize, false);
        for (index, c) in self.rest.char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' if index + 1 < self.rest.len() => is_escaped = true,
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &self.rest[index + 1..];
                return true;
            }
        }
        false
    }
}

fn is_visible(c: char) -> bool {
    matches!(c, '!'..='~') || !c.is_ascii()
}
