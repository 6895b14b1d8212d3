//! [`Ast`]: a syntax tree, with macros expanded. Nodes are in one vector and refer to each other by
//! index; each knows the place in the text that issues name.

use crate::cel_type::Name;
use crate::value::Value;

/// The index of a node.
pub(crate) type Id = u32;

/// The deepest tree, in nodes. Checker, planner and evaluation recurse as deep.
pub(crate) const MAX_DEPTH: u16 = 450;

/// A syntax tree.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    nodes: Vec<Expr>,
    places: Vec<Place>,
    /// The root, which is the last node of a complete tree.
    pub(crate) root: Id,
}

/// Where a node is, and how deep the tree below it is.
#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u32,
    depth: u16,
    /// The operators of the text on the deepest path.
    operators: u16,
}

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    /// What a syntax error left.
    Error,
    Literal(Value<'static>),
    Ident(Name),
    Select(Select),
    Call(Call),
    List(Vec<Element>),
    Map(Vec<Entry>),
    Message(Name, Vec<(Name, Element)>),
    Fold(Box<Fold>),
}

/// `operand.field`, or `has(operand.field)`.
#[derive(Debug, Clone)]
pub(crate) struct Select {
    pub(crate) operand: Id,
    pub(crate) field: Name,
    pub(crate) is_presence: bool,
}

/// `function(arguments)` or `target.function(arguments)`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: Name,
    pub(crate) target: Option<Id>,
    pub(crate) arguments: Vec<Id>,
}

/// An element that is left out if its optional value is none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    pub(crate) value: Id,
    pub(crate) is_optional: bool,
}

/// An entry of a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key: Id,
    pub(crate) value: Id,
    pub(crate) is_optional: bool,
}

/// A comprehension.
#[derive(Debug, Clone)]
pub(crate) struct Fold {
    pub(crate) range: Id,
    pub(crate) variable: Name,
    /// The second variable: the value beside the index or key.
    pub(crate) second: Option<Name>,
    pub(crate) accumulator: Name,
    pub(crate) initial: Id,
    pub(crate) condition: Id,
    pub(crate) step: Id,
    pub(crate) result: Id,
}

/// The accumulator of macros, which no identifier of an expression can name.
pub(crate) const ACCUMULATOR: &str = "@result";

impl Ast {
    /// Adds a node.
    pub(crate) fn add(&mut self, offset: u32, expr: Expr) -> Id {
        let (mut depth, mut operators) = (0, 0);
        expr.children(&mut |child| {
            let place = self.places.get(child as usize);
            depth = depth.max(place.map_or(0, |it| it.depth));
            operators = operators.max(place.map_or(0, |it| it.operators));
        });
        self.nodes.push(expr);
        self.places.push(Place {
            offset,
            depth: depth + 1,
            operators,
        });
        u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds a node of an operator in the text; its depth is limited separately.
    pub(crate) fn add_operator(&mut self, offset: u32, expr: Expr) -> Id {
        let id = self.add(offset, expr);
        if let Some(place) = self.places.get_mut(id as usize) {
            place.operators += 1;
        }
        id
    }

    /// Returns a node.
    pub(crate) fn get(&self, id: Id) -> &Expr {
        self.nodes.get(id as usize).unwrap_or(&Expr::Error)
    }

    /// Returns the offset of a node, in characters.
    pub(crate) fn offset(&self, id: Id) -> u32 {
        self.places.get(id as usize).map_or(0, |it| it.offset)
    }

    /// Returns the depth of the tree below a node, and of operators in it.
    pub(crate) fn depth(&self, id: Id) -> (u16, u16) {
        self.places
            .get(id as usize)
            .map_or((0, 0), |it| (it.depth, it.operators))
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Copies a tree, so that a macro can use it twice.
    pub(crate) fn copy(&mut self, id: Id) -> Id {
        let mut expr = self.get(id).clone();
        let mut children = Vec::new();
        expr.children(&mut |child| children.push(child));
        let mut copies = children
            .into_iter()
            .map(|child| self.copy(child))
            .collect::<Vec<_>>()
            .into_iter();
        expr.replace_children(&mut |old| copies.next().unwrap_or(old));
        self.add(self.offset(id), expr)
    }
}

impl Expr {
    /// Replaces each child.
    fn replace_children(&mut self, replace: &mut dyn FnMut(Id) -> Id) {
        match self {
            Self::Error | Self::Literal(_) | Self::Ident(_) => {}
            Self::Select(select) => select.operand = replace(select.operand),
            Self::Call(call) => {
                for id in call.target.iter_mut().chain(&mut call.arguments) {
                    *id = replace(*id);
                }
            }
            Self::List(elements) => elements
                .iter_mut()
                .for_each(|it| it.value = replace(it.value)),
            Self::Message(_, fields) => fields
                .iter_mut()
                .for_each(|it| it.1.value = replace(it.1.value)),
            Self::Map(entries) => {
                for entry in entries {
                    entry.key = replace(entry.key);
                    entry.value = replace(entry.value);
                }
            }
            Self::Fold(fold) => {
                let Fold {
                    range,
                    initial,
                    condition,
                    step,
                    result,
                    ..
                } = &mut **fold;
                for id in [range, initial, condition, step, result] {
                    *id = replace(*id);
                }
            }
        }
    }

    /// Visits the children, in the order of [`Expr::replace_children`].
    pub(crate) fn children(&self, visit: &mut dyn FnMut(Id)) {
        match self {
            Self::Error | Self::Literal(_) | Self::Ident(_) => {}
            Self::Select(select) => visit(select.operand),
            Self::Call(call) => call
                .target
                .iter()
                .chain(&call.arguments)
                .for_each(|id| visit(*id)),
            Self::List(elements) => elements.iter().for_each(|it| visit(it.value)),
            Self::Message(_, fields) => fields.iter().for_each(|it| visit(it.1.value)),
            Self::Map(entries) => entries
                .iter()
                .flat_map(|it| [it.key, it.value])
                .for_each(visit),
            Self::Fold(fold) => {
                for id in [
                    fold.range,
                    fold.initial,
                    fold.condition,
                    fold.step,
                    fold.result,
                ] {
                    visit(id);
                }
            }
        }
    }
}
