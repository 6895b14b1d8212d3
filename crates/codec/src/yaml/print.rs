//! Printing of JSON trees as YAML, byte for byte like kubectl and the server: block style, keys in
//! natural order, lists not indented under their key, long texts folded after column 80.

use super::natural_order;
use super::scalar_style::{Style, is_break, is_long_key, is_printable, style};
use crate::go_float::go_float;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Text is folded at the first space after this column.
const WIDTH: usize = 80;
const STEP: usize = 2;

/// Prints a JSON tree as YAML text, which ends with a line break.
///
/// ```
/// let value = serde_json::json!({"kind": "Pod", "items": ["1", "two", {"a": null}], "on": {}});
/// assert_eq!(
///     kubist_codec::yaml::to_yaml(&value),
///     "items:\n- \"1\"\n- two\n- a: null\nkind: Pod\n\"on\": {}\n"
/// );
/// ```
pub fn to_yaml(value: &Value) -> String {
    let mut printer = Printer {
        out: String::new(),
        column: 0,
        white: true,
        indention: true,
    };
    printer.node(value, None, false);
    printer.indent(0);
    printer.out
}

struct Printer {
    out: String,
    /// The number of characters in the current line.
    column: usize,
    /// Whether the last character was white space.
    white: bool,
    /// Whether the current line has only indentation and dashes.
    indention: bool,
}

impl Printer {
    /// Prints a value in a collection that is indented by `indent`; none at the root.
    fn node(&mut self, value: &Value, indent: Option<usize>, in_map: bool) {
        match value {
            Value::Object(map) if map.is_empty() => self.word("{}"),
            Value::Array(list) if list.is_empty() => self.word("[]"),
            Value::Object(map) => self.map(map, indent.map_or(0, |indent| indent + STEP)),
            Value::Array(list) => {
                // A list in a map is not indented further than its key.
                let indentless = in_map && !self.indention;
                let step = if indentless { 0 } else { STEP };
                let indent = indent.map_or(0, |indent| indent + step);
                for item in list {
                    self.indent(indent);
                    self.indicator("-", true, true);
                    self.node(item, Some(indent), false);
                }
            }
            Value::String(text) => {
                let indent = indent.map_or(STEP, |indent| indent + STEP);
                self.text(text, indent, false);
            }
            Value::Null => self.word("null"),
            Value::Bool(value) => self.word(if *value { "true" } else { "false" }),
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(value) => self.word(&go_float(value)),
                None => self.word(&number.to_string()),
            },
        }
    }

    fn map(&mut self, map: &Map<String, Value>, indent: usize) {
        for (key, value) in natural_order::sort(map.iter().collect()) {
            self.indent(indent);
            if is_long_key(key) {
                self.indicator("?", true, true);
                self.text(key, indent + STEP, false);
                self.indent(indent);
                self.indicator(":", true, true);
            } else {
                self.text(key, indent + STEP, true);
                self.indicator(":", false, false);
            }
            self.node(value, Some(indent), true);
        }
    }

    fn put(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Moves to column `indent`, on a new line unless this one is empty.
    fn indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.white) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.white = true;
        self.indention = true;
    }

    fn indicator(&mut self, text: &str, needs_white: bool, is_indention: bool) {
        if needs_white && !self.white {
            self.put(' ');
        }
        text.chars().for_each(|character| self.put(character));
        self.white = false;
        self.indention &= is_indention;
    }

    fn word(&mut self, text: &str) {
        self.indicator(text, true, false);
    }

    fn text(&mut self, text: &str, indent: usize, key: bool) {
        match style(text, key) {
            Style::Plain => self.plain(text, indent, key),
            Style::Single => self.single(text, indent, key),
            Style::Double => self.double(text, indent, key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn plain(&mut self, text: &str, indent: usize, key: bool) {
        if !self.white {
            self.put(' ');
        }
        let mut after_space = false;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let fold = !key && !after_space && self.column > WIDTH;
            after_space = character == ' ';
            if after_space && fold && characters.peek() != Some(&' ') {
                self.indent(indent);
            } else {
                self.put(character);
                self.indention = false;
            }
        }
        self.white = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, indent: usize, key: bool) {
        self.indicator("'", true, false);
        let mut after_space = false;
        let mut first = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let fold = !key && !after_space && !first && self.column > WIDTH;
            after_space = character == ' ';
            if after_space && fold && characters.peek().is_some_and(|&next| next != ' ') {
                self.indent(indent);
            } else {
                if character == '\'' {
                    self.put('\'');
                }
                self.put(character);
                self.indention = false;
            }
            first = false;
        }
        self.indicator("'", false, false);
    }

    fn double(&mut self, text: &str, indent: usize, key: bool) {
        self.indicator("\"", true, false);
        let mut after_space = false;
        let mut first = true;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek();
            let fold = !key && !after_space && !first && self.column > WIDTH && next.is_some();
            after_space = character == ' ';
            if after_space && fold {
                self.indent(indent);
                if next == Some(&' ') {
                    self.put('\\');
                }
            } else if matches!(character, '"' | '\\')
                || !is_printable(character)
                || is_break(character)
            {
                self.escape(character);
            } else {
                self.put(character);
            }
            first = false;
        }
        self.indicator("\"", false, false);
    }

    fn escape(&mut self, character: char) {
        let short = match character {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => character,
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(character);
                let text = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                text.chars().for_each(|character| self.put(character));
                return;
            }
        };
        self.put('\\');
        self.put(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let mut hints = String::from("|");
        if text.starts_with([' ', '\n']) {
            let _ = write!(hints, "{STEP}");
        }
        match text.strip_suffix('\n') {
            None => hints.push('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => hints.push('+'),
            Some(_) => {}
        }
        self.indicator(&hints, true, false);
        self.line_break();
        self.indention = true;
        self.white = true;
        for line in text.split_inclusive('\n') {
            let line_text = line.strip_suffix('\n').unwrap_or(line);
            if !line_text.is_empty() {
                self.indent(indent);
                line_text.chars().for_each(|character| self.put(character));
                self.indention = false;
            }
            if line.ends_with('\n') {
                self.line_break();
                self.indention = true;
            }
        }
    }
}
