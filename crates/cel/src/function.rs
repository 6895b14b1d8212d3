//! [`Function`]: what an expression can call: overloads with types, what they do and what they
//! cost.

use crate::cel_type::Type;
use crate::cost::{CallCost, CallEstimate, Operands};
use crate::error::EvalError;
use crate::signature;
use crate::value::Value;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an overload does. The target, if any, is the first argument. Arguments fit the types of the
/// overload; those of type `dyn` or of a type parameter can be anything. An implementation may take
/// lists and maps out of its arguments.
pub type Implementation = for<'a> fn(&mut [Value<'a>]) -> Result<Value<'a>, EvalError>;

/// An implementation whose regular expression is compiled once if it is a constant.
pub type RegexImplementation = for<'a> fn(&Regex, &mut [Value<'a>]) -> Result<Value<'a>, EvalError>;

/// What a call cost; none for the default of its overload.
pub type RuntimeCost = fn(&CallCost<'_, '_>) -> Option<u64>;

/// What a call will cost at least and at most, without its arguments; none for the default.
pub type EstimatedCost = fn(&Operands<'_, '_>) -> Option<CallEstimate>;

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    pub(crate) name: &'static str,
    pub(crate) overloads: Vec<Overload>,
    /// What all overloads do; it decides by its arguments' values.
    pub(crate) singleton: Option<Implementation>,
    pub(crate) runtime_cost: Option<RuntimeCost>,
    pub(crate) estimated_cost: Option<EstimatedCost>,
    /// Reports whether arguments that failed are given to the function.
    pub(crate) is_non_strict: bool,
}

/// An overload.
#[derive(Debug, Clone)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    pub(crate) is_member: bool,
    pub(crate) arguments: Vec<Type>,
    pub(crate) result: Type,
    /// Reports whether the types contain type parameters.
    pub(crate) is_generic: bool,
    pub(crate) implementation: Option<Implementation>,
    /// The index of the regular expression among the arguments.
    pub(crate) regex: Option<(usize, RegexImplementation)>,
}

impl Function {
    /// Declares a function without overloads.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            overloads: Vec::new(),
            singleton: None,
            runtime_cost: None,
            estimated_cost: None,
            is_non_strict: false,
        }
    }

    /// Adds an overload that is called as `name(arguments)`.
    pub fn overload(
        self,
        id: &'static str,
        signature: &str,
        implementation: Implementation,
    ) -> Self {
        self.with(id, false, signature, Some(implementation))
    }

    /// Adds an overload that is called as `target.name(arguments)`. The target is the first
    /// argument.
    pub fn member(self, id: &'static str, signature: &str, implementation: Implementation) -> Self {
        self.with(id, true, signature, Some(implementation))
    }

    /// Adds an overload of a function that [`Function::singleton`] implements.
    pub(crate) fn declare(self, id: &'static str, signature: &str) -> Self {
        self.with(id, false, signature, None)
    }

    /// Adds a member overload of a function that [`Function::singleton`] implements.
    pub(crate) fn declare_member(self, id: &'static str, signature: &str) -> Self {
        self.with(id, true, signature, None)
    }

    fn with(
        mut self,
        id: &'static str,
        is_member: bool,
        text: &str,
        implementation: Option<Implementation>,
    ) -> Self {
        let (arguments, result) = signature::parse(text);
        let is_generic = arguments.iter().chain([&result]).any(has_parameter);
        self.overloads.push(Overload {
            id,
            is_member,
            arguments,
            result,
            is_generic,
            implementation,
            regex: None,
        });
        self
    }

    /// Says which argument of the last overload is a regular expression, and what to do with it.
    pub fn regex(mut self, index: usize, implementation: RegexImplementation) -> Self {
        if let Some(overload) = self.overloads.last_mut() {
            overload.regex = Some((index, implementation));
        }
        self
    }

    /// Implements all overloads.
    pub(crate) fn singleton(mut self, implementation: Implementation) -> Self {
        self.singleton = Some(implementation);
        self
    }

    /// Sets the costs of all overloads.
    pub fn costs(mut self, runtime: RuntimeCost, estimated: EstimatedCost) -> Self {
        self.runtime_cost = Some(runtime);
        self.estimated_cost = Some(estimated);
        self
    }
}

fn has_parameter(kind: &Type) -> bool {
    match kind {
        Type::Parameter(_) => true,
        Type::List(element) | Type::Wrapper(element) | Type::Type(Some(element)) => {
            has_parameter(element)
        }
        Type::Map(map) => has_parameter(&map.0) || has_parameter(&map.1),
        Type::Opaque(opaque) => opaque.1.iter().any(has_parameter),
        _ => false,
    }
}

/// Functions by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    functions: BTreeMap<&'static str, Arc<Function>>,
}

impl Registry {
    /// Adds a function; overloads of a function of that name are joined.
    pub(crate) fn add(&mut self, function: Function) {
        let entry = self.functions.entry(function.name);
        let known = Arc::make_mut(entry.or_insert_with(|| Arc::new(Function::new(function.name))));
        for overload in function.overloads {
            known.overloads.retain(|it| it.id != overload.id);
            known.overloads.push(overload);
        }
        known.singleton = known.singleton.or(function.singleton);
        known.runtime_cost = known.runtime_cost.or(function.runtime_cost);
        known.estimated_cost = known.estimated_cost.or(function.estimated_cost);
        known.is_non_strict |= function.is_non_strict;
    }

    /// Returns a function.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.functions.get(name)
    }
}
