//! Protobuf events: a length of four bytes, then `WatchEvent { type = 1, object { raw = 1 } = 2 }`.

use super::error::WatchStreamError;
use super::frame::{EventKind, Frame};
use crate::Content;
use crate::envelope::{Envelope, EnvelopeError, each_delimited};
use crate::input::{Gather, Input};
use bytes::Bytes;
use kubist_apimachinery::wire::Encoding;

#[derive(Clone, Copy, Debug)]
enum State {
    /// Reading the length.
    Length { bytes: [u8; 4], have: usize },
    /// Reading the event, with bytes missing.
    Event { left: usize },
}

#[derive(Debug)]
pub(super) struct ProtobufEvents {
    state: State,
    gather: Gather,
    frame_bytes_max: usize,
}

impl ProtobufEvents {
    pub(super) fn new(frame_bytes_max: usize) -> Self {
        let state = State::Length {
            bytes: [0; 4],
            have: 0,
        };
        Self {
            state,
            gather: Gather::default(),
            frame_bytes_max,
        }
    }

    pub(super) fn is_between_frames(&self) -> bool {
        matches!(self.state, State::Length { have: 0, .. })
    }

    pub(super) fn step(
        &mut self,
        input: &mut Input,
        frame: u64,
    ) -> Result<Option<Frame>, WatchStreamError> {
        loop {
            match &mut self.state {
                State::Length { bytes, have } => {
                    let Some(byte) = input.peek() else {
                        return Ok(None);
                    };
                    bytes[*have] = byte;
                    *have += 1;
                    input.advance(1);
                    if *have < 4 {
                        continue;
                    }
                    let max = self.frame_bytes_max;
                    let left = usize::try_from(u32::from_be_bytes(*bytes)).unwrap_or(usize::MAX);
                    if left > max {
                        return Err(WatchStreamError::TooLong {
                            offset: input.offset(),
                            frame,
                            max,
                        });
                    }
                    self.state = State::Event { left };
                }
                State::Event { left } => {
                    let here = input.rest().len();
                    if here < *left {
                        self.gather.part(input, here);
                        *left -= here;
                        return Ok(None);
                    }
                    let event = self.gather.last(input, *left);
                    self.state = State::Length {
                        bytes: [0; 4],
                        have: 0,
                    };
                    return read_event(&event, frame).map(Some);
                }
            }
        }
    }
}

fn read_event(event: &Bytes, frame: u64) -> Result<Frame, WatchStreamError> {
    let broken = |cause| match cause {
        EnvelopeError::Malformed { kind, .. } => WatchStreamError::Event { frame, kind },
        source => WatchStreamError::Envelope { frame, source },
    };
    let (mut kind, mut extension) = (&b""[..], None);
    each_delimited(event, 0, |number, contents, _| {
        match number {
            1 => kind = contents,
            2 => extension = Some(contents),
            _ => {}
        }
        Ok(())
    })
    .map_err(broken)?;
    let mut raw = None;
    each_delimited(extension.unwrap_or_default(), 0, |number, contents, _| {
        if number == 1 {
            raw = Some(contents);
        }
        Ok(())
    })
    .map_err(broken)?;
    let kind = EventKind::parse(kind).ok_or_else(|| WatchStreamError::UnknownType {
        frame,
        found: String::from_utf8_lossy(kind).into_owned(),
    })?;
    let raw = raw.ok_or(WatchStreamError::NoObject { frame })?;
    if Content::of(raw) == Content::Json {
        return Ok(Frame::new(kind, event.slice_ref(raw), Encoding::Json));
    }
    let envelope =
        Envelope::open(raw).map_err(|source| WatchStreamError::Envelope { frame, source })?;
    let mut found = Frame::new(kind, event.slice_ref(envelope.raw), Encoding::Protobuf);
    found.api_version = envelope.api_version.into();
    found.type_name = envelope.kind.into();
    Ok(found)
}
