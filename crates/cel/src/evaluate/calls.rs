//! Calls of functions.

use super::{Evaluation, Outcome};
use crate::cost::CallCost;
use crate::error::EvalError;
use crate::function::Overload;
use crate::plan::{CallNode, Callee};
use crate::value::Value;

impl<'a> Evaluation<'a, '_> {
    /// Evaluates a call: its arguments, then itself, then what it cost.
    pub(super) fn call(&mut self, call: &'a CallNode) -> Outcome<'a> {
        match &call.arguments[..] {
            [] => self.applied(call, &mut [], &[]),
            [argument] => {
                let argument = self.node(argument);
                self.with(call, [argument])
            }
            [first, second] => {
                let first = self.node(first);
                if call.stops_early && first.is_err() {
                    return first;
                }
                let second = self.node(second);
                self.with(call, [first, second])
            }
            arguments => {
                let mut values = Vec::with_capacity(arguments.len());
                for (at, argument) in arguments.iter().enumerate() {
                    match self.node(argument) {
                        Ok(value) => values.push(value),
                        Err(error) => {
                            if at + 1 == arguments.len() && error.is_absorbed() {
                                let mut kept: Vec<_> = values.into_iter().map(Some).collect();
                                kept.push(None);
                                self.pay(call, &kept, None)?;
                            }
                            return Err(error);
                        }
                    }
                }
                let kept: Vec<_> = if call.is_cheap {
                    Vec::new()
                } else {
                    values.iter().cloned().map(Some).collect()
                };
                self.applied(call, &mut values, &kept)
            }
        }
    }

    /// Evaluates a call of one or two arguments, all of which were evaluated.
    fn with<const N: usize>(
        &mut self,
        call: &'a CallNode,
        outcomes: [Outcome<'a>; N],
    ) -> Outcome<'a> {
        if outcomes.iter().all(Result::is_ok) {
            let mut values = outcomes.map(Result::unwrap_or_default);
            if call.is_cheap {
                return self.applied(call, &mut values, &[]);
            }
            let kept = values.each_ref().map(|it| Some(it.clone()));
            return self.applied(call, &mut values, &kept);
        }
        let mut failed = None;
        let mut kept = [const { None }; N];
        for (kept, outcome) in kept.iter_mut().zip(outcomes) {
            match outcome {
                Ok(value) => *kept = Some(value),
                Err(error) if !error.is_absorbed() => return Err(error),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        self.pay(call, &kept, None)?;
        Err(failed.unwrap_or_else(EvalError::no_such_overload))
    }

    fn applied(
        &mut self,
        call: &'a CallNode,
        values: &mut [Value<'a>],
        kept: &[Option<Value<'a>>],
    ) -> Outcome<'a> {
        let result = apply(call, values);
        self.pay(call, kept, result.as_ref().ok())?;
        result
    }

    /// Adds the cost of a call.
    fn pay(
        &mut self,
        call: &CallNode,
        arguments: &[Option<Value<'a>>],
        result: Option<&Value<'a>>,
    ) -> Outcome<'a, ()> {
        if call.is_cheap {
            return self.charge(1);
        }
        let cost = CallCost {
            overload: call.overload,
            arguments,
            result,
        };
        let own = call.function.runtime_cost.and_then(|it| it(&cost));
        self.charge(own.unwrap_or_else(|| cost.default()))
    }
}

fn apply<'a>(call: &CallNode, values: &mut [Value<'a>]) -> Outcome<'a> {
    match &call.callee {
        Callee::Singleton(implementation) => {
            let lacks_it = lacks_operator(call.function.name, values);
            let named = || EvalError::failed(format!("no such overload: {}", call.function.name));
            implementation(values).map_err(|error| if lacks_it { named() } else { error })
        }
        Callee::Regex(regex, implementation) => implementation(regex, values),
        Callee::Overload(at) => {
            let overload = call.function.overloads.get(*at);
            let is_unguarded = matches!(call.function.name, "contains" | "startsWith" | "endsWith");
            applied(
                call,
                overload.filter(|it| is_unguarded || fits(it, values)),
                values,
            )
        }
        Callee::Dispatch => {
            let overload = call.function.overloads.iter().find(|it| fits(it, values));
            applied(call, overload, values)
        }
    }
}

fn fits(overload: &Overload, values: &[Value<'_>]) -> bool {
    let mut pairs = overload.arguments.iter().zip(values);
    overload.arguments.len() == values.len() && pairs.all(|(kind, value)| value.fits(kind))
}

fn applied<'a>(
    call: &CallNode,
    overload: Option<&Overload>,
    values: &mut [Value<'a>],
) -> Outcome<'a> {
    match overload.and_then(|it| it.implementation) {
        Some(implementation) => implementation(values),
        None => Err(no_such_overload(call, values)),
    }
}

/// Reports whether the first operand is of a type that does not have an operator at all, which
/// upstream reports in words of its own.
fn lacks_operator(function: &str, values: &[Value<'_>]) -> bool {
    use Value::{Bool, Bytes, Double, Duration, Int, List, Map, String, Timestamp, Uint};
    let Some(first) = values.first() else {
        return false;
    };
    match (function, first) {
        (_, Int(_) | String(_) | Timestamp(_) | Duration(_))
        | ("_+_" | "_-_" | "_*_" | "_/_", Double(_) | Uint(_))
        | ("_+_", Bytes(_) | List(_))
        | ("_%_", Uint(_))
        | ("-_", Double(_) | Bool(_))
        | ("_<_" | "_<=_" | "_>_" | "_>=_", Bool(_) | Bytes(_) | Double(_) | Uint(_))
        | ("size", Bytes(_) | List(_) | Map(_)) => false,
        (name, _) => matches!(
            name,
            "_+_"
                | "_-_"
                | "_*_"
                | "_/_"
                | "_%_"
                | "-_"
                | "_<_"
                | "_<=_"
                | "_>_"
                | "_>=_"
                | "size"
                | "matches"
        ),
    }
}

fn no_such_overload(call: &CallNode, values: &[Value<'_>]) -> EvalError {
    let kinds: Vec<_> = values.iter().map(Value::type_name).collect();
    EvalError::failed(format!(
        "no such overload: {}({})",
        call.function.name,
        kinds.join(", ")
    ))
}
