//! `Node`: the type of a value, and `Nodes`: all types of a version, each once.
//!
//! Equal types are one node, so that equal structs are found by comparing numbers.

use std::collections::BTreeMap;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Scalar(Scalar),
    List(NodeId),
    Map(NodeId),
    /// A value that may be null.
    Nullable(NodeId),
    Struct(Struct),
    /// A string with listed values.
    Enum(Vec<String>),
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scalar {
    Bool,
    I32,
    I64,
    F64,
    String,
    Time,
    Bytes,
    IntOrString,
    AnyQuantity,
    /// An object with any fields.
    Object,
    /// Any JSON value.
    Value,
}

/// An object with listed fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// Whether servers keep fields that are not listed.
    pub(crate) is_open: bool,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Field {
    /// The name in JSON.
    pub(crate) json: String,
    pub(crate) node: NodeId,
    pub(crate) is_required: bool,
    pub(crate) docs: String,
    /// The default that servers fill in, as JSON.
    pub(crate) default: Option<String>,
}

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(usize);

/// The types of a version.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    ids: BTreeMap<Node, NodeId>,
    nodes: Vec<Node>,
}

impl Nodes {
    /// Returns the number of the node, which is that of an equal one, if there is one.
    pub(crate) fn intern(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let id = NodeId(self.nodes.len());
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    /// Returns the node of a number that [`Self::intern`] returned.
    pub(crate) fn get(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0).unwrap_or(&Node::Scalar(Scalar::Value))
    }

    /// Returns the struct or enum that the type consists of, below lists, maps and nulls.
    pub(crate) fn named_part(&self, id: NodeId) -> Option<NodeId> {
        match self.get(id) {
            Node::Scalar(_) => None,
            Node::List(part) | Node::Map(part) | Node::Nullable(part) => self.named_part(*part),
            Node::Struct(_) | Node::Enum(_) => Some(id),
        }
    }

    /// Returns the number of types.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}
