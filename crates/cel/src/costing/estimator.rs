//! The estimator: walks a checked tree and adds up what it can cost.

use crate::cel_type::{Name, Type};
use crate::check::checker::{Checked, Reference};
use crate::cost::call::{self, Operand, Operands};
use crate::cost::estimate::{CallEstimate, CostEstimate, SizeEstimate};
use crate::cost::sizes::{PathElement, SizeEstimator, SizeNode};
use crate::cost::{LIST_CREATION, MAP_CREATION, MESSAGE_CREATION};
use crate::syntax::ast::{Ast, Call, Expr, Id, Select};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sizes of the entries of a list or a map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries {
    pub(super) is_map: bool,
    pub(super) key: SizeEstimate,
    pub(super) value: SizeEstimate,
}

impl Entries {
    fn union(self, other: Self) -> Self {
        Self {
            is_map: self.is_map,
            key: self.key.union(other.key),
            value: self.value.union(other.value),
        }
    }
}

/// A variable of a macro.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) name: Name,
    pub(super) path: Option<Vec<PathElement>>,
    pub(super) size: Option<SizeEstimate>,
    pub(super) entries: Option<Entries>,
}

pub(super) struct Estimator<'e> {
    pub(super) ast: &'e Ast,
    pub(super) checked: &'e Checked,
    pub(super) sizes: &'e dyn SizeEstimator,
    pub(super) paths: BTreeMap<Id, Vec<PathElement>>,
    pub(super) computed: BTreeMap<Id, SizeEstimate>,
    pub(super) entries: BTreeMap<Id, Entries>,
    pub(super) locals: Vec<Local>,
}

/// Estimates the cost of a checked tree.
pub(crate) fn estimate(ast: &Ast, checked: &Checked, sizes: &dyn SizeEstimator) -> CostEstimate {
    let mut estimator = Estimator {
        ast,
        checked,
        sizes,
        paths: BTreeMap::new(),
        computed: BTreeMap::new(),
        entries: BTreeMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(ast.root)
}

impl<'e> Estimator<'e> {
    pub(super) fn kind(&self, id: Id) -> &'e Type {
        self.checked.types.get(id as usize).unwrap_or(&Type::Error)
    }

    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|it| &*it.name == name)
    }

    fn local_of(&self, id: Id) -> Option<&Local> {
        match self.ast.get(id) {
            Expr::Ident(name) => self.local(name),
            _ => None,
        }
    }

    pub(super) fn path(&self, id: Id) -> Option<Vec<PathElement>> {
        match self.local_of(id) {
            Some(local) => local.path.clone(),
            None => self.paths.get(&id).cloned(),
        }
    }

    pub(super) fn extended(&self, id: Id, element: PathElement) -> Vec<PathElement> {
        let mut path = self.path(id).unwrap_or_default();
        path.push(element);
        path
    }

    pub(super) fn cost(&mut self, id: Id) -> CostEstimate {
        let ast = self.ast;
        match ast.get(id) {
            Expr::Error => CostEstimate::default(),
            Expr::Literal(_) => CostEstimate::fixed(0),
            Expr::Ident(name) => self.ident(id, name),
            Expr::Select(_) if self.is_name(id) => self.name(id),
            Expr::Select(select) => self.select(id, select),
            Expr::Call(call) => self.call(id, call),
            Expr::List(elements) => {
                let values: Vec<Id> = elements.iter().map(|it| it.value).collect();
                let (cost, value) = self.all(&values);
                self.entries.insert(
                    id,
                    Entries {
                        is_map: false,
                        key: SizeEstimate::fixed(1),
                        value,
                    },
                );
                cost.plus(CostEstimate::fixed(LIST_CREATION))
            }
            Expr::Map(entries) => {
                let (keys, values): (Vec<Id>, Vec<Id>) =
                    entries.iter().map(|it| (it.key, it.value)).unzip();
                let (key_cost, key) = self.all(&keys);
                let (value_cost, value) = self.all(&values);
                self.entries.insert(
                    id,
                    Entries {
                        is_map: true,
                        key,
                        value,
                    },
                );
                key_cost
                    .plus(value_cost)
                    .plus(CostEstimate::fixed(MAP_CREATION))
            }
            Expr::Message(_, fields) => {
                let costs = fields
                    .iter()
                    .map(|it| self.cost(it.1.value))
                    .collect::<Vec<_>>();
                costs
                    .into_iter()
                    .fold(CostEstimate::fixed(MESSAGE_CREATION), CostEstimate::plus)
            }
            Expr::Fold(fold) if self.is_bind(fold) => self.bind(id, fold),
            Expr::Fold(fold) => self.fold(id, fold),
        }
    }

    /// Reports whether a selection is a name with dots.
    fn is_name(&self, id: Id) -> bool {
        matches!(
            self.checked.references.get(&id),
            Some(Reference::Variable(_) | Reference::Type(_))
        )
    }

    fn name(&mut self, id: Id) -> CostEstimate {
        if let Some(Reference::Variable(name)) = self.checked.references.get(&id) {
            self.paths
                .insert(id, vec![PathElement::Name(Arc::clone(name))]);
        }
        CostEstimate::fixed(1)
    }

    fn ident(&mut self, id: Id, name: &Name) -> CostEstimate {
        let path = match self.local(name) {
            Some(local) => local.path.clone(),
            None => Some(vec![PathElement::Name(Arc::clone(name))]),
        };
        if let Some(path) = path {
            self.paths.insert(id, path);
        }
        CostEstimate::fixed(1)
    }

    /// Returns the cost of elements and the sizes they can have.
    fn all(&mut self, ids: &[Id]) -> (CostEstimate, SizeEstimate) {
        let mut size = SizeEstimate {
            min: if ids.is_empty() { 0 } else { u64::MAX },
            max: 0,
        };
        let mut cost = CostEstimate::default();
        for id in ids {
            cost = cost.plus(self.cost(*id));
            size = size.union(self.size_or_unknown(*id));
        }
        (cost, size)
    }

    fn select(&mut self, id: Id, select: &Select) -> CostEstimate {
        let operand = self.cost(select.operand);
        if select.is_presence {
            return operand;
        }
        let path = self.extended(select.operand, PathElement::Name(Arc::clone(&select.field)));
        self.paths.insert(id, path);
        match self.kind(select.operand) {
            Type::Map(_) | Type::Object(_) | Type::Parameter(_) => {
                operand.plus(CostEstimate::fixed(1))
            }
            _ => operand,
        }
    }

    fn call(&mut self, id: Id, call: &'e Call) -> CostEstimate {
        if let ("dyn", [argument]) = (&*call.function, &call.arguments[..]) {
            let cost = self.cost(*argument);
            self.copy_sizes(id, *argument);
            return CostEstimate::fixed(1).plus(cost);
        }
        let (mut costs, mut operands) = (Vec::new(), Vec::new());
        for argument in &call.arguments {
            costs.push(self.cost(*argument));
            operands.push(self.operand(*argument));
        }
        let Some(Reference::Function {
            function,
            overloads,
            is_namespaced,
        }) = self.checked.references.get(&id)
        else {
            return CostEstimate::default();
        };
        let mut sum = CostEstimate::default();
        let mut target = None;
        if let Some(id) = call.target.filter(|_| !is_namespaced) {
            sum = self.cost(id);
            target = Some(self.operand(id));
        }
        let mut cost = CostEstimate {
            min: u64::MAX,
            max: 0,
        };
        let mut size: Option<SizeEstimate> = None;
        for at in overloads {
            let Some(overload) = function.overloads.get(*at) else {
                continue;
            };
            let asked = Operands {
                overload: overload.id,
                target: target.clone(),
                arguments: &operands,
            };
            let given = function.estimated_cost.and_then(|it| it(&asked));
            let call_estimate = match given {
                Some(it) => CallEstimate {
                    cost: costs.iter().fold(it.cost, |sum, it| sum.plus(*it)),
                    ..it
                },
                None => self.default(id, call, &asked, &costs),
            };
            cost = cost.union(call_estimate.cost);
            size = match (size, call_estimate.result_size) {
                (Some(a), Some(b)) => Some(a.union(b)),
                (a, b) => a.or(b),
            };
            size = self.indexed(id, call, overload.id, size);
            size = size.or_else(|| self.size(id));
        }
        if let Some(size) = size {
            self.computed.insert(id, size);
        }
        sum.plus(cost)
    }

    /// Follows an index into a list or a map.
    fn indexed(
        &mut self,
        id: Id,
        call: &Call,
        overload: &str,
        size: Option<SizeEstimate>,
    ) -> Option<SizeEstimate> {
        let element = match overload {
            "index_list" => PathElement::Items,
            "index_map" => PathElement::Values,
            _ => return size,
        };
        let Some(container) = call.arguments.first() else {
            return size;
        };
        let path = self.extended(*container, element);
        self.paths.insert(id, path);
        self.entries(*container).map(|it| it.value)
    }

    fn operand(&mut self, id: Id) -> Operand<'e, 'e> {
        let ast = self.ast;
        let literal = match ast.get(id) {
            Expr::Literal(value) => Some(value),
            _ => None,
        };
        let computed = self.size(id);
        Operand {
            path: self.path(id),
            kind: self.kind(id).clone(),
            computed,
            literal,
            sizes: self.sizes,
        }
    }

    pub(super) fn copy_sizes(&mut self, to: Id, from: Id) {
        if let Some(size) = self.size(from) {
            self.computed.insert(to, size);
        }
        if let Some(entries) = self.entries(from) {
            self.entries.insert(to, entries);
        }
    }

    pub(super) fn size_or_unknown(&mut self, id: Id) -> SizeEstimate {
        self.size(id).unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// Returns the size of a node, if anything is known about it.
    pub(super) fn size(&mut self, id: Id) -> Option<SizeEstimate> {
        if let Some(size) = self.computed.get(&id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(self.ast.get(id)) {
            return Some(SizeEstimate::fixed(size));
        }
        let kind = self.kind(id);
        let path = self.path(id);
        if let Some(size) = self.sizes.estimate(&SizeNode {
            path: path.as_deref(),
            kind,
        }) {
            self.computed.insert(id, size);
            return Some(size);
        }
        if is_scalar(kind) {
            return Some(SizeEstimate::fixed(1));
        }
        self.local_of(id)?.size
    }

    pub(super) fn entries(&self, id: Id) -> Option<Entries> {
        let known = self.entries.get(&id).copied();
        known.or_else(|| self.local_of(id)?.entries)
    }

    /// Returns the cost of a call for which its function has no estimate.
    fn default(
        &mut self,
        id: Id,
        call: &Call,
        asked: &Operands<'_, '_>,
        costs: &[CostEstimate],
    ) -> CallEstimate {
        let size = |at: usize| {
            asked
                .arguments
                .get(at)
                .and_then(|it| it.computed)
                .unwrap_or(SizeEstimate::UNKNOWN)
        };
        match (asked.overload, costs) {
            ("logical_or" | "logical_and", [left, right]) => {
                return CallEstimate::of(CostEstimate {
                    min: left.min,
                    max: left.plus(*right).max,
                });
            }
            ("conditional", [condition, truthy, falsy]) => {
                if let [_, truthy, falsy] = call.arguments[..]
                    && let (Some(a), Some(b)) = (self.entries(truthy), self.entries(falsy))
                {
                    self.entries.insert(id, a.union(b));
                }
                let cost = condition.plus(truthy.union(*falsy));
                return CallEstimate {
                    cost,
                    result_size: Some(size(1).union(size(2))),
                };
            }
            ("add_string" | "add_bytes" | "add_list", [_, _]) => {
                if let [a, b] = call.arguments[..]
                    && let (Some(a), Some(b)) = (self.entries(a), self.entries(b))
                {
                    self.entries.insert(id, a.union(b));
                }
            }
            _ => {}
        }
        let own = call::default(asked);
        CallEstimate {
            cost: costs.iter().fold(own.cost, |sum, it| sum.plus(*it)),
            ..own
        }
    }
}

fn literal_size(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Literal(value) => Some(value.size().unwrap_or(1)),
        Expr::List(elements) => Some(elements.len() as u64),
        Expr::Map(entries) => Some(entries.len() as u64),
        _ => None,
    }
}

fn is_scalar(kind: &Type) -> bool {
    match kind {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        Type::Wrapper(wrapped) => is_scalar(wrapped),
        other => other.optional_value().is_some_and(is_scalar),
    }
}
