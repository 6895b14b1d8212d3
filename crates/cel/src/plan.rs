//! The plan of an expression: what is evaluated, with names, fields and overloads resolved.
//!
//! The nodes mirror upstream's evaluation step by step, because steps have costs.

pub(crate) mod constants;
pub(crate) mod planner;

use crate::cel_type::Name;
use crate::function::{Function, Implementation, RegexImplementation};
use crate::value::{Key, Value};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is evaluated.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Value<'static>),
    /// A variable.
    Slot(u32),
    /// An accumulator, whose value moves out because its step replaces it.
    Take(u32),
    Attribute(Box<Attribute>),
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    Equal(Box<[Self; 2]>),
    NotEqual(Box<[Self; 2]>),
    NotStrictlyFalse(Box<Self>),
    /// `or` and `orValue` of optional values.
    OptionalOr(Box<[Self; 2]>, bool),
    Call(Box<CallNode>),
    /// Membership in constants.
    Member(Box<(Self, BTreeSet<Key<'static>>)>),
    List(Box<[(Self, bool)]>),
    Map(Box<[MapEntry]>),
    Message(Box<MessageNode>),
    Fold(Box<FoldNode>),
    /// A variable that is evaluated when it is used.
    Bind(Box<BindNode>),
}

/// An entry of a map.
#[derive(Debug)]
pub(crate) struct MapEntry {
    pub(crate) key: Node,
    pub(crate) value: Node,
    pub(crate) is_optional: bool,
}

/// A message that is created.
#[derive(Debug)]
pub(crate) struct MessageNode {
    pub(crate) name: Name,
    /// Names and values; a field is left out if its optional value is none.
    pub(crate) fields: Box<[(Name, Node, bool)]>,
}

/// A value and the fields, keys and indexes that lead into it.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) base: Base,
    pub(crate) qualifiers: Vec<Qualifier>,
    /// Reports whether only the presence of the last is asked for.
    pub(crate) is_presence: bool,
}

/// Where an attribute begins.
#[derive(Debug)]
pub(crate) enum Base {
    Slot(u32),
    Take(u32),
    Node(Node),
    /// One of two attributes. It has no cost of its own, nor have they.
    Conditional(Box<Conditional>),
}

/// A condition with its branches.
#[derive(Debug)]
pub(crate) struct Conditional {
    pub(crate) condition: Node,
    pub(crate) truthy: Attribute,
    pub(crate) falsy: Attribute,
}

/// A step into a value.
#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) key: QualifierKey,
    /// Reports whether a value that is absent is none instead of an error.
    pub(crate) is_optional: bool,
}

/// What a step follows.
#[derive(Debug)]
pub(crate) enum QualifierKey {
    Field(Name),
    Constant(Value<'static>),
    Attribute(Attribute),
    Node(Node),
}

/// A call.
#[derive(Debug)]
pub(crate) struct CallNode {
    pub(crate) function: Arc<Function>,
    pub(crate) overload: Option<&'static str>,
    pub(crate) callee: Callee,
    pub(crate) arguments: Box<[Node]>,
    /// Reports whether arguments behind one that failed are not evaluated.
    pub(crate) stops_early: bool,
    /// Reports whether the cost is one, whatever the arguments are.
    pub(crate) is_cheap: bool,
}

/// What a call calls.
#[derive(Debug)]
pub(crate) enum Callee {
    /// The implementation of all overloads.
    Singleton(Implementation),
    /// The overload with this index, if the arguments fit: types that went through `dyn` may not be
    /// those of the values.
    Overload(usize),
    /// The first overload that fits the arguments.
    Dispatch,
    /// With a regular expression that was compiled.
    Regex(Box<Regex>, RegexImplementation),
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct FoldNode {
    pub(crate) range: Node,
    /// The slots of the accumulator, the variable and the second variable are in this order.
    pub(crate) slot: u32,
    pub(crate) has_second: bool,
    pub(crate) initial: Node,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}

/// A bound variable.
#[derive(Debug)]
pub(crate) struct BindNode {
    pub(crate) slot: u32,
    pub(crate) initial: Node,
    pub(crate) result: Node,
}

/// A planned expression.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Node,
    /// The variables of the first slots.
    pub(crate) variables: Vec<Name>,
    /// The number of slots.
    pub(crate) slots: u32,
}
