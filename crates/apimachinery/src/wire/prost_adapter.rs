//! `prost::Message` for every API type, on top of [`Wire`](super::Wire).
//!
//! For code that is generic over prost messages. It encodes through its own buffer, so use `Wire`
//! where possible.

use super::{DecodeContext, Message, ReverseWriter};
use bytes::Buf;
use prost::DecodeError;
use prost::encoding::{WireType, decode_varint};

/// Merges one field, whose tag has been read, from a prost buffer.
///
/// # Errors
/// The field is truncated, is a group, or does not fit the schema.
pub fn merge_prost_field(
    message: &mut dyn Message,
    tag: u32,
    wire_type: WireType,
    buf: &mut impl Buf,
) -> Result<(), DecodeError> {
    let length = match wire_type {
        WireType::Varint => None,
        WireType::SixtyFourBit => Some(8),
        WireType::ThirtyTwoBit => Some(4),
        WireType::LengthDelimited => Some(decode_varint(buf)?),
        WireType::StartGroup | WireType::EndGroup => return Err(invalid("groups are not used")),
    };
    let mut field = ReverseWriter::default();
    match length {
        None => field.prepend_varint(decode_varint(buf)?),
        Some(length) => {
            let length = usize::try_from(length).map_err(|_| invalid("too long"))?;
            if buf.remaining() < length {
                return Err(invalid("the buffer ends inside a field"));
            }
            field.prepend(&buf.copy_to_bytes(length));
            if wire_type == WireType::LengthDelimited {
                field.prepend_varint(length as u64);
            }
        }
    }
    field.prepend_tag(tag, wire_type as u8);
    super::merge_protobuf(message, &field.into_vec(), &mut DecodeContext::new())
        .map_err(|error| invalid(&error.to_string()))
}

#[expect(
    deprecated,
    reason = "prost has no other way for an implementer to say why"
)]
fn invalid(reason: &str) -> DecodeError {
    DecodeError::new(reason.to_owned())
}

/// Implements `prost::Message` for a type that is [`Wire`](crate::wire::Wire).
#[macro_export]
macro_rules! prost_message {
    ($type:ty) => {
        impl $crate::wire::prost::Message for $type {
            fn encode_raw(&self, buf: &mut impl $crate::wire::prost::bytes::BufMut) {
                buf.put_slice(&$crate::wire::to_protobuf(self));
            }
            fn merge_field(
                &mut self,
                tag: u32,
                wire_type: $crate::wire::prost::encoding::WireType,
                buf: &mut impl $crate::wire::prost::bytes::Buf,
                _: $crate::wire::prost::encoding::DecodeContext,
            ) -> Result<(), $crate::wire::prost::DecodeError> {
                $crate::wire::merge_prost_field(self, tag, wire_type, buf)
            }
            fn encoded_len(&self) -> usize {
                $crate::wire::to_protobuf(self).len()
            }
            fn clear(&mut self) {
                *self = Self::default();
            }
        }
    };
}
