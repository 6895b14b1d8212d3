//! `ProjectionPlan`: the paths of a projection as one tree, for a single pass.

use crate::wire::serde_field::is_serde_field;
use crate::wire::{FieldFlags, FieldType, JsonForm, Schema, WireError, WireErrorKind};

/// The paths of a projection, resolved against the schema of its kind.
#[derive(Debug)]
pub struct ProjectionPlan {
    nodes: Vec<Node>,
    keys: Vec<Vec<(&'static str, Leaf)>>,
}

/// A path that is not valid in a projection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is no field of {kind} that can be projected, or stands inside another path")]
pub struct PathError {
    /// The path.
    pub path: &'static str,
    /// The kind.
    pub kind: &'static str,
}

impl PathError {
    pub(super) fn to_wire(&self) -> WireError {
        let reason = self.to_string();
        WireErrorKind::Invalid { reason }.into()
    }
}

/// A message on a path.
#[derive(Debug)]
struct Node {
    owner: &'static str,
    /// Whether it is within the JSON of a `SerdeField`.
    is_json: bool,
    names: Vec<(&'static str, Step)>,
    /// The name is none for a group, which JSON does not have.
    numbers: Vec<(u32, Option<&'static str>, Step)>,
}

/// What to do with a field on a path.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) enum Step {
    /// Enter the message, or each message of a list.
    Enter { node: usize, list: bool },
    /// Decode the value.
    Take(Leaf),
    /// Decode the values of some keys.
    Keys(usize),
}

/// A value to decode.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct Leaf {
    /// The index of the field in the projection.
    pub(in crate::wire) slot: usize,
    pub(in crate::wire) ty: FieldType,
    /// Whether it is in list items, whose values are appended.
    pub(in crate::wire) listed: bool,
    /// Whether Go cannot distinguish its zero value from an absent one.
    pub(in crate::wire) zero_is_absent: bool,
}

impl ProjectionPlan {
    /// Resolves the paths with the types that their fields take; the index of a path is that of its
    /// field in the projection.
    ///
    /// # Errors
    /// A path does not lead to a field, or two paths overlap.
    pub fn new(
        schema: &'static Schema,
        paths: &[(&'static str, FieldType)],
    ) -> Result<Self, PathError> {
        let mut plan = Self {
            nodes: Vec::new(),
            keys: Vec::new(),
        };
        plan.node(schema.name, false);
        for (slot, &(path, takes)) in paths.iter().enumerate() {
            plan.add(schema, path, slot, takes).ok_or(PathError {
                path,
                kind: schema.name,
            })?;
        }
        Ok(plan)
    }

    /// Returns the name of a node's message, for errors.
    pub(in crate::wire) fn owner(&self, node: usize) -> &'static str {
        self.nodes[node].owner
    }

    pub(in crate::wire) fn by_name(&self, node: usize, name: &str) -> Option<(&'static str, Step)> {
        let names = &self.nodes[node].names;
        names.iter().find(|it| it.0 == name).copied()
    }

    pub(in crate::wire) fn by_number(
        &self,
        node: usize,
        number: u32,
    ) -> Option<(Option<&'static str>, Step)> {
        let numbers = &self.nodes[node].numbers;
        let found = numbers.iter().find(|it| it.0 == number);
        found.map(|&(_, name, step)| (name, step))
    }

    pub(in crate::wire) fn key(&self, keys: usize, key: &str) -> Option<Leaf> {
        let found = self.keys[keys].iter().find(|it| it.0 == key);
        found.map(|&(_, leaf)| leaf)
    }

    /// Reports whether a node is within the JSON of a `SerdeField`.
    pub(in crate::wire) fn is_json(&self, node: usize) -> bool {
        self.nodes[node].is_json
    }

    fn node(&mut self, owner: &'static str, is_json: bool) -> usize {
        self.nodes.push(Node {
            owner,
            is_json,
            names: Vec::new(),
            numbers: Vec::new(),
        });
        self.nodes.len() - 1
    }

    fn add(
        &mut self,
        mut schema: &'static Schema,
        path: &'static str,
        slot: usize,
        takes: FieldType,
    ) -> Option<()> {
        let (mut node, mut rest, mut listed) = (0, path, false);
        loop {
            if schema.form != JsonForm::Object {
                return None;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let index = schema.index_by_name(&rest[..end], 0)?;
            let (items, after) = match rest[end..].strip_prefix("[]") {
                Some(after) => (true, after),
                None => (false, &rest[end..]),
            };
            let field = &schema.fields[index];
            let at = Place {
                node,
                schema,
                index,
            };
            let leaf = |ty, keyed: bool| Leaf {
                slot,
                ty,
                listed,
                zero_is_absent: !keyed && !field.flags.has(FieldFlags::POINTER),
            };
            if after.is_empty() {
                return self.take(&at, leaf(field.ty, false));
            }
            rest = after.strip_prefix('.')?;
            let (inner, list) = match (field.ty, items) {
                (FieldType::Message(inner), false) => (inner, false),
                (FieldType::MessageList(inner), true) => (inner, true),
                (FieldType::StrMap, false) => {
                    return self.take_key(&at, rest, leaf(FieldType::Str, true));
                }
                (FieldType::BytesMap, false) => {
                    return self.take_key(&at, rest, leaf(FieldType::Bytes, true));
                }
                (FieldType::MessageMap(inner), false) => {
                    return self.take_key(&at, rest, leaf(FieldType::Message(inner), true));
                }
                _ => return None,
            };
            node = match self.step(&at) {
                Some(Step::Enter { node, .. }) => node,
                Some(_) => return None,
                None => {
                    let node = self.node(inner.name, is_serde_field(inner));
                    self.put(&at, Step::Enter { node, list })?;
                    node
                }
            };
            if is_serde_field(inner) {
                return self.add_json(node, rest, slot, takes);
            }
            schema = inner;
            listed |= list;
        }
    }

    /// Adds the rest of a path, below a `SerdeField`.
    fn add_json(
        &mut self,
        mut node: usize,
        mut rest: &'static str,
        slot: usize,
        takes: FieldType,
    ) -> Option<()> {
        let mut listed = false;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let inner = after.strip_prefix("[]");
            let (list, after) = (inner.is_some(), inner.unwrap_or(after));
            let found = self.by_name(node, name).map(|(_, step)| step);
            if name.is_empty() {
                return None;
            }
            if after.is_empty() {
                let leaf = Leaf {
                    slot,
                    ty: if listed { item_of(takes)? } else { takes },
                    listed,
                    zero_is_absent: false,
                };
                let names = &mut self.nodes[node].names;
                return found
                    .is_none()
                    .then(|| names.push((name, Step::Take(leaf))));
            }
            rest = after.strip_prefix('.')?;
            node = match found {
                Some(Step::Enter { node, list: before }) if before == list => node,
                Some(_) => return None,
                None => {
                    let inner = self.node("object", true);
                    let step = Step::Enter { node: inner, list };
                    self.nodes[node].names.push((name, step));
                    inner
                }
            };
            listed |= list;
        }
    }

    fn step(&self, at: &Place) -> Option<Step> {
        self.by_name(at.node, at.name()).map(|(_, step)| step)
    }

    fn take(&mut self, at: &Place, leaf: Leaf) -> Option<()> {
        match self.step(at) {
            Some(_) => None,
            None => self.put(at, Step::Take(leaf)),
        }
    }

    fn take_key(&mut self, at: &Place, key: &'static str, leaf: Leaf) -> Option<()> {
        match self.step(at) {
            Some(Step::Keys(keys)) if self.key(keys, key).is_none() => {
                self.keys[keys].push((key, leaf));
                Some(())
            }
            Some(_) => None,
            None => {
                self.keys.push(vec![(key, leaf)]);
                self.put(at, Step::Keys(self.keys.len() - 1))
            }
        }
    }

    /// Adds a step under the field's name, and under its number in its groups.
    fn put(&mut self, at: &Place, step: Step) -> Option<()> {
        let field = &at.schema.fields[at.index];
        self.nodes[at.node].names.push((field.json, step));
        let mut node = at.node;
        for group in at.schema.groups_of(at.index)? {
            node = match self.by_number(node, group) {
                Some((None, Step::Enter { node, .. })) => node,
                Some(_) => return None,
                None => {
                    let inner = self.node(at.schema.name, false);
                    let enter = Step::Enter {
                        node: inner,
                        list: false,
                    };
                    self.nodes[node].numbers.push((group, None, enter));
                    inner
                }
            };
        }
        let numbers = &mut self.nodes[node].numbers;
        numbers.push((field.number, Some(field.json), step));
        Some(())
    }
}

/// Returns the type of the items of a list.
fn item_of(list: FieldType) -> Option<FieldType> {
    Some(match list {
        FieldType::BoolList => FieldType::Bool,
        FieldType::I32List => FieldType::I32,
        FieldType::I64List => FieldType::I64,
        FieldType::StrList => FieldType::Str,
        FieldType::BytesList => FieldType::Bytes,
        FieldType::MessageList(schema) => FieldType::Message(schema),
        _ => return None,
    })
}

/// A field of a node's message.
struct Place {
    node: usize,
    schema: &'static Schema,
    index: usize,
}

impl Place {
    fn name(&self) -> &'static str {
        self.schema.fields[self.index].json
    }
}
