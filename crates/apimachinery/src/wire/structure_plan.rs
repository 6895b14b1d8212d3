//! `StructurePlan`: the structure of a kind in compact form, for the structure check.
//!
//! Schemas have names, merge strategies and more, so walking them for each field of each object
//! costs cache misses. A plan has two bytes for each field number. It only accepts or refuses; the
//! schema is walked again to locate the error, which happens only for malformed objects.

use super::raw_field::{delimited, map_entry, tag};
use super::{Entry, FieldType, JsonForm, Schema, varint};

/// An unknown field number; any value is valid.
const SKIP: u16 = 0;
const VARINT: u16 = 1;
const FIXED64: u16 = 2;
const BYTES: u16 = 3;
const PAIR: u16 = 4;
const NUMBERS: u16 = 5;
/// This and higher kinds: a message, or (odd) a map entry with a message, of node `(kind - NODES) /
/// 2`.
const NODES: u16 = 6;

/// The highest field number that is checked; no API type has a higher one.
const NUMBER_MAX: u32 = 512;

/// The compiled structure of one kind and of all messages in it.
#[derive(Debug)]
pub(super) struct StructurePlan {
    schema: &'static Schema,
    /// The range of each node's kinds.
    nodes: Vec<(u32, u32)>,
    /// Kinds by field number, node after node.
    kinds: Vec<u16>,
    /// The schemas that already have a node.
    known: Vec<(&'static Schema, u16)>,
}

impl StructurePlan {
    pub(super) fn new(schema: &'static Schema) -> Self {
        let mut plan = Self {
            schema,
            nodes: Vec::new(),
            kinds: Vec::new(),
            known: Vec::new(),
        };
        plan.node(schema);
        plan.known = Vec::new();
        plan
    }

    pub(super) fn is_for(&self, schema: &'static Schema) -> bool {
        std::ptr::eq(self.schema, schema)
    }

    fn node(&mut self, schema: &'static Schema) -> Option<u16> {
        if let Some((_, node)) = self.known.iter().find(|(it, _)| std::ptr::eq(*it, schema)) {
            return Some(*node);
        }
        let node = self.reserve()?;
        self.known.push((schema, node));
        let order = if schema.form == JsonForm::Scalar {
            &[]
        } else {
            schema.order
        };
        self.fill(node, schema, order);
        Some(node)
    }

    fn reserve(&mut self) -> Option<u16> {
        let node = u16::try_from(self.nodes.len())
            .ok()
            .filter(|it| *it < u16::MAX / 2 - NODES)?;
        self.nodes.push((0, 0));
        Some(node)
    }

    fn fill(&mut self, node: u16, schema: &'static Schema, order: &'static [Entry]) {
        let mut kinds: Vec<u16> = Vec::new();
        for &entry in order {
            let (number, kind) = match entry {
                Entry::Field(index) => {
                    let field = &schema.fields[usize::from(index)];
                    (field.number, self.kind(field.ty))
                }
                Entry::Group { number, entries } => {
                    let group = self.reserve();
                    if let Some(group) = group {
                        self.fill(group, schema, entries);
                    }
                    (number, group.map_or(BYTES, |group| NODES + 2 * group))
                }
            };
            if number <= NUMBER_MAX {
                let number = number as usize;
                kinds.resize(kinds.len().max(number + 1), SKIP);
                kinds[number] = kind;
            }
        }
        let small = |it| u32::try_from(it).unwrap_or(u32::MAX);
        self.nodes[usize::from(node)] = (small(self.kinds.len()), small(kinds.len()));
        self.kinds.append(&mut kinds);
    }

    fn kind(&mut self, ty: FieldType) -> u16 {
        match ty {
            FieldType::Bool | FieldType::I32 | FieldType::I64 => VARINT,
            FieldType::F64 => FIXED64,
            FieldType::Str | FieldType::StrList | FieldType::Bytes | FieldType::BytesList => BYTES,
            FieldType::StrMap | FieldType::BytesMap => PAIR,
            FieldType::BoolList | FieldType::I32List | FieldType::I64List => NUMBERS,
            FieldType::Message(schema) | FieldType::MessageList(schema) => {
                self.node(schema).map_or(BYTES, |node| NODES + 2 * node)
            }
            FieldType::MessageMap(schema) => {
                self.node(schema).map_or(BYTES, |node| NODES + 2 * node + 1)
            }
        }
    }

    /// Reports whether the bytes have the structure of the kind.
    pub(super) fn holds(&self, bytes: &[u8], depth_max: usize) -> bool {
        self.node_holds(0, bytes, depth_max)
    }

    fn node_holds(&self, node: u16, mut rest: &[u8], depth_max: usize) -> bool {
        let Some(depth_max) = depth_max.checked_sub(1) else {
            return false;
        };
        let (start, length) = self.nodes[usize::from(node)];
        let kinds = &self.kinds[start as usize..][..length as usize];
        while let Some((&first, after)) = rest.split_first() {
            let (number, wire_type, after) = if (8..0x80).contains(&first) {
                (usize::from(first >> 3), first & 7, after)
            } else {
                match tag(rest) {
                    Ok((number, wire_type, after)) => (number as usize, wire_type, after),
                    Err(_) => return false,
                }
            };
            let kind = kinds.get(number).copied().unwrap_or(SKIP);
            rest = match wire_type {
                2 => match delimited(after) {
                    Ok((inner, next)) if self.contents_hold(kind, inner, depth_max) => next,
                    _ => return false,
                },
                0 => match varint(after) {
                    Ok((_, next)) if matches!(kind, SKIP | VARINT | NUMBERS) => next,
                    _ => return false,
                },
                1 if matches!(kind, SKIP | FIXED64) && after.len() >= 8 => &after[8..],
                5 if kind == SKIP && after.len() >= 4 => &after[4..],
                _ => return false,
            };
        }
        true
    }

    fn contents_hold(&self, kind: u16, inner: &[u8], depth_max: usize) -> bool {
        match kind {
            SKIP | BYTES => true,
            VARINT | FIXED64 => false,
            PAIR => map_entry(inner).is_ok(),
            NUMBERS => {
                let mut rest = inner;
                while !rest.is_empty() {
                    let Ok((_, next)) = varint(rest) else {
                        return false;
                    };
                    rest = next;
                }
                true
            }
            message => {
                let node = (message - NODES) / 2;
                let is_entry = (message - NODES) % 2 == 1;
                let inner = if is_entry {
                    let Ok((_, value)) = map_entry(inner) else {
                        return false;
                    };
                    value
                } else {
                    inner
                };
                self.node_holds(node, inner, depth_max)
            }
        }
    }
}
