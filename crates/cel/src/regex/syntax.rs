//! What is wrong with a regular expression, in Go's words.
//!
//! This only scans: it finds the first error as Go's parser does, and accepts some expressions that
//! do not compile, such as those with classes of unknown names.

/// The largest count of a repetition.
const MAX_REPEAT: u32 = 1000;

/// Finds the first error of an expression. Returns where the braces are that only stand for
/// themselves.
pub(super) fn check(pattern: &str) -> Result<Vec<usize>, String> {
    let mut scan = Scan {
        pattern,
        rest: pattern,
        groups: 0,
        can_repeat: false,
        braces: Vec::new(),
    };
    scan.run()?;
    Ok(scan.braces)
}

/// Returns the words for an expression that does not compile although nothing is wrong with its
/// syntax: it has a class of an unknown name, or it is too large.
pub(super) fn explain(pattern: &str, compiles: impl Fn(&str) -> bool) -> String {
    let mut classes = pattern
        .match_indices("\\p")
        .chain(pattern.match_indices("\\P"))
        .filter_map(|(at, _)| {
            let from = &pattern[at..];
            named_class(from).ok().map(|rest| until(from, rest))
        });
    match classes.find(|it| !compiles(it)) {
        Some(class) => format!("error parsing regexp: invalid character class range: `{class}`"),
        None => format!("error parsing regexp: expression too large: `{pattern}`"),
    }
}

fn error<T>(what: &str, place: &str) -> Result<T, String> {
    Err(format!("error parsing regexp: {what}: `{place}`"))
}

struct Scan<'p> {
    pattern: &'p str,
    rest: &'p str,
    /// The number of groups that are open.
    groups: usize,
    /// Reports whether something that can be repeated is before the rest.
    can_repeat: bool,
    /// The places of braces that only stand for themselves.
    braces: Vec<usize>,
}

/// Returns the part of a text that is before one of its tails.
fn until<'p>(text: &'p str, tail: &str) -> &'p str {
    &text[..text.len() - tail.len()]
}

fn after_first(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

impl<'p> Scan<'p> {
    fn run(&mut self) -> Result<(), String> {
        // What follows the repetition's operand, if the rest follows a repetition.
        let mut repeated: Option<&str> = None;
        while let Some(first) = self.rest.chars().next() {
            let from = self.rest;
            let mut is_repeat = false;
            match first {
                '(' => {
                    self.rest = match from.strip_prefix("(?") {
                        Some(_) => self.flags(from)?,
                        None => self.open(&from[1..]),
                    };
                }
                '|' => {
                    self.rest = &from[1..];
                    self.can_repeat = false;
                }
                ')' => {
                    if self.groups == 0 {
                        return error("unexpected )", self.pattern);
                    }
                    self.groups -= 1;
                    self.rest = &from[1..];
                    self.can_repeat = true;
                }
                '[' => {
                    self.rest = class(from)?;
                    self.can_repeat = true;
                }
                '*' | '+' | '?' => {
                    self.repeat(&from[1..], repeated)?;
                    is_repeat = true;
                }
                '{' => is_repeat = self.brace(from, repeated)?,
                '\\' => self.escape(from)?,
                _ => self.literal(after_first(from)),
            }
            repeated = is_repeat.then_some(from);
        }
        if self.groups > 0 {
            return error("missing closing )", self.pattern);
        }
        Ok(())
    }

    fn literal(&mut self, rest: &'p str) {
        self.rest = rest;
        self.can_repeat = true;
    }

    const fn open(&mut self, rest: &'p str) -> &'p str {
        self.groups += 1;
        self.can_repeat = false;
        rest
    }

    /// Scans a counted repetition or a brace. Reports whether it is a repetition.
    fn brace(&mut self, from: &'p str, repeated: Option<&str>) -> Result<bool, String> {
        let Some((min, max, rest)) = counts(from) else {
            self.braces.push(self.pattern.len() - from.len());
            self.literal(&from[1..]);
            return Ok(false);
        };
        let is_valid = min <= MAX_REPEAT && max.is_none_or(|it| min <= it && it <= MAX_REPEAT);
        if !is_valid {
            return error("invalid repeat count", until(from, rest));
        }
        self.repeat(rest, repeated)?;
        Ok(true)
    }

    fn repeat(&mut self, after: &'p str, repeated: Option<&str>) -> Result<(), String> {
        let from = self.rest;
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(start) = repeated {
            return error("invalid nested repetition operator", until(start, after));
        }
        if !self.can_repeat {
            let place = until(from, after);
            return error("missing argument to repetition operator", place);
        }
        self.rest = after;
        Ok(())
    }

    /// Scans `(?flags)`, `(?flags:` or the name of a group.
    fn flags(&mut self, from: &'p str) -> Result<&'p str, String> {
        let name = from
            .strip_prefix("(?P<")
            .or_else(|| from.strip_prefix("(?<"));
        if let Some(name) = name {
            let Some(end) = name.find('>') else {
                return error("invalid named capture", from);
            };
            let rest = &name[end + 1..];
            let is_word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
            if end == 0 || !name[..end].bytes().all(is_word) {
                return error("invalid named capture", until(from, rest));
            }
            return Ok(self.open(rest));
        }
        let (mut is_negative, mut has_flag) = (false, false);
        let mut rest = &from[2..];
        while let Some(character) = rest.chars().next() {
            rest = after_first(rest);
            match character {
                'i' | 'm' | 's' | 'U' => has_flag = true,
                '-' if !is_negative => (is_negative, has_flag) = (true, false),
                ':' | ')' if is_negative && !has_flag => break,
                ':' => return Ok(self.open(rest)),
                ')' => return Ok(rest),
                _ => break,
            }
        }
        let what = "invalid or unsupported Perl syntax";
        error(what, until(from, rest))
    }

    fn escape(&mut self, from: &'p str) -> Result<(), String> {
        let rest = match from[1..].chars().next() {
            Some('Q') => {
                let literal = &from[2..];
                let (quoted, rest) = literal.split_once("\\E").unwrap_or((literal, ""));
                self.can_repeat |= !quoted.is_empty();
                self.rest = rest;
                return Ok(());
            }
            Some('C') => return error("invalid escape sequence", &from[..2]),
            Some('A' | 'b' | 'B' | 'z' | 'd' | 'D' | 's' | 'S' | 'w' | 'W') => &from[2..],
            Some('p' | 'P') => named_class(from)?,
            _ => escaped(from)?.1,
        };
        self.literal(rest);
        Ok(())
    }
}

/// Scans `{min,max}`; none if it is a literal.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (inner, rest) = text.strip_prefix('{')?.split_once('}')?;
    let is_number = |text: &str| {
        let is_plain = text.len() == 1 || !text.starts_with('0');
        !text.is_empty() && is_plain && text.bytes().all(|it| it.is_ascii_digit())
    };
    let value = |text: &str| text.parse().unwrap_or(u32::MAX);
    let (min, max) = match inner.split_once(',') {
        None => (inner, Some(inner)),
        Some((min, "")) => (min, None),
        Some((min, max)) => (min, Some(max)),
    };
    if !is_number(min) || !max.is_none_or(is_number) {
        return None;
    }
    Some((value(min), max.map(value), rest))
}

/// Scans `\pL` or `\p{Greek}`.
fn named_class(from: &str) -> Result<&str, String> {
    let what = "invalid character class range";
    match from[2..].chars().next() {
        None => error(what, from),
        Some('{') => match from.find('}') {
            Some(end) => Ok(&from[end + 1..]),
            None => error(what, from),
        },
        Some(_) => Ok(after_first(&from[2..])),
    }
}

/// Scans an escaped character.
fn escaped(from: &str) -> Result<(char, &str), String> {
    let Some(character) = from[1..].chars().next() else {
        return error("trailing backslash at end of expression", "");
    };
    let rest = after_first(&from[1..]);
    let invalid = |rest: &str| error("invalid escape sequence", until(from, rest));
    let octal = |text: &str| {
        let digits = text
            .bytes()
            .take(2)
            .take_while(|it| matches!(it, b'0'..=b'7'));
        digits.count()
    };
    match character {
        '0'..='7' => {
            let count = octal(rest);
            if character != '0' && count == 0 {
                return invalid(rest);
            }
            let end = from.len() - rest.len() + count;
            let value = u32::from_str_radix(&from[1..end], 8).ok();
            let value = value.and_then(char::from_u32).unwrap_or_default();
            Ok((value, &from[end..]))
        }
        'x' => hexadecimal(from, rest),
        'a' => Ok(('\u{7}', rest)),
        'f' => Ok(('\u{c}', rest)),
        'n' => Ok(('\n', rest)),
        'r' => Ok(('\r', rest)),
        't' => Ok(('\t', rest)),
        'v' => Ok(('\u{b}', rest)),
        it if it.is_ascii() && !it.is_ascii_alphanumeric() => Ok((it, rest)),
        _ => invalid(rest),
    }
}

/// Scans `\x7f` or `\x{10ffff}`.
fn hexadecimal<'p>(from: &'p str, rest: &'p str) -> Result<(char, &'p str), String> {
    let value = |digits: &str| {
        let is_plain = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_plain);
        number.and_then(char::from_u32)
    };
    let invalid = |rest: &str| error("invalid escape sequence", until(from, rest));
    if let Some(inner) = rest.strip_prefix('{') {
        let (mut number, mut tail) = (0, inner);
        while let Some(digit) = tail.chars().next() {
            let from = tail;
            tail = after_first(tail);
            if digit == '}' && from.len() < inner.len() {
                let character = char::from_u32(number).unwrap_or_default();
                return Ok((character, tail));
            }
            number = match digit.to_digit(16) {
                Some(digit) => number * 16 + digit,
                None => return invalid(tail),
            };
            if number > u32::from(char::MAX) {
                return invalid(tail);
            }
        }
        return invalid(tail);
    }
    match rest.get(..2).and_then(value) {
        Some(it) => Ok((it, &rest[2..])),
        None => invalid(after_first(after_first(rest))),
    }
}

const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Scans a class in brackets, and returns what follows it.
fn class(from: &str) -> Result<&str, String> {
    let range = "invalid character class range";
    let mut rest = &from[1..];
    rest = rest.strip_prefix('^').unwrap_or(rest);
    let mut is_first = true;
    while is_first || !rest.starts_with(']') {
        is_first = false;
        if let Some((name, tail)) = rest.strip_prefix("[:").and_then(|it| it.split_once(":]")) {
            if !NAMED.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return error(range, until(rest, tail));
            }
            rest = tail;
            continue;
        }
        let mut head = rest.chars();
        match (head.next(), head.next()) {
            (Some('\\'), Some('p' | 'P')) => {
                rest = named_class(rest)?;
                continue;
            }
            (Some('\\'), Some('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                rest = &rest[2..];
                continue;
            }
            _ => {}
        }
        let begin = rest;
        let (low, tail) = class_character(rest, from)?;
        rest = tail;
        if rest.starts_with('-') && rest.len() > 1 && !rest.starts_with("-]") {
            let (high, tail) = class_character(&rest[1..], from)?;
            rest = tail;
            if high < low {
                return error(range, until(begin, rest));
            }
        }
    }
    Ok(&rest[1..])
}

fn class_character<'p>(text: &'p str, class: &str) -> Result<(char, &'p str), String> {
    match text.chars().next() {
        None => error("missing closing ]", class),
        Some('\\') => escaped(text),
        Some(it) => Ok((it, after_first(text))),
    }
}
