//! Types of calls: which overloads fit the arguments.

use super::checker::{Checker, Reference};
use crate::cel_type::Type;
use crate::function::Function;
use crate::syntax::ast::{Call, Expr, Id};
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn check_call(&mut self, id: Id, call: &Call) {
        if &*call.function == "_?._"
            && let [operand, field] = call.arguments[..]
            && let Expr::Literal(Value::String(name)) = self.ast.get(field)
        {
            let name = name.as_str().to_owned();
            let kind = self.field(id, operand, &name, true);
            self.set(id, kind);
            if let Some(function) = self.scope.function("_?._") {
                let function = Arc::clone(function);
                self.references.insert(
                    id,
                    Reference::Function {
                        function,
                        overloads: vec![0],
                        is_namespaced: false,
                    },
                );
            }
            return;
        }
        for argument in &call.arguments {
            self.check(*argument);
        }
        let scope = self.scope;
        let Some(target) = call.target else {
            if let Some(function) = scope.function(&call.function) {
                self.resolve_call(id, function, None, &call.arguments, false);
            } else {
                self.undeclared(id, &call.function);
                self.set(id, Type::Error);
            }
            return;
        };
        if let Some(prefix) = self.qualified(target)
            && let Some(function) = scope.function(&format!("{prefix}.{}", call.function))
        {
            self.resolve_call(id, function, None, &call.arguments, true);
            return;
        }
        self.check(target);
        if let Some(function) = scope.function(&call.function) {
            self.resolve_call(id, function, Some(target), &call.arguments, false);
        } else {
            self.set(id, Type::Error);
            self.undeclared(id, &call.function);
        }
    }

    fn resolve_call(
        &mut self,
        id: Id,
        function: &Arc<Function>,
        target: Option<Id>,
        arguments: &[Id],
        is_namespaced: bool,
    ) {
        if matches!(function.name, "_&&_" | "_||_") {
            return self.check_logic(id, function, arguments);
        }
        let kinds: Vec<Type> = target
            .iter()
            .chain(arguments)
            .map(|it| self.kind(*it))
            .collect();
        let (mut overloads, mut result) = (Vec::new(), None);
        for (at, overload) in function.overloads.iter().enumerate() {
            if overload.is_member != target.is_some() || overload.arguments.len() != kinds.len() {
                continue;
            }
            let mut variables = BTreeMap::new();
            let instantiated: Vec<Type>;
            let (expected, returned) = if overload.is_generic {
                instantiated = overload
                    .arguments
                    .iter()
                    .chain([&overload.result])
                    .map(|it| self.substitution.instantiate(it, &mut variables))
                    .collect();
                (&instantiated[..kinds.len()], &instantiated[kinds.len()])
            } else {
                (&overload.arguments[..], &overload.result)
            };
            if !self.substitution.assignable(kinds.iter().zip(expected)) {
                continue;
            }
            overloads.push(at);
            let returned = self.substitution.apply(returned, false);
            result = Some(match result {
                None => returned,
                Some(known @ Type::Dyn) => known,
                Some(known) if known.is_same(&returned, true) => known,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            self.no_overload(id, function.name, &kinds, target.is_some());
            return self.set(id, Type::Error);
        };
        self.set(id, result);
        let function = Arc::clone(function);
        self.references.insert(
            id,
            Reference::Function {
                function,
                overloads,
                is_namespaced,
            },
        );
    }

    fn check_logic(&mut self, id: Id, function: &Arc<Function>, arguments: &[Id]) {
        let mut fits = true;
        for argument in arguments {
            let kind = self.kind(*argument);
            if !self.is_assignable(&kind, &Type::Bool) {
                self.mismatch(*argument, &Type::Bool, &kind);
                fits = false;
            }
        }
        self.set(id, if fits { Type::Bool } else { Type::Error });
        let function = Arc::clone(function);
        self.references.insert(
            id,
            Reference::Function {
                function,
                overloads: vec![0],
                is_namespaced: false,
            },
        );
    }

    fn no_overload(&mut self, id: Id, name: &str, kinds: &[Type], is_member: bool) {
        let texts: Vec<String> = kinds
            .iter()
            .map(|it| self.substitution.apply(it, true).to_string())
            .collect();
        let signature = match texts.split_first() {
            Some((target, arguments)) if is_member => {
                format!("{target}.({})", arguments.join(", "))
            }
            _ => format!("({})", texts.join(", ")),
        };
        self.report(
            id,
            format!("found no matching overload for '{name}' applied to '{signature}'"),
        );
    }
}
