//! The checker.

use super::assign::{Substitution, most_general};
use super::scope::{Declared, Scope};
use crate::error::Issue;
use crate::function::Function;
use crate::source::Source;
use crate::syntax::ast::{Ast, Call, Element, Entry, Expr, Id, Select};
use crate::types::{Name, Type};
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The types and references of a tree.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The type of each node.
    pub(crate) types: Vec<Type>,
    /// What nodes refer to.
    pub(crate) references: BTreeMap<Id, Reference>,
}

/// What a node refers to.
#[derive(Debug, Clone)]
pub(crate) enum Reference {
    /// A variable of the environment or of a macro.
    Variable(Name),
    /// A type.
    Type(Type),
    /// A function, with the overloads that may be meant. The target may be part of its name.
    Function {
        function: Arc<Function>,
        overloads: Vec<usize>,
        is_namespaced: bool,
    },
}

/// The checker's state.
#[derive(Debug)]
pub(crate) struct Checker<'e> {
    pub(crate) ast: &'e Ast,
    scope: &'e Scope,
    source: &'e Source<'e>,
    pub(crate) types: Vec<Option<Type>>,
    references: BTreeMap<Id, Reference>,
    pub(crate) substitution: Substitution,
    /// Variables of macros, the innermost last.
    pub(crate) locals: Vec<(Name, Type)>,
    issues: Vec<Issue>,
}

/// Checks a tree.
pub(crate) fn check(ast: &Ast, scope: &Scope, source: &Source<'_>) -> Result<Checked, Vec<Issue>> {
    let mut checker = Checker {
        ast,
        scope,
        source,
        types: vec![None; ast.len()],
        references: BTreeMap::new(),
        substitution: Substitution::default(),
        locals: Vec::new(),
        issues: Vec::new(),
    };
    checker.check(ast.root);
    if checker.issues.is_empty() {
        let Checker {
            types,
            references,
            substitution,
            ..
        } = checker;
        let types = types
            .into_iter()
            .map(|it| it.map_or(Type::Error, |it| substitution.apply(&it, true)))
            .collect();
        return Ok(Checked { types, references });
    }
    Err(checker.issues)
}

impl Checker<'_> {
    /// Reports an issue at a node.
    pub(crate) fn report(&mut self, id: Id, message: String) {
        let location = self.source.location(self.ast.offset(id));
        self.issues.push(Issue { location, message });
    }

    fn undeclared(&mut self, id: Id, name: &str) {
        let message = format!(
            "undeclared reference to '{name}' (in container '{}')",
            self.scope.container
        );
        self.report(id, message);
    }

    pub(crate) fn mismatch(&mut self, id: Id, expected: &Type, actual: &Type) {
        self.report(
            id,
            format!("expected type '{expected}' but found '{actual}'"),
        );
    }

    /// Returns the type of a checked node.
    pub(crate) fn kind(&self, id: Id) -> Type {
        self.types
            .get(id as usize)
            .cloned()
            .flatten()
            .unwrap_or(Type::Error)
    }

    pub(crate) fn set(&mut self, id: Id, kind: Type) {
        if let Some(slot) = self.types.get_mut(id as usize) {
            *slot = Some(kind);
        }
    }

    /// Reports whether one type can stand where another is expected, and binds variables if so.
    pub(crate) fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.substitution.assignable([(from, to)])
    }

    /// Checks a node and those below it.
    pub(crate) fn check(&mut self, id: Id) {
        let ast = self.ast;
        match ast.get(id) {
            Expr::Error => self.set(id, Type::Error),
            Expr::Literal(value) => self.set(id, literal_type(value)),
            Expr::Ident(name) => self.check_name(id, name),
            Expr::Select(select) => self.check_select(id, select),
            Expr::Call(call) => self.check_call(id, call),
            Expr::List(elements) => self.check_list(id, elements),
            Expr::Map(entries) => self.check_map(id, entries),
            Expr::Message(name, fields) => self.check_message(id, name, fields),
            Expr::Fold(fold) => self.check_fold(id, fold),
        }
    }

    fn check_name(&mut self, id: Id, name: &str) {
        if !self.resolve(id, name) {
            self.set(id, Type::Error);
            self.undeclared(id, name);
        }
    }

    /// Resolves a name, with dots or without.
    fn resolve(&mut self, id: Id, name: &str) -> bool {
        let local = self.locals.iter().rev().find(|(local, _)| &**local == name);
        let found = match local {
            Some((name, kind)) => Declared::Variable(Arc::clone(name), kind.clone()),
            None => match self.scope.find(name) {
                Some(found) => found,
                None => return false,
            },
        };
        let (reference, kind) = match found {
            Declared::Variable(name, kind) => (Reference::Variable(name), kind),
            Declared::Type(kind) => (Reference::Type(kind.clone()), Type::of(kind)),
        };
        self.references.insert(id, reference);
        self.set(id, kind);
        true
    }

    /// Returns the name that a chain of selections spells.
    fn qualified(&self, id: Id) -> Option<String> {
        match self.ast.get(id) {
            Expr::Ident(name) if !self.locals.iter().any(|it| it.0 == *name) => {
                Some(name.to_string())
            }
            Expr::Select(select) if !select.is_presence => {
                let mut name = self.qualified(select.operand)?;
                name.push('.');
                name.push_str(&select.field);
                Some(name)
            }
            _ => None,
        }
    }

    fn first_name(&self, id: Id) -> Option<&str> {
        match self.ast.get(id) {
            Expr::Ident(name) => Some(name),
            Expr::Select(select) if !select.is_presence => self.first_name(select.operand),
            _ => None,
        }
    }

    fn check_select(&mut self, id: Id, select: &Select) {
        let may_qualify = |first: &str| {
            self.scope
                .may_qualify(first.strip_prefix('.').unwrap_or(first))
        };
        if !select.is_presence
            && self.first_name(id).is_some_and(may_qualify)
            && let Some(name) = self.qualified(id)
            && self.resolve(id, &name)
        {
            return;
        }
        let kind = self.field(id, select.operand, &select.field, false);
        self.set(id, if select.is_presence { Type::Bool } else { kind });
    }

    /// Checks the selection of a field, and returns its type.
    fn field(&mut self, id: Id, operand: Id, field: &str, is_optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.substitution.apply(&self.kind(operand), false);
        let (target, was_optional) = match operand_type.optional_value() {
            Some(inner) => (inner.clone(), true),
            None => (operand_type, false),
        };
        let kind = match &target {
            Type::Map(map) => map.1.clone(),
            Type::Object(object) => match self.declared_field(object, field) {
                Some(kind) => kind,
                None => {
                    self.report(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Parameter(_) => {
                self.is_assignable(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(
                        id,
                        format!("type '{other}' does not support field selection"),
                    );
                }
                Type::Dyn
            }
        };
        let kind = if was_optional || is_optional {
            Type::optional(kind)
        } else {
            kind
        };
        self.substitution.apply(&kind, false)
    }

    fn declared_field(&self, object: &crate::declared::Object, field: &str) -> Option<Type> {
        let found = object.exposed(field).or_else(|| {
            let is_keyword = self.scope.has_keyword_fields && crate::escape::is_reserved(field);
            is_keyword.then(|| object.exposed(&format!("__{field}__")))?
        });
        found.map(|it| it.declared.cel_type())
    }

    fn check_call(&mut self, id: Id, call: &Call) {
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
            match scope.function(&call.function) {
                Some(function) => self.resolve_call(id, function, None, &call.arguments, false),
                None => {
                    self.undeclared(id, &call.function);
                    self.set(id, Type::Error);
                }
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
        match scope.function(&call.function) {
            Some(function) => self.resolve_call(id, function, Some(target), &call.arguments, false),
            None => {
                self.set(id, Type::Error);
                self.undeclared(id, &call.function);
            }
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

    fn check_list(&mut self, id: Id, elements: &[Element]) {
        let mut joined = None;
        for element in elements {
            self.check(element.value);
            let kind = self.element_type(*element);
            joined = Some(self.join(element.value, joined, kind));
        }
        let element = joined.unwrap_or_else(|| self.substitution.variable());
        self.set(id, Type::list(element));
    }

    /// Returns the type of an element, unwrapped if the element is optional.
    fn element_type(&mut self, element: Element) -> Type {
        let kind = self.kind(element.value);
        if !element.is_optional {
            return kind;
        }
        if let Some(inner) = kind.optional_value() {
            return inner.clone();
        }
        if !kind.is_dyn() {
            self.mismatch(element.value, &Type::optional(kind.clone()), &kind);
        }
        kind
    }

    /// Returns the common type of elements.
    fn join(&mut self, id: Id, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else {
            return current;
        };
        if self.is_assignable(&previous, &current) {
            return most_general(&previous, &current);
        }
        if self.scope.validates_literals {
            return Type::Dyn;
        }
        self.mismatch(id, &previous, &current);
        Type::Error
    }

    fn check_map(&mut self, id: Id, entries: &[Entry]) {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(entry.key);
            let key = self.kind(entry.key);
            keys = Some(self.join(entry.key, keys, key));
            self.check(entry.value);
            let value = self.element_type(Element {
                value: entry.value,
                is_optional: entry.is_optional,
            });
            values = Some(self.join(entry.value, values, value));
        }
        let key = keys.unwrap_or_else(|| self.substitution.variable());
        let value = values.unwrap_or_else(|| self.substitution.variable());
        self.set(id, Type::map(key, value));
    }

    /// Checks the creation of a message, of which there are none: only the words differ.
    fn check_message(&mut self, id: Id, name: &str, fields: &[(Name, Element)]) {
        match self.scope.find(name) {
            None => return self.undeclared(id, name),
            Some(Declared::Variable(name, _)) => self.report(id, format!("'{name}' is not a type")),
            Some(Declared::Type(kind)) => {
                self.report(id, format!("'{kind}' is not a message type"))
            }
        }
        fields.iter().for_each(|field| self.check(field.1.value));
        self.set(id, Type::Error);
    }
}

fn literal_type(value: &Value<'_>) -> Type {
    value.runtime_type()
}
