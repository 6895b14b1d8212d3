//! The checker.

use super::assign::Substitution;
use super::scope::{Declared, Scope};
use crate::cel_type::{Name, Type};
use crate::error::Issue;
use crate::function::Function;
use crate::source::Source;
use crate::syntax::ast::{Ast, Expr, Id, Select};
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
    /// A variable of the environment. Those of macros are found by name.
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
    pub(super) scope: &'e Scope,
    source: &'e Source<'e>,
    pub(crate) types: Vec<Option<Type>>,
    pub(super) references: BTreeMap<Id, Reference>,
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

    pub(super) fn undeclared(&mut self, id: Id, name: &str) {
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
        if let Some((_, kind)) = self.locals.iter().rev().find(|(local, _)| &**local == name) {
            let kind = kind.clone();
            self.set(id, kind);
            return true;
        }
        let Some(found) = self.scope.find(name) else {
            return false;
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
    pub(super) fn qualified(&self, id: Id) -> Option<String> {
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
    pub(super) fn field(&mut self, id: Id, operand: Id, field: &str, is_optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.substitution.apply(&self.kind(operand), false);
        let (target, was_optional) = match operand_type.optional_value() {
            Some(inner) => (inner.clone(), true),
            None => (operand_type, false),
        };
        let kind = match &target {
            Type::Map(map) => map.1.clone(),
            Type::Object(object) => {
                let declared = self.declared_field(object, field);
                if declared.is_none() {
                    self.report(id, format!("undefined field '{field}'"));
                }
                declared.unwrap_or(Type::Error)
            }
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
        if object.is_dynamic() {
            return Some(Type::Dyn);
        }
        let found = object.exposed(field).or_else(|| {
            let is_keyword = self.scope.has_keyword_fields && crate::escape::is_reserved(field);
            is_keyword.then(|| object.exposed(&format!("__{field}__")))?
        });
        found.map(|it| it.declared.cel_type())
    }
}

fn literal_type(value: &Value<'_>) -> Type {
    value.runtime_type()
}
