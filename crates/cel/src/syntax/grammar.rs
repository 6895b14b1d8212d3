//! The cursor over tokens, with ANTLR's words about tokens that do not fit and its simple repairs:
//! one token too many is skipped, one that is missing is assumed.

use super::lexer::{Kind, Token};

/// A syntax error that cannot be repaired was reported.
#[derive(Debug)]
pub(crate) struct Abort;

/// What an expression can begin with, before and after the optional sign.
const START: [&str; 6] = ["[", "{", "(", ".", "-", "!"];
const LITERALS: &str =
    "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

/// All symbols in the order in which ANTLR lists them.
const ORDER: [&str; 12] = ["[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":"];

/// The operators that can follow an expression that is complete.
const OPERATORS: [&str; 17] = [
    "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", ".", "-", "?", "+", "*", "/", "%",
];

/// A cursor over tokens.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// What is wrong, with offsets.
    pub(crate) errors: Vec<(u32, String)>,
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(tokens: Vec<Token<'t>>) -> Self {
        Self {
            tokens,
            at: 0,
            errors: Vec::new(),
        }
    }

    /// Returns a token ahead.
    pub(crate) fn ahead(&self, count: usize) -> Token<'t> {
        let at = (self.at + count).min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).copied().unwrap_or(Token {
            kind: Kind::End,
            text: "<EOF>",
            offset: 0,
        })
    }

    /// Returns the current token.
    pub(crate) fn current(&self) -> Token<'t> {
        self.ahead(0)
    }

    /// Goes to the next token and returns the current one.
    pub(crate) fn advance(&mut self) -> Token<'t> {
        let token = self.current();
        self.at += 1;
        token
    }

    /// Reports whether the current token is a symbol.
    pub(crate) fn is(&self, symbol: &str) -> bool {
        is_symbol(self.current(), symbol)
    }

    /// Skips a symbol if it is the current token, and returns it.
    pub(crate) fn skip(&mut self, symbol: &str) -> Option<Token<'t>> {
        self.is(symbol).then(|| self.advance())
    }

    /// Expects a symbol. `follows` are the symbols that may follow it, besides operators if it
    /// closes an expression.
    pub(crate) fn expect(&mut self, symbol: &str, follows: &[&str]) -> Result<Token<'t>, Abort> {
        let current = self.current();
        if is_symbol(current, symbol) {
            return Ok(self.advance());
        }
        let shown = if symbol == "<EOF>" {
            symbol.to_owned()
        } else {
            format!("'{symbol}'")
        };
        let is_surplus = is_symbol(self.ahead(1), symbol) && current.kind != Kind::End;
        if is_surplus {
            self.report(
                current,
                format!("extraneous input {} expecting {shown}", quoted(current)),
            );
            self.advance();
            return Ok(self.advance());
        }
        let closes = matches!(symbol, ")" | "]" | "}");
        let fits = if symbol == ":" {
            is_start(current)
        } else {
            closes
                && (current.kind == Kind::End
                    || OPERATORS
                        .iter()
                        .chain(follows)
                        .any(|it| is_symbol(current, it)))
        };
        if fits && symbol != "<EOF>" {
            self.report(current, format!("missing {shown} at {}", quoted(current)));
            return Ok(current);
        }
        Err(self.mismatch(&shown))
    }

    /// Expects the start of an expression, or one of more symbols.
    pub(crate) fn expect_start(&mut self, also: &[&str]) -> Result<(), Abort> {
        let fits = |token| is_start(token) || also.iter().any(|it| is_symbol(token, it));
        let current = self.current();
        if fits(current) {
            return Ok(());
        }
        if fits(self.ahead(1)) && current.kind != Kind::End {
            self.report(
                current,
                format!(
                    "extraneous input {} expecting {}",
                    quoted(current),
                    expectation(also)
                ),
            );
            self.advance();
            return Ok(());
        }
        Err(self.mismatch(&expectation(also)))
    }

    /// Reports the current token, where others are expected.
    pub(crate) fn mismatch(&mut self, expected: &str) -> Abort {
        let current = self.current();
        self.report(
            current,
            format!("mismatched input {} expecting {expected}", quoted(current)),
        );
        Abort
    }

    /// Reports that nothing fits behind a dot.
    pub(crate) fn no_viable(&mut self, before: &str) -> Abort {
        let current = self.current();
        if matches!(current.text, "true" | "false" | "null") && current.kind == Kind::Symbol {
            return self.mismatch("IDENTIFIER");
        }
        let text = if current.kind == Kind::End {
            ""
        } else {
            current.text
        };
        self.report(
            current,
            format!("no viable alternative at input '{before}{text}'"),
        );
        Abort
    }

    /// Reports the end behind a sign.
    pub(crate) fn unfinished(&mut self, sign: &str) -> Abort {
        let message = if sign == "-" {
            "no viable alternative at input '-'".to_owned()
        } else {
            format!("extraneous input '<EOF>' expecting {}", expectation(&[]))
        };
        self.report(self.current(), message);
        Abort
    }

    fn report(&mut self, token: Token<'_>, message: String) {
        self.errors
            .push((token.offset, format!("Syntax error: {message}")));
    }
}

/// Reports whether a token is a symbol, or the end.
pub(crate) fn is_symbol(token: Token<'_>, symbol: &str) -> bool {
    matches!(token.kind, Kind::Symbol | Kind::End) && token.text == symbol
}

/// Reports whether an expression can begin with a token.
pub(crate) fn is_start(token: Token<'_>) -> bool {
    match token.kind {
        Kind::Symbol => {
            START.contains(&token.text) || matches!(token.text, "true" | "false" | "null")
        }
        Kind::Escaped | Kind::End => false,
        _ => true,
    }
}

fn quoted(token: Token<'_>) -> String {
    format!(
        "'{}'",
        token
            .text
            .replace('\n', "\\n")
            .replace('\t', "\\t")
            .replace('\r', "\\r")
    )
}

fn expectation(also: &[&str]) -> String {
    let mut text = "{".to_owned();
    for symbol in ORDER
        .iter()
        .filter(|it| START.contains(it) || also.contains(it))
    {
        text.extend(["'", symbol, "', "]);
    }
    text.push_str(LITERALS);
    text.push('}');
    text
}
