//! Protobuf lists: `k8s\0`, the envelope, and in it `metadata = 1` and `items = 2`.

use super::{ListFacts, ListLimits, ListStreamError, decode_metadata, place, refuse_other_kinds};
use crate::envelope::{self, EnvelopeError};
use crate::input::Input;
use crate::protobuf_fields::{FieldStep, Fields, Flaw};
use bytes::Bytes;
use kubist_apimachinery::wire::{Encoding, WireErrorKind};

#[derive(Debug)]
pub(super) struct ProtobufList {
    /// The number of magic bytes read so far.
    magic: usize,
    envelope: Fields,
    /// The number of the envelope field that is being kept.
    envelope_field: u32,
    /// The reader of the list in the envelope, while it is active.
    list: Option<Fields>,
    list_field: u32,
    seen: bool,
    limits: ListLimits,
}

impl ProtobufList {
    pub(super) fn new(limits: ListLimits) -> Self {
        Self {
            magic: 0,
            envelope: Fields::new(None),
            envelope_field: 0,
            list: None,
            list_field: 0,
            seen: false,
            limits,
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.seen && self.list.is_none() && self.envelope.may_end()
    }

    /// Returns the next item; none when the input is consumed.
    pub(super) fn step(
        &mut self,
        input: &mut Input,
        facts: &mut ListFacts,
    ) -> Result<Option<Bytes>, ListStreamError> {
        while let Some(&expected) = envelope::MAGIC.get(self.magic) {
            let Some(byte) = input.peek() else {
                return Ok(None);
            };
            if byte != expected {
                return Err(ListStreamError::NoMagic);
            }
            self.magic += 1;
            input.advance(1);
        }
        loop {
            if let Some(list) = &mut self.list {
                match list.step(input).map_err(|flaw| error(flaw, input, facts))? {
                    FieldStep::More => return Ok(None),
                    FieldStep::End => {
                        self.list = None;
                        self.envelope.entered();
                    }
                    FieldStep::Field { number, .. } => {
                        self.list_field = number;
                        match number {
                            1 => list.keep(self.limits.meta_bytes_max),
                            2 => list.keep(self.limits.item_bytes_max),
                            _ => {
                                list.skip();
                                Ok(())
                            }
                        }
                        .map_err(|flaw| error(flaw, input, facts))?;
                    }
                    FieldStep::Value(item) if self.list_field == 2 => return Ok(Some(item)),
                    FieldStep::Value(metadata) => {
                        facts.metadata = decode_metadata(&metadata, Encoding::Protobuf)?;
                    }
                }
                continue;
            }
            match self
                .envelope
                .step(input)
                .map_err(|flaw| error(flaw, input, facts))?
            {
                FieldStep::More | FieldStep::End => return Ok(None),
                FieldStep::Field { number, length } => self.begin(number, length, input, facts)?,
                FieldStep::Value(value) => self.envelope_value(&value, input, facts)?,
            }
        }
    }

    fn begin(
        &mut self,
        number: u32,
        length: u64,
        input: &Input,
        facts: &ListFacts,
    ) -> Result<(), ListStreamError> {
        self.envelope_field = number;
        match number {
            1 | 3 | 4 => self
                .envelope
                .keep(self.limits.meta_bytes_max)
                .map_err(|flaw| error(flaw, input, facts)),
            2 => {
                self.seen = true;
                self.list = Some(Fields::new(Some(length)));
                Ok(())
            }
            _ => {
                self.envelope.skip();
                Ok(())
            }
        }
    }

    fn envelope_value(
        &self,
        value: &[u8],
        input: &Input,
        facts: &mut ListFacts,
    ) -> Result<(), ListStreamError> {
        if self.envelope_field == 1 {
            let (api_version, kind) = envelope::type_meta(value, 0).map_err(|cause| {
                let kind = match cause {
                    EnvelopeError::Malformed { kind, .. } => kind,
                    _ => WireErrorKind::Truncated,
                };
                ListStreamError::Protobuf {
                    place: place(input, facts),
                    kind,
                }
            })?;
            facts.api_version = api_version.into();
            facts.kind = kind.into();
            return refuse_other_kinds(facts);
        }
        let plain = value.is_empty() || value == crate::Format::Protobuf.media_type().as_bytes();
        if plain {
            return Ok(());
        }
        Err(ListStreamError::Contents {
            found: String::from_utf8_lossy(value).into_owned(),
        })
    }
}

fn error(flaw: Flaw, input: &Input, facts: &ListFacts) -> ListStreamError {
    let place = place(input, facts);
    match flaw {
        Flaw::Wire(kind) => ListStreamError::Protobuf { place, kind },
        Flaw::TooLong { max } => ListStreamError::TooLong { place, max },
    }
}
