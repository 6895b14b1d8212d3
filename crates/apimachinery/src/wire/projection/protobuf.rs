//! Decoding of projections from protobuf.

use super::{Leaf, ProjectionFields, ProjectionPlan, Step};
use crate::wire::protobuf::{merge_delimited, set_varint};
use crate::wire::raw_field::{delimited, map_entry, raw_fields, tag};
use crate::wire::{
    DecodeContext, FieldType, JsonForm, Segment, Slot, WireError, WireErrorKind, skip_field, varint,
};

pub(super) fn project(
    fields: &mut dyn ProjectionFields,
    plan: &ProjectionPlan,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    walk(fields, plan, 0, bytes, cx)
}

/// Recurses at most as deep as the longest path.
fn walk(
    fields: &mut dyn ProjectionFields,
    plan: &ProjectionPlan,
    node: usize,
    mut bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    while !bytes.is_empty() {
        let (number, wire_type, rest) = tag(bytes).map_err(|kind| cx.fail(kind))?;
        let Some((name, step)) = plan.by_number(node, number) else {
            bytes = skip_field(number, wire_type, rest).map_err(|kind| cx.fail(kind))?;
            continue;
        };
        cx.path.extend(name.map(Segment::Field));
        bytes = match step {
            Step::Take(leaf) => take(fields, leaf, (number, wire_type), rest, cx)?,
            _ if wire_type != 2 => {
                let found = wire_type;
                return Err(cx.fail(WireErrorKind::WireType { number, found }));
            }
            Step::Enter { node, .. } => {
                let (inner, rest) = delimited(rest).map_err(|kind| cx.fail(kind))?;
                if plan.is_json(node) {
                    for part in raw_fields(inner) {
                        let part = part.map_err(|kind| cx.fail(kind))?;
                        if part.number == 1 {
                            super::json::project(fields, plan, node, part.bytes, cx)?;
                        }
                    }
                } else {
                    walk(fields, plan, node, inner, cx)?;
                }
                rest
            }
            Step::Keys(keys) => {
                let (inner, rest) = delimited(rest).map_err(|kind| cx.fail(kind))?;
                let (key, value) = map_entry(inner).map_err(|kind| cx.fail(kind))?;
                let leaf = std::str::from_utf8(key)
                    .ok()
                    .and_then(|key| plan.key(keys, key));
                if let Some(slot) = leaf.and_then(|leaf| fields.slot(leaf.slot)) {
                    merge_delimited(slot, number, value, &[], cx)?;
                }
                rest
            }
        };
        if name.is_some() {
            cx.path.pop();
        }
    }
    Ok(())
}

impl Leaf {
    /// Reports whether it is a single value, not a list or a map.
    pub(in crate::wire) fn is_one(&self) -> bool {
        matches!(
            self.ty,
            FieldType::Bool
                | FieldType::I32
                | FieldType::I64
                | FieldType::F64
                | FieldType::Str
                | FieldType::Bytes
                | FieldType::Message(_)
        )
    }

    /// Reports whether to skip a zero value, which would otherwise count as present.
    pub(in crate::wire) fn leaves_out_zero(&self, slot: &Slot<'_>) -> bool {
        let scalar = match self.ty {
            FieldType::Message(schema) => schema.form == JsonForm::Scalar,
            _ => self.is_one(),
        };
        let optional = matches!(
            slot,
            Slot::OptBool(_)
                | Slot::OptI32(_)
                | Slot::OptI64(_)
                | Slot::OptF64(_)
                | Slot::OptStr(_)
                | Slot::OptBytes(_)
                | Slot::OptMessage(_)
        );
        self.zero_is_absent && scalar && (optional || self.listed)
    }
}

fn take<'b>(
    fields: &mut dyn ProjectionFields,
    leaf: Leaf,
    (number, wire_type): (u32, u8),
    bytes: &'b [u8],
    cx: &mut DecodeContext,
) -> Result<&'b [u8], WireError> {
    let Some(slot) = fields.slot(leaf.slot) else {
        return skip_field(number, wire_type, bytes).map_err(|kind| cx.fail(kind));
    };
    let leaves_out_zero = leaf.leaves_out_zero(&slot);
    match wire_type {
        2 => {
            let (inner, rest) = delimited(bytes).map_err(|kind| cx.fail(kind))?;
            if !(leaves_out_zero && inner.is_empty()) {
                let following = if leaf.listed { &[] } else { rest };
                merge_delimited(slot, number, inner, following, cx)?;
            }
            Ok(rest)
        }
        0 => {
            let (value, rest) = varint(bytes).map_err(|kind| cx.fail(kind))?;
            if !(leaves_out_zero && value == 0) {
                set_varint(slot, number, value, cx)?;
            }
            Ok(rest)
        }
        1 => {
            let (value, rest) = bytes
                .split_first_chunk::<8>()
                .ok_or_else(|| cx.fail(WireErrorKind::Truncated))?;
            let value = f64::from_le_bytes(*value);
            match slot {
                Slot::F64(place) => *place = value,
                Slot::OptF64(place) if leaves_out_zero && value == 0.0 => *place = None,
                Slot::OptF64(place) => *place = Some(value),
                _ => return Err(cx.fail(WireErrorKind::WireType { number, found: 1 })),
            }
            Ok(rest)
        }
        found => Err(cx.fail(WireErrorKind::WireType { number, found })),
    }
}
