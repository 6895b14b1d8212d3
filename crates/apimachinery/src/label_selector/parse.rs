//! The selector grammar, with upstream's order of decisions, which its error texts reflect.

use super::lexer::{Token, tokens};
use super::requirement::{Operator, Requirement, RequirementError, key_error};
use crate::{FieldPath, Str};
use std::collections::BTreeSet;

/// Why a text is not a selector, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseSelectorError {
    /// An unexpected token between requirements.
    #[error("found '{found}', expected: {expected}")]
    Syntax {
        /// The token.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A requirement is malformed.
    #[error("unable to parse requirement: {0}")]
    Requirement(RequirementError),
}

/// Parses the requirements, in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, ParseSelectorError> {
    let mut parser = Parser {
        tokens: tokens(text),
        position: 0,
    };
    let mut requirements = Vec::new();
    let unexpected = |found: &str, expected| {
        Err(ParseSelectorError::Syntax {
            found: found.to_owned(),
            expected,
        })
    };
    loop {
        match parser.peek_value() {
            (Token::Identifier | Token::Not, _) => {
                let requirement = parser
                    .requirement()
                    .map_err(ParseSelectorError::Requirement)?;
                requirements.push(requirement);
            }
            (Token::End, _) => return Ok(requirements),
            (_, found) => return unexpected(found, "!, identifier, or 'end of string'"),
        }
        match parser.take_value() {
            (Token::End, _) => return Ok(requirements),
            (Token::Comma, _) => match parser.peek_value() {
                (Token::Identifier | Token::Not, _) => {}
                (_, found) => return unexpected(found, "identifier after ','"),
            },
            (_, found) => return unexpected(found, "',' or 'end of string'"),
        }
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, &'a str)>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> (Token, &'a str) {
        self.tokens
            .get(self.position)
            .copied()
            .unwrap_or((Token::End, ""))
    }

    /// In the place of a key or a value, `in` and `notin` are ordinary words.
    fn peek_value(&self) -> (Token, &'a str) {
        match self.peek() {
            (Token::In | Token::NotIn, literal) => (Token::Identifier, literal),
            token => token,
        }
    }

    fn take_value(&mut self) -> (Token, &'a str) {
        let token = self.peek_value();
        self.position += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, RequirementError> {
        let mut token = self.take_value();
        let negated = token.0 == Token::Not;
        if negated {
            token = self.take_value();
        }
        let (Token::Identifier, key) = token else {
            return Err(syntax(token.1, "identifier"));
        };
        if let Some(error) = key_error(key, &FieldPath::ROOT) {
            return Err(RequirementError::Invalid(vec![error]));
        }
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, []);
        }
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Requirement::new(key, Operator::Exists, []);
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => BTreeSet::from([self.exact_value()?]),
        };
        Requirement::new(key, operator, values.into_iter().map(Str::from))
    }

    fn operator(&mut self) -> Result<Operator, RequirementError> {
        let (token, literal) = self.peek();
        self.position += 1;
        match token {
            Token::In => Ok(Operator::In),
            Token::NotIn => Ok(Operator::NotIn),
            Token::Equals => Ok(Operator::Equals),
            Token::DoubleEquals => Ok(Operator::DoubleEquals),
            Token::NotEquals => Ok(Operator::NotEquals),
            Token::Greater => Ok(Operator::GreaterThan),
            Token::Less => Ok(Operator::LessThan),
            _ => Err(syntax(literal, "in, notin, =, ==, !=, gt, lt")),
        }
    }

    /// Parses the word after `=`; if it is missing, the value is empty.
    fn exact_value(&mut self) -> Result<&'a str, RequirementError> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok("");
        }
        match self.take_value() {
            (Token::Identifier, value) => Ok(value),
            (_, found) => Err(syntax(found, "identifier")),
        }
    }

    /// Parses `(a,b)`; nothing between commas or parentheses is the empty value.
    fn values(&mut self) -> Result<BTreeSet<&'a str>, RequirementError> {
        match self.take_value() {
            (Token::Open, _) => {}
            (_, found) => {
                return Err(RequirementError::NoParenthesis {
                    found: found.to_owned(),
                });
            }
        }
        match self.peek_value() {
            (Token::Identifier | Token::Comma, first) => {
                let values = self.value_list()?;
                match self.take_value() {
                    (Token::Close, _) => Ok(values),
                    _ => Err(syntax(first, "')'")),
                }
            }
            (Token::Close, _) => {
                self.position += 1;
                Ok(BTreeSet::from([""]))
            }
            (_, found) => Err(syntax(found, "',', ')' or identifier")),
        }
    }

    /// Stops before the closing parenthesis.
    fn value_list(&mut self) -> Result<BTreeSet<&'a str>, RequirementError> {
        let mut values = BTreeSet::new();
        loop {
            match self.take_value() {
                (Token::Identifier, value) => {
                    values.insert(value);
                    match self.peek_value() {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => return Ok(values),
                        (_, found) => return Err(syntax(found, "',' or ')'")),
                    }
                }
                (Token::Comma, _) => {
                    if values.is_empty() {
                        values.insert("");
                    }
                    match self.peek_value().0 {
                        Token::Close => {
                            values.insert("");
                            return Ok(values);
                        }
                        Token::Comma => {
                            values.insert("");
                        }
                        _ => {}
                    }
                }
                (_, found) => return Err(syntax(found, "',', or identifier")),
            }
        }
    }
}

fn syntax(found: &str, expected: &'static str) -> RequirementError {
    RequirementError::Syntax {
        found: found.to_owned(),
        expected,
    }
}
