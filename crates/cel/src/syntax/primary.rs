//! The parser of what operators connect: names, calls, messages, lists, maps and literals.

use super::ast::{Element, Entry, Expr};
use super::grammar::Abort;
use super::lexer::Kind;
use super::literal;
use super::parser::{Parsed, Parser};
use crate::escape::RESERVED;
use crate::value::{Blob, Value};
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed {
        let token = self.cursor.current();
        match token.kind {
            Kind::Ident => self.name(),
            Kind::Symbol => match token.text {
                "." => self.name(),
                "(" => {
                    self.cursor.advance();
                    let inner = self.followed(&[")"], &[])?;
                    self.close(")")?;
                    Ok(inner)
                }
                "[" => self.list(),
                "{" => self.map(),
                "-" | "true" | "false" | "null" => self.literal(),
                // A sign can stand before an expression, but not here, behind another.
                "!" => Err(self.cursor.no_viable("-")),
                _ => Err(self.cursor.expect_start(&[]).err().unwrap_or(Abort)),
            },
            Kind::End | Kind::Escaped => Err(self.cursor.expect_start(&[]).err().unwrap_or(Abort)),
            _ => self.literal(),
        }
    }

    /// Parses an identifier, a call or a message, with an optional leading dot.
    fn name(&mut self) -> Parsed {
        let dot = self.cursor.skip(".");
        let token = self.cursor.current();
        if token.kind != Kind::Ident {
            return Err(self.cursor.no_viable("."));
        }
        if let Some(length) = self.message_name() {
            return self.message(dot.is_some(), length);
        }
        self.cursor.advance();
        let start = dot.map_or(token.offset, |it| it.offset);
        let prefix = if dot.is_some() { "." } else { "" };
        let name = format!("{prefix}{}", token.text);
        let open = self.cursor.skip("(");
        let arguments = if open.is_some() {
            Some(self.arguments()?)
        } else {
            None
        };
        if RESERVED.contains(&token.text) {
            return Ok(self.report(start, format!("reserved identifier: {}", token.text)));
        }
        match (open, arguments) {
            (Some(open), Some(arguments)) => self.invocation(open.offset, &name, None, arguments),
            _ => Ok(self.ast.add(token.offset, Expr::Ident(name.into()))),
        }
    }

    /// Returns the number of tokens of a message's name, if one is ahead.
    fn message_name(&self) -> Option<usize> {
        let mut length = 1;
        loop {
            let token = self.cursor.ahead(length);
            match token.text {
                "{" if token.kind == Kind::Symbol => return Some(length),
                "." if token.kind == Kind::Symbol
                    && self.cursor.ahead(length + 1).kind == Kind::Ident =>
                {
                    length += 2;
                }
                _ => return None,
            }
        }
    }

    fn message(&mut self, dotted: bool, length: usize) -> Parsed {
        let mut name = if dotted {
            ".".to_owned()
        } else {
            String::new()
        };
        for _ in 0..length {
            name.push_str(self.cursor.advance().text);
        }
        let open = self.cursor.expect("{", &[])?;
        let mut fields = Vec::new();
        while self.cursor.skip("}").is_none() {
            let is_optional = self.optional_sign();
            let field = self.cursor.current();
            if field.kind != Kind::Ident {
                return Err(self
                    .cursor
                    .mismatch("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"));
            }
            self.cursor.advance();
            self.cursor.expect(":", &[])?;
            let value = self.expression(&[])?;
            fields.push((Arc::from(field.text), Element { value, is_optional }));
            if self.separator("}")? {
                break;
            }
        }
        let id = self
            .ast
            .add(open.offset, Expr::Message(name.into(), fields));
        self.checked(id)
    }

    fn optional_sign(&mut self) -> bool {
        let Some(sign) = self.cursor.skip("?") else {
            return false;
        };
        if !self.syntax.has_optionals {
            self.report(sign.offset, "unsupported syntax '?'");
        }
        true
    }

    /// Parses what separates elements; returns whether it closes them.
    fn separator(&mut self, close: &str) -> Parsed<bool> {
        if self.cursor.skip(",").is_some() {
            if self.cursor.is(",") {
                return Err(self.cursor.mismatch(&format!("'{close}'")));
            }
            return Ok(self.cursor.skip(close).is_some());
        }
        if self.cursor.skip(close).is_some() {
            return Ok(true);
        }
        Err(self.cursor.mismatch(&format!("{{'{close}', ','}}")))
    }

    fn list(&mut self) -> Parsed {
        let open = self.cursor.advance();
        let mut elements = Vec::new();
        if self.cursor.is(",") && self.cursor.ahead(1).text == "]" {
            self.cursor.advance();
        }
        while self.cursor.skip("]").is_none() {
            let also: &[&str] = if elements.is_empty() {
                &["]", ",", "?"]
            } else {
                &["?"]
            };
            self.cursor.expect_start(also)?;
            let is_optional = self.optional_sign();
            let value = self.followed(&[",", "]"], &[])?;
            elements.push(Element { value, is_optional });
            if self.separator("]")? {
                break;
            }
        }
        let id = self.ast.add(open.offset, Expr::List(elements));
        self.checked(id)
    }

    fn map(&mut self) -> Parsed {
        let open = self.cursor.advance();
        let mut entries = Vec::new();
        if self.cursor.is(",") && self.cursor.ahead(1).text == "}" {
            self.cursor.advance();
        }
        while self.cursor.skip("}").is_none() {
            let also: &[&str] = if entries.is_empty() {
                &["}", ",", "?"]
            } else {
                &["?"]
            };
            self.cursor.expect_start(also)?;
            let is_optional = self.optional_sign();
            let key = self.followed(&[":"], &[])?;
            self.cursor.expect(":", &[])?;
            let value = self.followed(&[",", "}"], &[])?;
            entries.push(Entry {
                key,
                value,
                is_optional,
            });
            if self.separator("}")? {
                break;
            }
        }
        let id = self.ast.add(open.offset, Expr::Map(entries));
        self.checked(id)
    }

    fn literal(&mut self) -> Parsed {
        let sign = self.cursor.skip("-");
        let token = self.cursor.current();
        let offset = sign.map_or(token.offset, |it| it.offset);
        let negative = sign.is_some();
        if negative && !matches!(token.kind, Kind::Int | Kind::Float) {
            return Err(self.cursor.no_viable("-"));
        }
        self.cursor.advance();
        let value: Result<Value<'static>, &str> = match (token.kind, token.text) {
            (Kind::Symbol, "null") => Ok(Value::Null),
            (Kind::Symbol, word) => Ok(Value::Bool(word == "true")),
            (Kind::Int, text) => literal::int(negative, text)
                .map(Value::Int)
                .ok_or("invalid int literal"),
            (Kind::Uint, text) => literal::uint(text)
                .map(Value::Uint)
                .ok_or("invalid uint literal"),
            (Kind::Float, text) => literal::double(negative, text)
                .map(Value::Double)
                .ok_or("invalid double literal"),
            (Kind::Bytes, text) => {
                literal::unescape(&text[1..], true).map(|it| Value::Bytes(Blob::from(it)))
            }
            (_, text) => literal::unescape_string(text).map(Value::string),
        };
        Ok(match value {
            Ok(value) => self.ast.add(offset, Expr::Literal(value)),
            Err(message) => self.report(offset, message),
        })
    }
}
