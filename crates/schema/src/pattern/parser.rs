//! The parser of Go's syntax, which writes the syntax of the `regex` crate.
//!
//! Only whether a text matches is of interest, so groups do not capture and all repetitions are
//! greedy.

use super::class;
use super::escape::{Escape, parse_escape};
use super::unicode_name::Names;
use super::{DEPTH_MAX, PatternError};
use std::fmt::Write as _;

/// The most copies that repetitions may make together.
const COPIES_MAX: u64 = 1_000;

/// The flags that decide what an expression means.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) folds_case: bool,
    pub(super) is_multi_line: bool,
    pub(super) dot_matches_newline: bool,
}

/// A group that has not ended.
struct Group {
    /// The flags to restore at its end.
    flags: Flags,
    /// The state of the item at the point where the group begins.
    copies: u64,
}

struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
    flags: Flags,
    groups: Vec<Group>,
    /// Whether a repetition may follow, and the copies that the last item has already.
    last: Option<u64>,
    /// The most copies of the items in the current group.
    copies: u64,
    names: Names,
}

/// Translates an expression.
pub(super) fn translate(text: &str) -> Result<String, PatternError> {
    let mut parser = Parser {
        whole: text,
        rest: text,
        out: String::with_capacity(text.len() + text.len() / 2),
        flags: Flags::default(),
        groups: Vec::new(),
        last: None,
        copies: 1,
        names: Names::default(),
    };
    parser.all()?;
    Ok(parser.out)
}

/// Writes a character that stands for itself.
pub(super) fn push_char(out: &mut String, c: u32) {
    match char::from_u32(c) {
        Some(c) if c.is_ascii_alphanumeric() => out.push(c),
        // Writing to a String cannot fail.
        Some(_) => drop(write!(out, "\\x{{{c:X}}}")),
        // A surrogate matches no text.
        None => out.push_str("[^\\x{0}-\\x{10FFFF}]"),
    }
}

impl<'a> Parser<'a> {
    fn all(&mut self) -> Result<(), PatternError> {
        // The text from the last repetition, if it came directly before.
        let mut last_repeat: Option<&'a str> = None;
        while let Some(c) = self.rest.chars().next() {
            last_repeat = self.item(c, last_repeat)?;
        }
        if self.groups.is_empty() {
            Ok(())
        } else {
            Err(PatternError::new("missing closing )", self.whole))
        }
    }

    /// Reads what begins with this character, and returns the text from here if it is a repetition.
    fn item(
        &mut self,
        c: char,
        last_repeat: Option<&'a str>,
    ) -> Result<Option<&'a str>, PatternError> {
        let before = self.rest;
        let mut repeat = None;
        match c {
            '(' => self.open()?,
            '|' => {
                self.advance(1);
                self.out.push('|');
                self.last = None;
            }
            ')' => self.close()?,
            '^' if self.flags.is_multi_line => self.assertion(1, "(?m:^)"),
            '^' => self.assertion(1, "\\A"),
            '$' if self.flags.is_multi_line => self.assertion(1, "(?m:$)"),
            '$' => self.assertion(1, "\\z"),
            '.' if self.flags.dot_matches_newline => self.assertion(1, "(?s:.)"),
            '.' => self.assertion(1, "[^\\n]"),
            '[' => {
                self.rest = class::parse(self.rest, self.flags, &mut self.names, &mut self.out)?;
                self.last = Some(1);
            }
            '*' | '+' | '?' => {
                let bounds = &before[..1];
                self.repeat(before, &before[1..], bounds, 1, last_repeat)?;
                repeat = Some(before);
            }
            '{' => match parse_repeat(before) {
                None => self.literal('{', 1),
                Some((bounds, after)) => {
                    self.repeat_within(before, after, bounds, last_repeat)?;
                    repeat = Some(before);
                }
            },
            '\\' => self.backslash()?,
            c => self.literal(c, c.len_utf8()),
        }
        Ok(repeat)
    }

    fn advance(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn literal(&mut self, c: char, length: usize) {
        self.advance(length);
        self.push_literal(u32::from(c));
    }

    fn push_literal(&mut self, c: u32) {
        if self.flags.folds_case {
            self.out.push_str("(?i:");
            push_char(&mut self.out, c);
            self.out.push(')');
        } else {
            push_char(&mut self.out, c);
        }
        self.last = Some(1);
    }

    fn assertion(&mut self, length: usize, text: &str) {
        self.advance(length);
        self.out.extend(["(?:", text, ")"]);
        self.last = Some(1);
    }

    fn open(&mut self) -> Result<(), PatternError> {
        let flags = self.flags;
        if self.rest.starts_with("(?") {
            let is_group = self.perl_flags()?;
            if !is_group {
                return Ok(());
            }
        } else {
            self.advance(1);
        }
        if self.groups.len() >= DEPTH_MAX {
            return Err(PatternError::new("expression nests too deeply", self.whole));
        }
        self.groups.push(Group {
            flags,
            copies: std::mem::replace(&mut self.copies, 1),
        });
        self.out.push_str("(?:");
        self.last = None;
        Ok(())
    }

    fn close(&mut self) -> Result<(), PatternError> {
        let Some(group) = self.groups.pop() else {
            return Err(PatternError::new("unexpected )", self.whole));
        };
        self.advance(1);
        self.out.push(')');
        self.flags = group.flags;
        self.last = Some(self.copies);
        self.copies = self.copies.max(group.copies);
        Ok(())
    }

    /// Reads `(?…`, and returns whether a group begins.
    fn perl_flags(&mut self) -> Result<bool, PatternError> {
        let start = self.rest;
        let name = start.strip_prefix("(?P<").filter(|_| start.len() > 4);
        let name = name.or_else(|| start.strip_prefix("(?<").filter(|_| start.len() > 3));
        if let Some(name) = name {
            const INVALID: &str = "invalid named capture";
            let Some((name, after)) = name.split_once('>') else {
                return Err(PatternError::new(INVALID, start));
            };
            let is_valid = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(is_valid) {
                let capture = &start[..start.len() - after.len()];
                return Err(PatternError::new(INVALID, capture));
            }
            self.rest = after;
            return Ok(true);
        }
        self.advance(2);
        let (mut flags, mut value, mut has_flag) = (self.flags, true, false);
        while let Some(c) = self.rest.chars().next() {
            self.advance(c.len_utf8());
            match c {
                'i' => flags.folds_case = value,
                'm' => flags.is_multi_line = value,
                's' => flags.dot_matches_newline = value,
                'U' => {}
                '-' if value => {
                    value = false;
                    has_flag = false;
                    continue;
                }
                ':' | ')' if value || has_flag => {
                    self.flags = flags;
                    return Ok(c == ':');
                }
                _ => break,
            }
            has_flag = true;
        }
        let seen = &start[..start.len() - self.rest.len()];
        Err(PatternError::new(
            "invalid or unsupported Perl syntax",
            seen,
        ))
    }

    fn repeat_within(
        &mut self,
        before: &'a str,
        after: &'a str,
        bounds: Option<(u32, Option<u32>)>,
        last_repeat: Option<&'a str>,
    ) -> Result<(), PatternError> {
        let shown = &before[..before.len() - after.len()];
        let size = || PatternError::new("invalid repeat count", shown);
        let (min, max) = bounds.ok_or_else(size)?;
        if min > 1_000 || max.is_some_and(|it| it > 1_000 || it < min) {
            return Err(size());
        }
        let text = match max {
            Some(max) => format!("{{{min},{max}}}"),
            None => format!("{{{min},}}"),
        };
        let copies = u64::from(max.unwrap_or(min));
        let inner = self.last;
        let after = self.repeat(before, after, &text, copies.max(1), last_repeat)?;
        let is_many = min >= 2 || max.is_some_and(|it| it >= 2);
        if is_many && max != Some(0) && self.last > Some(COPIES_MAX) {
            let shown = &before[..before.len() - after.len()];
            return Err(PatternError::new("invalid repeat count", shown));
        }
        if max == Some(0) {
            self.last = inner.map(|_| 1);
        }
        self.copies = self.copies.max(self.last.unwrap_or(1));
        Ok(())
    }

    /// Writes a repetition of the last item, and returns the text after it.
    fn repeat(
        &mut self,
        before: &'a str,
        after: &'a str,
        bounds: &str,
        copies: u64,
        last_repeat: Option<&'a str>,
    ) -> Result<&'a str, PatternError> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(last) = last_repeat {
            let shown = &last[..last.len() - after.len()];
            return Err(PatternError::new(
                "invalid nested repetition operator",
                shown,
            ));
        }
        let Some(inner) = self.last else {
            let shown = &before[..before.len() - after.len()];
            return Err(PatternError::new(
                "missing argument to repetition operator",
                shown,
            ));
        };
        self.out.push_str(bounds);
        self.last = Some(inner.saturating_mul(copies));
        self.rest = after;
        Ok(after)
    }

    fn backslash(&mut self) -> Result<(), PatternError> {
        let rest = self.rest;
        match rest[1..].chars().next() {
            Some('A') => self.assertion(2, "\\A"),
            Some('z') => self.assertion(2, "\\z"),
            Some('b') => self.assertion(2, "(?-u:\\b)"),
            Some('B') => self.assertion(2, "(?-u:\\B)"),
            Some('C') => return Err(PatternError::new("invalid escape sequence", &rest[..2])),
            Some('Q') => {
                let literal = &rest[2..];
                let (literal, after) = literal.split_once("\\E").unwrap_or((literal, ""));
                for c in literal.chars() {
                    self.push_literal(u32::from(c));
                }
                self.rest = after;
            }
            _ => {
                if let Some(after) =
                    class::parse_named(rest, self.flags, &mut self.names, &mut self.out)?
                {
                    self.rest = after;
                    self.last = Some(1);
                    return Ok(());
                }
                let Escape { c, rest } = parse_escape(rest)?;
                self.rest = rest;
                self.push_literal(c);
            }
        }
        Ok(())
    }
}

/// The bounds of a repetition, none if they are too large, and the text after it.
type Repeat<'a> = (Option<(u32, Option<u32>)>, &'a str);

/// Reads `{2}`, `{2,}` or `{2,3}`. None if the text is none of these, and so a literal.
fn parse_repeat(text: &str) -> Option<Repeat<'_>> {
    let (min, rest) = parse_int(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (min.map(Some), rest),
        Some(rest) if rest.starts_with('}') => (Some(None), rest),
        Some(rest) => {
            let (max, rest) = parse_int(rest)?;
            (max.map(Some), rest)
        }
    };
    Some((min.zip(max), rest.strip_prefix('}')?))
}

/// Reads a number without leading zeros; `Some(None)` if it is too large.
fn parse_int(text: &str) -> Option<(Option<u32>, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok(), rest))
}
