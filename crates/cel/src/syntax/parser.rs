//! The parser: recursive descent, whose depth is limited as upstream limits it.

use super::ast::{Ast, Call, Expr, Id, MAX_DEPTH, Select};
use super::grammar::{Abort, Cursor};
use super::lexer::{self, Kind, Token};
use super::macros;
use crate::error::{CompileError, Issue};
use crate::source::{Location, Source};
use crate::value::{Text, Value};

/// The longest expression, in characters.
pub(crate) const MAX_SIZE: usize = 100_000;
/// The deepest nesting of a grammar rule.
const MAX_RECURSION: u16 = 250;

/// What the language has, by version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    /// `a.?b`, `a[?b]` and optional elements, with their macros.
    pub(crate) has_optionals: bool,
    /// Macros with two variables.
    pub(crate) has_two_variables: bool,
    /// `sortBy`.
    pub(crate) has_sort_by: bool,
}

/// The largest tree, in nodes: macros can multiply the nodes of the text.
const MAX_NODES: usize = 500_000;

/// Parses an expression.
pub(crate) fn parse(text: &str, syntax: Syntax) -> Result<Ast, CompileError> {
    let source = Source::new(text);
    let mut issues = Vec::new();
    let size = text.chars().count();
    if size > MAX_SIZE {
        let message =
            format!("expression code point size exceeds limit: size: {size}, limit {MAX_SIZE}");
        issues.push(Issue {
            location: Location::NONE,
            message,
        });
        return Err(CompileError::new(issues, &source));
    }
    let (tokens, errors) = lexer::tokens(text);
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        ast: Ast::default(),
        syntax,
        depths: [0; 5],
        errors,
        follows: Vec::new(),
    };
    let parsed = parser
        .expression(&[])
        .and_then(|root| parser.cursor.expect("<EOF>", &[]).map(|_| root));
    let Parser {
        cursor,
        mut ast,
        errors,
        ..
    } = parser;
    let located = |(offset, message): (u32, String)| {
        let location = if offset == NOWHERE {
            Location::NONE
        } else {
            source.location(offset)
        };
        Issue { location, message }
    };
    issues.extend(errors.into_iter().chain(cursor.errors).map(located));
    match parsed {
        Ok(root) if issues.is_empty() => {
            ast.root = root;
            Ok(ast)
        }
        _ => Err(CompileError::new(issues, &source)),
    }
}

/// The offset of errors without a place.
const NOWHERE: u32 = u32::MAX;

/// Rules whose nesting is limited.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Expression,
    Relation,
    Calculation,
    Unary,
    Member,
}

/// The parser's state.
#[derive(Debug)]
pub(crate) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(crate) ast: Ast,
    pub(crate) syntax: Syntax,
    depths: [u16; 5],
    errors: Vec<(u32, String)>,
    /// What may follow the expressions that are being parsed, besides operators.
    follows: Vec<&'static [&'static str]>,
}

pub(super) type Parsed<T = Id> = Result<T, Abort>;

impl<'t> Parser<'t> {
    fn enter(&mut self, rule: Rule) -> Parsed<()> {
        let depth = &mut self.depths[rule as usize];
        *depth += 1;
        if *depth > MAX_RECURSION {
            self.errors.push((
                NOWHERE,
                format!("expression recursion limit exceeded: {MAX_RECURSION}"),
            ));
            return Err(Abort);
        }
        Ok(())
    }

    fn exit(&mut self, rule: Rule, count: u16) {
        self.depths[rule as usize] -= count;
    }

    /// Parses an expression that is followed by one of some symbols.
    pub(super) fn followed(&mut self, follows: &'static [&'static str], also: &[&str]) -> Parsed {
        self.follows.push(follows);
        let parsed = self.expression(also);
        self.follows.pop();
        parsed
    }

    /// Expects the symbol that closes what is being parsed.
    pub(super) fn close(&mut self, symbol: &str) -> Parsed<()> {
        let follows = self.follows.last().copied().unwrap_or(&[]);
        self.cursor.expect(symbol, follows).map(drop)
    }

    /// Reports an error that does not end the parsing.
    pub(crate) fn report(&mut self, offset: u32, message: impl Into<String>) -> Id {
        self.errors.push((offset, message.into()));
        self.ast.add(offset, Expr::Error)
    }

    pub(super) fn checked(&mut self, id: Id) -> Parsed {
        let (depth, operators) = self.ast.depth(id);
        if depth > MAX_DEPTH || operators > MAX_RECURSION || self.ast.len() > MAX_NODES {
            self.errors
                .push((NOWHERE, "max recursion depth exceeded".to_owned()));
            return Err(Abort);
        }
        Ok(id)
    }

    pub(super) fn call(&mut self, offset: u32, function: &str, arguments: Vec<Id>) -> Parsed {
        let call = Call {
            function: function.into(),
            target: None,
            arguments,
        };
        let id = self.ast.add_operator(offset, Expr::Call(call));
        self.checked(id)
    }

    pub(super) fn expression(&mut self, also: &[&str]) -> Parsed {
        self.enter(Rule::Expression)?;
        self.cursor.expect_start(also)?;
        let condition = self.disjunction()?;
        let Some(operator) = self.cursor.skip("?") else {
            self.exit(Rule::Expression, 1);
            return Ok(condition);
        };
        self.cursor.expect_start(&[])?;
        let truthy = self.disjunction()?;
        self.cursor.expect(":", &[])?;
        let falsy = self.expression(&[])?;
        self.exit(Rule::Expression, 1);
        self.call(operator.offset, "_?_:_", vec![condition, truthy, falsy])
    }

    fn disjunction(&mut self) -> Parsed {
        let mut terms = vec![self.conjunction()?];
        let mut operators = Vec::new();
        while let Some(operator) = self.cursor.skip("||") {
            self.cursor.expect_start(&[])?;
            operators.push(operator.offset);
            terms.push(self.conjunction()?);
        }
        self.balanced("_||_", &terms, &operators)
    }

    fn conjunction(&mut self) -> Parsed {
        let mut terms = vec![self.relation()?];
        let mut operators = Vec::new();
        while let Some(operator) = self.cursor.skip("&&") {
            self.cursor.expect_start(&[])?;
            operators.push(operator.offset);
            terms.push(self.relation()?);
        }
        self.balanced("_&&_", &terms, &operators)
    }

    /// Makes a balanced tree of terms, so that long chains are not deep.
    fn balanced(&mut self, function: &str, terms: &[Id], operators: &[u32]) -> Parsed {
        let Some(last) = operators.len().checked_sub(1) else {
            return Ok(terms.first().copied().unwrap_or_default());
        };
        let middle = last.div_ceil(2);
        let left = self.balanced(function, &terms[..=middle], &operators[..middle])?;
        let right = self.balanced(function, &terms[middle + 1..], &operators[middle + 1..])?;
        let call = Call {
            function: function.into(),
            target: None,
            arguments: vec![left, right],
        };
        let id = self.ast.add(operators[middle], Expr::Call(call));
        self.checked(id)
    }

    fn operator(
        &mut self,
        symbols: &[(&'static str, &'static str)],
    ) -> Option<(Token<'t>, &'static str)> {
        let found = symbols.iter().find(|(symbol, _)| self.cursor.is(symbol))?;
        Some((self.cursor.advance(), found.1))
    }

    fn relation(&mut self) -> Parsed {
        const RELATIONS: [(&str, &str); 7] = [
            ("==", "_==_"),
            ("!=", "_!=_"),
            ("<", "_<_"),
            ("<=", "_<=_"),
            (">", "_>_"),
            (">=", "_>=_"),
            ("in", "@in"),
        ];
        self.enter(Rule::Relation)?;
        let mut left = self.sum()?;
        let mut count = 1;
        while let Some((operator, function)) = self.operator(&RELATIONS) {
            self.enter(Rule::Relation)?;
            count += 1;
            self.cursor.expect_start(&[])?;
            let right = self.sum()?;
            left = self.call(operator.offset, function, vec![left, right])?;
        }
        self.exit(Rule::Relation, count);
        Ok(left)
    }

    fn sum(&mut self) -> Parsed {
        self.enter(Rule::Calculation)?;
        let mut left = self.product()?;
        let mut count = 1;
        while let Some((operator, function)) = self.operator(&[("+", "_+_"), ("-", "_-_")]) {
            self.enter(Rule::Calculation)?;
            count += 1;
            self.cursor.expect_start(&[])?;
            let right = self.product()?;
            left = self.call(operator.offset, function, vec![left, right])?;
        }
        self.exit(Rule::Calculation, count);
        Ok(left)
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        let mut count = 0;
        while let Some((operator, function)) =
            self.operator(&[("*", "_*_"), ("/", "_/_"), ("%", "_%_")])
        {
            self.enter(Rule::Calculation)?;
            count += 1;
            self.cursor.expect_start(&[])?;
            let right = self.unary()?;
            left = self.call(operator.offset, function, vec![left, right])?;
        }
        self.exit(Rule::Calculation, count);
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        self.enter(Rule::Unary)?;
        let first = self.cursor.current();
        let is_number = |token: Token<'_>| matches!(token.kind, Kind::Int | Kind::Float);
        let (symbol, function) = match first.text {
            "!" if first.kind == Kind::Symbol => ("!", "!_"),
            "-" if first.kind == Kind::Symbol && !is_number(self.cursor.ahead(1)) => ("-", "-_"),
            _ => {
                let member = self.member();
                self.exit(Rule::Unary, 1);
                return member;
            }
        };
        let mut count = 0;
        while self.cursor.skip(symbol).is_some() {
            count += 1;
        }
        if self.cursor.current().kind == Kind::End {
            return Err(self.cursor.unfinished(symbol));
        }
        let operand = self.member()?;
        self.exit(Rule::Unary, 1);
        if count % 2 == 0 {
            return Ok(operand);
        }
        let call = Call {
            function: function.into(),
            target: None,
            arguments: vec![operand],
        };
        let id = self.ast.add(first.offset, Expr::Call(call));
        self.checked(id)
    }

    fn member(&mut self) -> Parsed {
        self.enter(Rule::Member)?;
        let mut operand = self.primary()?;
        let mut count = 1;
        loop {
            if let Some(dot) = self.cursor.skip(".") {
                operand = self.select(operand, dot)?;
            } else if let Some(open) = self.cursor.skip("[") {
                operand = self.index(operand, open)?;
            } else {
                break;
            }
            self.enter(Rule::Member)?;
            count += 1;
        }
        self.exit(Rule::Member, count);
        Ok(operand)
    }

    fn select(&mut self, operand: Id, dot: Token<'t>) -> Parsed {
        let optional = self.cursor.skip("?");
        let name = self.cursor.current();
        if !matches!(name.kind, Kind::Ident | Kind::Escaped) {
            if optional.is_some() {
                return Err(self.cursor.mismatch("{IDENTIFIER, ESC_IDENTIFIER}"));
            }
            return Err(self.cursor.no_viable("."));
        }
        self.cursor.advance();
        if name.kind == Kind::Escaped {
            self.report(name.offset, "unsupported syntax: '`'");
        }
        if optional.is_some() {
            if !self.syntax.has_optionals {
                return Ok(self.report(dot.offset, "unsupported syntax '.?'"));
            }
            let field = self.ast.add(
                name.offset,
                Expr::Literal(Value::String(Text::Shared(name.text.into()))),
            );
            return self.call(dot.offset, "_?._", vec![operand, field]);
        }
        if let Some(open) = self.cursor.skip("(") {
            let arguments = self.arguments()?;
            return self.invocation(open.offset, name.text, Some(operand), arguments);
        }
        let select = Select {
            operand,
            field: name.text.into(),
            is_presence: false,
        };
        let id = self.ast.add_operator(dot.offset, Expr::Select(select));
        self.checked(id)
    }

    fn index(&mut self, operand: Id, open: Token<'t>) -> Parsed {
        let is_optional = self.cursor.skip("?").is_some();
        let index = self.followed(&["]"], if is_optional { &[] } else { &["?"] })?;
        self.close("]")?;
        if is_optional && !self.syntax.has_optionals {
            return Ok(self.report(open.offset, "unsupported syntax '[?'"));
        }
        self.call(
            open.offset,
            if is_optional { "_[?_]" } else { "_[_]" },
            vec![operand, index],
        )
    }

    /// Parses arguments behind their opening parenthesis.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Id>> {
        let mut arguments = Vec::new();
        if self.cursor.skip(")").is_some() {
            return Ok(arguments);
        }
        self.cursor.expect_start(&[")"])?;
        if self.cursor.skip(")").is_some() {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.followed(&[",", ")"], &[])?);
            if self.cursor.skip(",").is_none() {
                break;
            }
        }
        self.close(")")?;
        Ok(arguments)
    }

    pub(super) fn invocation(
        &mut self,
        offset: u32,
        function: &str,
        target: Option<Id>,
        arguments: Vec<Id>,
    ) -> Parsed {
        if let Some(id) = macros::expand(self, offset, function, target, &arguments) {
            return self.checked(id);
        }
        let call = Call {
            function: function.into(),
            target,
            arguments,
        };
        let id = if target.is_some() {
            self.ast.add_operator(offset, Expr::Call(call))
        } else {
            self.ast.add(offset, Expr::Call(call))
        };
        self.checked(id)
    }
}
