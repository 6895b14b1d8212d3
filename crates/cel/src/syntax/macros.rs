//! Macros: calls that are rewritten when they are parsed.

use super::ast::{ACCUMULATOR, Call, Element, Expr, Fold, Id, Select};
use super::parser::Parser;
use crate::cel_type::Name;
use crate::value::Value;
use std::sync::Arc;

/// The name that expressions used for the accumulator in the past; they cannot use it for a
/// variable.
const OLD_ACCUMULATOR: &str = "__result__";
/// The variable of `sortBy`.
const SORTED: &str = "@__sortBy_input__";
/// The variable of a fold that has none.
const UNUSED: &str = "#unused";

/// What a macro makes of its variables and arguments.
#[derive(Debug, Clone, Copy)]
enum Kind {
    All,
    Exists,
    ExistsOne,
    /// `map`: a variable that is no name has other words than that of quantifiers.
    Map,
    Filter,
    TransformList,
    TransformMap,
    TransformMapEntry,
}

/// Expands a call if it is one of a macro.
pub(crate) fn expand(
    parser: &mut Parser<'_>,
    offset: u32,
    function: &str,
    target: Option<Id>,
    arguments: &[Id],
) -> Option<Id> {
    let mut build = Builder { parser, offset };
    let Some(target) = target else {
        return match (function, arguments) {
            ("has", [argument]) => Some(build.has(*argument)),
            _ => None,
        };
    };
    let two = build.parser.syntax.has_two_variables;
    let optionals = build.parser.syntax.has_optionals;
    let expanded = match (function, arguments) {
        ("all", [v, p]) => build.fold(Kind::All, target, [*v, *v], false, &[*p]),
        ("exists", [v, p]) => build.fold(Kind::Exists, target, [*v, *v], false, &[*p]),
        ("exists_one" | "existsOne", [v, p]) => {
            build.fold(Kind::ExistsOne, target, [*v, *v], false, &[*p])
        }
        ("map", [v, rest @ ..]) if matches!(rest.len(), 1 | 2) => {
            build.fold(Kind::Map, target, [*v, *v], false, rest)
        }
        ("filter", [v, p]) => build.fold(Kind::Filter, target, [*v, *v], false, &[*p]),
        ("optMap", [v, e]) if optionals => build.optional(target, *v, *e, true),
        ("optFlatMap", [v, e]) if optionals => build.optional(target, *v, *e, false),
        ("sortBy", [v, k]) if build.parser.syntax.has_sort_by => build.sort_by(target, *v, *k),
        ("all", [a, b, p]) if two => build.fold(Kind::All, target, [*a, *b], true, &[*p]),
        ("exists", [a, b, p]) if two => build.fold(Kind::Exists, target, [*a, *b], true, &[*p]),
        ("exists_one" | "existsOne", [a, b, p]) if two => {
            build.fold(Kind::ExistsOne, target, [*a, *b], true, &[*p])
        }
        (name, [a, b, rest @ ..]) if two && matches!(rest.len(), 1 | 2) => {
            let kind = match name {
                "transformList" => Kind::TransformList,
                "transformMap" => Kind::TransformMap,
                "transformMapEntry" => Kind::TransformMapEntry,
                _ => return None,
            };
            build.fold(kind, target, [*a, *b], true, rest)
        }
        _ => return None,
    };
    Some(match expanded {
        Ok(id) => id,
        Err((place, message)) => build.parser.report(place, message),
    })
}

struct Builder<'p, 't> {
    parser: &'p mut Parser<'t>,
    offset: u32,
}

type Expanded = Result<Id, (u32, String)>;

impl Builder<'_, '_> {
    fn add(&mut self, expr: Expr) -> Id {
        self.parser.ast.add(self.offset, expr)
    }

    fn literal(&mut self, value: Value<'static>) -> Id {
        self.add(Expr::Literal(value))
    }

    fn ident(&mut self, name: &str) -> Id {
        self.add(Expr::Ident(name.into()))
    }

    fn accumulator(&mut self) -> Id {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, arguments: Vec<Id>) -> Id {
        self.add(Expr::Call(Call {
            function: function.into(),
            target: None,
            arguments,
        }))
    }

    fn member(&mut self, function: &str, target: Id) -> Id {
        self.add(Expr::Call(Call {
            function: function.into(),
            target: Some(target),
            arguments: Vec::new(),
        }))
    }

    fn list(&mut self, values: &[Id]) -> Id {
        let elements = values.iter().map(|value| Element {
            value: *value,
            is_optional: false,
        });
        self.add(Expr::List(elements.collect()))
    }

    fn has(&mut self, argument: Id) -> Id {
        match self.parser.ast.get(argument).clone() {
            Expr::Select(select) if !select.is_presence => self.add(Expr::Select(Select {
                is_presence: true,
                ..select
            })),
            Expr::Select(select) => self.add(Expr::Select(select)),
            _ => {
                let place = self.parser.ast.offset(argument);
                self.parser.report(place, "invalid argument to has() macro")
            }
        }
    }

    fn variable(&self, id: Id, message: &str) -> Result<Name, (u32, String)> {
        let place = self.parser.ast.offset(id);
        match self.parser.ast.get(id) {
            Expr::Ident(name) => Ok(Arc::clone(name)),
            _ => Err((place, message.to_owned())),
        }
    }

    fn variables(
        &self,
        kind: Kind,
        ids: [Id; 2],
        two: bool,
    ) -> Result<(Name, Option<Name>), (u32, String)> {
        let message = match kind {
            Kind::Map | Kind::Filter => "argument is not an identifier",
            _ => "argument must be a simple name",
        };
        let first = self.variable(ids[0], message)?;
        let second = if two {
            Some(self.variable(ids[1], message)?)
        } else {
            None
        };
        if second.as_ref() == Some(&first) {
            let place = self.parser.ast.offset(ids[1]);
            return Err((place, format!("duplicate variable name: {first}")));
        }
        for (name, id) in [Some(&first), second.as_ref()].into_iter().zip(ids) {
            if name.is_some_and(|it| matches!(&**it, ACCUMULATOR | OLD_ACCUMULATOR)) {
                let place = self.parser.ast.offset(id);
                return Err((
                    place,
                    "iteration variable overwrites accumulator variable".to_owned(),
                ));
            }
        }
        Ok((first, second))
    }

    fn fold(
        &mut self,
        kind: Kind,
        range: Id,
        ids: [Id; 2],
        two: bool,
        arguments: &[Id],
    ) -> Expanded {
        let (variable, second) = self.variables(kind, ids, two)?;
        let last = arguments.last().copied().unwrap_or_default();
        let filter = (arguments.len() > 1).then(|| arguments[0]);
        let initial = match kind {
            Kind::All => self.literal(Value::Bool(true)),
            Kind::Exists => self.literal(Value::Bool(false)),
            Kind::ExistsOne => self.literal(Value::Int(0)),
            Kind::Map | Kind::Filter | Kind::TransformList => self.list(&[]),
            Kind::TransformMap | Kind::TransformMapEntry => self.add(Expr::Map(Vec::new())),
        };
        let condition = self.condition(kind);
        let step = self.step(kind, last, filter, ids[0], &variable);
        let mut result = self.accumulator();
        if matches!(kind, Kind::ExistsOne) {
            let one = self.literal(Value::Int(1));
            result = self.call("_==_", vec![result, one]);
        }
        let accumulator = ACCUMULATOR.into();
        let fold = Fold {
            range,
            variable,
            second,
            accumulator,
            initial,
            condition,
            step,
            result,
        };
        Ok(self.add(Expr::Fold(Box::new(fold))))
    }

    fn condition(&mut self, kind: Kind) -> Id {
        match kind {
            Kind::All => {
                let accumulator = self.accumulator();
                self.call("@not_strictly_false", vec![accumulator])
            }
            Kind::Exists => {
                let accumulator = self.accumulator();
                let not = self.call("!_", vec![accumulator]);
                self.call("@not_strictly_false", vec![not])
            }
            _ => self.literal(Value::Bool(true)),
        }
    }

    fn step(&mut self, kind: Kind, last: Id, filter: Option<Id>, ident: Id, variable: &str) -> Id {
        let accumulator = self.accumulator();
        let (step, filter) = match kind {
            Kind::All => return self.call("_&&_", vec![accumulator, last]),
            Kind::Exists => return self.call("_||_", vec![accumulator, last]),
            Kind::ExistsOne => {
                let one = self.literal(Value::Int(1));
                (self.call("_+_", vec![accumulator, one]), Some(last))
            }
            Kind::Filter => {
                let element = self.list(&[ident]);
                (self.call("_+_", vec![accumulator, element]), Some(last))
            }
            Kind::Map | Kind::TransformList => {
                let element = self.list(&[last]);
                (self.call("_+_", vec![accumulator, element]), filter)
            }
            Kind::TransformMap => {
                let key = self.ident(variable);
                (
                    self.call("cel.@mapInsert", vec![accumulator, key, last]),
                    filter,
                )
            }
            Kind::TransformMapEntry => {
                (self.call("cel.@mapInsert", vec![accumulator, last]), filter)
            }
        };
        match filter {
            Some(filter) => {
                let unchanged = self.accumulator();
                self.call("_?_:_", vec![filter, step, unchanged])
            }
            None => step,
        }
    }

    fn optional(&mut self, target: Id, variable: Id, expression: Id, wraps: bool) -> Expanded {
        let function = if wraps { "optMap" } else { "optFlatMap" };
        let name = self.variable(
            variable,
            &format!("{function}() variable name must be a simple identifier"),
        )?;
        let has_value = self.member("hasValue", target);
        let range = self.list(&[]);
        let copy = self.parser.ast.copy(target);
        let initial = self.member("value", copy);
        let condition = self.literal(Value::Bool(false));
        let step = self.ident(&name);
        let fold = Fold {
            range,
            variable: UNUSED.into(),
            second: None,
            accumulator: name,
            initial,
            condition,
            step,
            result: expression,
        };
        let mut value = self.add(Expr::Fold(Box::new(fold)));
        if wraps {
            value = self.call("optional.of", vec![value]);
        }
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![has_value, value, none]))
    }

    /// Binds the list to a variable, which is then sorted by what it is mapped to.
    fn sort_by(&mut self, target: Id, variable: Id, key: Id) -> Expanded {
        if !matches!(
            self.parser.ast.get(target),
            Expr::List(_) | Expr::Select(_) | Expr::Ident(_) | Expr::Fold(_) | Expr::Call(_)
        ) {
            let place = self.parser.ast.offset(target);
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err((place, message.to_owned()));
        }
        let input = self.ident(SORTED);
        let keys = self.fold(Kind::Map, input, [variable, variable], false, &[key])?;
        let sorted = self.ident(SORTED);
        let result = self.add(Expr::Call(Call {
            function: "@sortByAssociatedKeys".into(),
            target: Some(sorted),
            arguments: vec![keys],
        }));
        let fold = Fold {
            range: self.list(&[]),
            variable: UNUSED.into(),
            second: None,
            accumulator: SORTED.into(),
            initial: target,
            condition: self.literal(Value::Bool(false)),
            step: self.ident(SORTED),
            result,
        };
        Ok(self.add(Expr::Fold(Box::new(fold))))
    }
}
