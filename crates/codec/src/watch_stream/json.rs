//! JSON events: objects with `type` and `object`, in any order.

use super::error::WatchStreamError;
use super::frame::{EventKind, Frame};
use crate::input::Input;
use crate::json_members::{Flaw, MemberStep, Members};
use bytes::Bytes;
use kubist_apimachinery::wire::Encoding;

#[derive(Clone, Copy, Debug)]
enum Kept {
    Type,
    Object,
}

#[derive(Debug)]
pub(super) struct JsonEvents {
    members: Members,
    kept: Option<Kept>,
    kind: Option<Bytes>,
    object: Option<Bytes>,
    frame_bytes_max: usize,
}

impl JsonEvents {
    /// The most bytes of `type`; the longest type has ten.
    const TYPE_MAX: usize = 256;

    pub(super) fn new(frame_bytes_max: usize) -> Self {
        Self {
            members: Members::new(),
            kept: None,
            kind: None,
            object: None,
            frame_bytes_max,
        }
    }

    pub(super) fn is_between_frames(&self) -> bool {
        self.members.is_at_start()
    }

    pub(super) fn step(
        &mut self,
        input: &mut Input,
        frame: u64,
    ) -> Result<Option<Frame>, WatchStreamError> {
        loop {
            match self
                .members
                .step(input)
                .map_err(|flaw| error(flaw, input, frame))?
            {
                MemberStep::More => return Ok(None),
                MemberStep::Key => {
                    let (kept, max) = match self.members.key() {
                        b"type" => (Kept::Type, Self::TYPE_MAX),
                        b"object" => (Kept::Object, self.frame_bytes_max),
                        _ => {
                            self.members.skip();
                            continue;
                        }
                    };
                    self.kept = Some(kept);
                    self.members.keep(max);
                }
                MemberStep::Value(value) => match self.kept.take() {
                    Some(Kept::Type) => self.kind = Some(value),
                    Some(Kept::Object) => self.object = Some(value),
                    None => {}
                },
                MemberStep::End => {
                    self.members = Members::new();
                    return self.event(frame).map(Some);
                }
            }
        }
    }

    fn event(&mut self, frame: u64) -> Result<Frame, WatchStreamError> {
        let kind = self.kind.take().unwrap_or_default();
        let object = self.object.take().filter(|object| object != "null");
        let kind = kind
            .strip_prefix(b"\"")
            .and_then(|kind| kind.strip_suffix(b"\""))
            .unwrap_or(&kind);
        let kind = EventKind::parse(kind).ok_or_else(|| WatchStreamError::UnknownType {
            frame,
            found: String::from_utf8_lossy(kind).into_owned(),
        })?;
        let object = object.ok_or(WatchStreamError::NoObject { frame })?;
        Ok(Frame::new(kind, object, Encoding::Json))
    }
}

fn error(flaw: Flaw, input: &Input, frame: u64) -> WatchStreamError {
    let offset = input.offset();
    match flaw {
        Flaw::Unexpected { found, expected } => WatchStreamError::Syntax {
            offset,
            frame,
            expected,
            found: char::from(found),
        },
        Flaw::TooLong { max } => WatchStreamError::TooLong { offset, frame, max },
    }
}
