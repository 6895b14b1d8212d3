//! The planner: from a checked tree to a plan.

use super::constants;
use super::{
    Attribute, Base, BindNode, CallNode, Callee, Conditional, FoldNode, MapEntry, MessageNode,
    Node, Plan, Qualifier, QualifierKey,
};
use crate::cel_type::{Name, Type};
use crate::check::checker::{Checked, Reference};
use crate::function::Function;
use crate::syntax::ast::{Ast, Call, Element, Expr, Fold, Id, Select};
use crate::value::Value;
use std::sync::Arc;

/// Plans an expression. Fails if a constant in it has no value.
pub(crate) fn plan(ast: &Ast, checked: &Checked) -> Result<Plan, String> {
    let mut variables: Vec<Name> = Vec::new();
    for reference in checked.references.values() {
        if let Reference::Variable(name) = reference
            && !variables.contains(name)
        {
            variables.push(Arc::clone(name));
        }
    }
    let count = u32::try_from(variables.len()).unwrap_or(u32::MAX);
    let mut planner = Planner {
        ast,
        checked,
        variables: &variables,
        locals: Vec::new(),
        next: count,
        slots: count,
    };
    let root = planner.node(ast.root)?;
    let slots = planner.slots;
    Ok(Plan {
        root,
        variables,
        slots,
    })
}

/// A variable of a macro.
#[derive(Debug)]
struct Local {
    name: Name,
    slot: u32,
    /// Reports whether the value can move out.
    is_taken: bool,
}

struct Planner<'e> {
    ast: &'e Ast,
    checked: &'e Checked,
    variables: &'e [Name],
    locals: Vec<Local>,
    next: u32,
    slots: u32,
}

type Planned<T = Node> = Result<T, String>;

impl Planner<'_> {
    fn node(&mut self, id: Id) -> Planned {
        let ast = self.ast;
        match self.checked.references.get(&id) {
            Some(Reference::Type(kind)) => {
                return Ok(Node::Constant(Value::Type(Arc::new(kind.clone()))));
            }
            Some(Reference::Variable(name)) => return Ok(self.variable(&Arc::clone(name))),
            _ => {}
        }
        match ast.get(id) {
            Expr::Error => Err("unsupported expression".to_owned()),
            Expr::Message(_, fields) => self.message(id, fields),
            Expr::Literal(value) => Ok(Node::Constant(value.clone())),
            Expr::Ident(name) => Ok(self.variable(name)),
            Expr::Select(_) => Ok(Node::Attribute(Box::new(self.attribute(id)?))),
            Expr::List(elements) => {
                let nodes = elements
                    .iter()
                    .map(|it| Ok((self.node(it.value)?, it.is_optional)));
                Ok(constants::list(nodes.collect::<Planned<_>>()?))
            }
            Expr::Map(entries) => {
                let mut nodes = Vec::with_capacity(entries.len());
                for entry in entries {
                    let (key, value) = (self.node(entry.key)?, self.node(entry.value)?);
                    nodes.push(MapEntry {
                        key,
                        value,
                        is_optional: entry.is_optional,
                    });
                }
                Ok(constants::map(nodes))
            }
            Expr::Call(call) => self.call(id, call),
            Expr::Fold(fold) => self.fold(fold),
        }
    }

    fn message(&mut self, id: Id, fields: &[(Name, Element)]) -> Planned {
        let Some(Type::Object(object)) = self.checked.types.get(id as usize) else {
            return Err("unsupported expression".to_owned());
        };
        let name = Arc::clone(&object.name);
        let fields = fields.iter().map(|(name, element)| {
            let node = self.node(element.value)?;
            Ok((Arc::clone(name), node, element.is_optional))
        });
        Ok(Node::Message(Box::new(MessageNode {
            fields: fields.collect::<Planned<_>>()?,
            name,
        })))
    }

    fn variable(&self, name: &str) -> Node {
        if let Some(local) = self.locals.iter().rev().find(|it| &*it.name == name) {
            return if local.is_taken {
                Node::Take(local.slot)
            } else {
                Node::Slot(local.slot)
            };
        }
        let at = self
            .variables
            .iter()
            .position(|it| &**it == name)
            .unwrap_or_default();
        Node::Slot(u32::try_from(at).unwrap_or_default())
    }

    /// Plans what can be followed by fields and indexes without a cost of its own.
    fn attribute(&mut self, id: Id) -> Planned<Attribute> {
        if self
            .checked
            .references
            .get(&id)
            .is_none_or(|it| matches!(it, Reference::Function { .. }))
        {
            let ast = self.ast;
            match ast.get(id) {
                Expr::Select(select) => return self.select(select),
                Expr::Call(call) => match (&*call.function, &call.arguments[..]) {
                    ("_[_]", [operand, index]) => return self.index(*operand, *index, false),
                    ("_[?_]" | "_?._", [operand, index]) => {
                        return self.index(*operand, *index, true);
                    }
                    ("_?_:_", [condition, truthy, falsy]) => {
                        let condition = self.node(*condition)?;
                        let (truthy, falsy) = (self.attribute(*truthy)?, self.attribute(*falsy)?);
                        let base = Base::Conditional(Box::new(Conditional {
                            condition,
                            truthy,
                            falsy,
                        }));
                        return Ok(Attribute {
                            base,
                            qualifiers: Vec::new(),
                            is_presence: false,
                        });
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        let base = match self.node(id)? {
            Node::Slot(slot) => Base::Slot(slot),
            Node::Take(slot) => Base::Take(slot),
            Node::Attribute(attribute) => return Ok(*attribute),
            node => Base::Node(node),
        };
        Ok(Attribute {
            base,
            qualifiers: Vec::new(),
            is_presence: false,
        })
    }

    fn select(&mut self, select: &Select) -> Planned<Attribute> {
        let mut attribute = self.extensible(select.operand)?;
        attribute.qualifiers.reserve_exact(1);
        attribute.qualifiers.push(Qualifier {
            key: QualifierKey::Field(Arc::clone(&select.field)),
            is_optional: false,
        });
        attribute.is_presence = select.is_presence;
        Ok(attribute)
    }

    /// Plans an attribute to which a step can be added.
    fn extensible(&mut self, id: Id) -> Planned<Attribute> {
        let attribute = self.attribute(id)?;
        if attribute.is_presence {
            let base = Base::Node(Node::Attribute(Box::new(attribute)));
            return Ok(Attribute {
                base,
                qualifiers: Vec::new(),
                is_presence: false,
            });
        }
        Ok(attribute)
    }

    fn index(&mut self, operand: Id, index: Id, is_optional: bool) -> Planned<Attribute> {
        let mut attribute = self.extensible(operand)?;
        let key = match self.attribute(index)? {
            Attribute {
                base: Base::Node(node),
                qualifiers,
                ..
            } if qualifiers.is_empty() => match node {
                Node::Constant(Value::String(text)) => QualifierKey::Field(text.as_str().into()),
                Node::Constant(
                    value @ (Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_)),
                ) => QualifierKey::Constant(value),
                Node::Constant(value) => {
                    return Err(format!(
                        "invalid qualifier type: {}",
                        crate::value::format::go_type(&value)
                    ));
                }
                node => QualifierKey::Node(node),
            },
            attribute => QualifierKey::Attribute(attribute),
        };
        attribute.qualifiers.reserve_exact(1);
        attribute.qualifiers.push(Qualifier { key, is_optional });
        Ok(attribute)
    }

    fn pair(&mut self, arguments: &[Id]) -> Planned<Box<[Node; 2]>> {
        match arguments {
            [a, b] => Ok(Box::new([self.node(*a)?, self.node(*b)?])),
            _ => Err("unsupported expression".to_owned()),
        }
    }

    fn call(&mut self, id: Id, call: &Call) -> Planned {
        let mut operands = Vec::new();
        let Some(Reference::Function {
            function,
            overloads,
            is_namespaced,
        }) = self.checked.references.get(&id)
        else {
            return Err(format!("no such overload: {}", call.function));
        };
        operands.extend(call.target.filter(|_| !is_namespaced));
        operands.extend(&call.arguments);
        Ok(match function.name {
            "_&&_" => Node::And(self.pair(&operands)?),
            "_||_" => Node::Or(self.pair(&operands)?),
            "_==_" => Node::Equal(self.pair(&operands)?),
            "_!=_" => Node::NotEqual(self.pair(&operands)?),
            "_?_:_" | "_[_]" | "_[?_]" | "_?._" => Node::Attribute(Box::new(self.attribute(id)?)),
            "@not_strictly_false" => Node::NotStrictlyFalse(Box::new(self.node(operands[0])?)),
            "or" if operands.len() == 2 => Node::OptionalOr(self.pair(&operands)?, false),
            "orValue" if operands.len() == 2 => Node::OptionalOr(self.pair(&operands)?, true),
            _ => return self.plain(&Arc::clone(function), overloads, &operands),
        })
    }

    fn plain(&mut self, function: &Arc<Function>, overloads: &[usize], operands: &[Id]) -> Planned {
        let mut arguments = operands
            .iter()
            .map(|it| self.node(*it))
            .collect::<Planned<Vec<_>>>()?;
        let only = match overloads {
            [only] => Some(*only),
            _ => None,
        };
        let overload = only.and_then(|it| function.overloads.get(it));
        if let [Node::Constant(value)] = &arguments[..]
            && let Some(converted) = constants::conversion(function, value)
        {
            return converted;
        }
        if overload.is_some_and(|it| it.id == "in_list")
            && let [_, Node::Constant(Value::List(list))] = &arguments[..]
        {
            let list = list.clone();
            match constants::membership(arguments.remove(0), &list) {
                Ok(node) => return Ok(node),
                Err(value) => arguments.insert(0, value),
            }
        }
        let callee = Self::callee(function, only, operands, &arguments)?;
        let id = overload.map(|it| it.id);
        let is_cheap = function.runtime_cost.is_none()
            && id.is_none_or(|id| !crate::cost::runtime::HAS_COST.contains(&id));
        let stops_early =
            arguments.len() > 2 || matches!(callee, Callee::Dispatch | Callee::Regex(..));
        Ok(Node::Call(Box::new(CallNode {
            function: Arc::clone(function),
            overload: id,
            callee,
            arguments: arguments.into(),
            stops_early,
            is_cheap,
        })))
    }

    fn callee(
        function: &Arc<Function>,
        only: Option<usize>,
        operands: &[Id],
        arguments: &[Node],
    ) -> Planned<Callee> {
        let overload = match only {
            Some(only) => function.overloads.get(only),
            // Overloads of one function share the regular expression's place.
            None => function
                .overloads
                .iter()
                .find(|it| it.regex.is_some() && it.arguments.len() == operands.len()),
        };
        if let Some((at, implementation)) = overload.and_then(|it| it.regex)
            && let Some(Node::Constant(Value::String(pattern))) = arguments.get(at)
            && only.is_some()
        {
            let regex = crate::regex::compile(pattern.as_str()).map_err(|it| it.to_string())?;
            return Ok(Callee::Regex(Box::new(regex), implementation));
        }
        if let Some(singleton) = function.singleton {
            return Ok(Callee::Singleton(singleton));
        }
        let Some(only) = only else {
            return Ok(Callee::Dispatch);
        };
        Ok(Callee::Overload(only))
    }

    fn declare(&mut self, name: &Name) -> u32 {
        let slot = self.next;
        self.locals.push(Local {
            name: Arc::clone(name),
            slot,
            is_taken: false,
        });
        self.next += 1;
        self.slots = self.slots.max(self.next);
        slot
    }

    fn leave(&mut self, count: usize) {
        self.locals.truncate(count);
    }

    fn fold(&mut self, fold: &Fold) -> Planned {
        let is_bind = matches!(self.ast.get(fold.range), Expr::List(elements) if elements.is_empty())
            && matches!(
                self.ast.get(fold.condition),
                Expr::Literal(Value::Bool(false))
            );
        let (outer, next) = (self.locals.len(), self.next);
        let range = self.node(fold.range)?;
        let initial = self.node(fold.initial)?;
        let slot = self.declare(&fold.accumulator);
        let node = if is_bind {
            let result = self.node(fold.result)?;
            Node::Bind(Box::new(BindNode {
                slot,
                initial,
                result,
            }))
        } else {
            self.declare(&fold.variable);
            if let Some(second) = &fold.second {
                self.declare(second);
            }
            let condition = self.node(fold.condition)?;
            self.locals[outer].is_taken = true;
            let step = self.node(fold.step)?;
            self.leave(outer + 1);
            self.locals[outer].is_taken = false;
            let result = self.node(fold.result)?;
            let has_second = fold.second.is_some();
            Node::Fold(Box::new(FoldNode {
                range,
                slot,
                has_second,
                initial,
                condition,
                step,
                result,
            }))
        };
        self.leave(outer);
        self.next = next;
        Ok(node)
    }
}
