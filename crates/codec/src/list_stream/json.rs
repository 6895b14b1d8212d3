//! JSON lists: one object whose `items` are split; `metadata`, `apiVersion` and `kind` may come
//! before or after them.

use super::{ListFacts, ListLimits, ListStreamError, decode_metadata, place, refuse_other_kinds};
use crate::input::Input;
use crate::json_members::{Flaw, ItemStep, Items, MemberStep, Members};
use bytes::Bytes;
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::Encoding;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    ApiVersion,
    Kind,
    Metadata,
}

#[derive(Debug)]
pub(super) struct JsonList {
    members: Members,
    /// What the kept value is.
    kept: Option<Kept>,
    /// The reader of the items, while it is active.
    items: Option<Items>,
    items_count: u32,
    complete: bool,
    limits: ListLimits,
}

impl JsonList {
    pub(super) fn new(limits: ListLimits) -> Self {
        Self {
            members: Members::new(),
            kept: None,
            items: None,
            items_count: 0,
            complete: false,
            limits,
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Checks what is known only at the end.
    pub(super) fn check(&self, facts: &ListFacts) -> Result<(), ListStreamError> {
        refuse_other_kinds(facts)?;
        match self.items_count {
            1 => Ok(()),
            count => Err(ListStreamError::ItemsCount { count }),
        }
    }

    /// Returns the next item; none when the input is consumed.
    pub(super) fn step(
        &mut self,
        input: &mut Input,
        facts: &mut ListFacts,
    ) -> Result<Option<Bytes>, ListStreamError> {
        loop {
            if let Some(items) = &mut self.items {
                match items
                    .step(input)
                    .map_err(|flaw| error(flaw, input, facts))?
                {
                    ItemStep::More => return Ok(None),
                    ItemStep::Item(item) => return Ok(Some(item)),
                    ItemStep::End => {
                        self.items = None;
                        self.members.entered();
                    }
                }
            }
            match self
                .members
                .step(input)
                .map_err(|flaw| error(flaw, input, facts))?
            {
                MemberStep::More => return Ok(None),
                MemberStep::Key => self.choose()?,
                MemberStep::Value(value) => self.keep(&value, facts)?,
                MemberStep::End => {
                    self.complete = true;
                    return match input.peek_after_space() {
                        None => Ok(None),
                        Some(found) => {
                            let flaw = Flaw::Unexpected {
                                found,
                                expected: "the end of the list",
                            };
                            Err(error(flaw, input, facts))
                        }
                    };
                }
            }
        }
    }

    fn choose(&mut self) -> Result<(), ListStreamError> {
        self.kept = match self.members.key() {
            b"items" => {
                self.items_count += 1;
                if self.items_count > 1 {
                    return Err(ListStreamError::ItemsCount {
                        count: self.items_count,
                    });
                }
                self.items = Some(Items::new(self.limits.item_bytes_max));
                return Ok(());
            }
            b"apiVersion" => Some(Kept::ApiVersion),
            b"kind" => Some(Kept::Kind),
            b"metadata" => Some(Kept::Metadata),
            _ => None,
        };
        match self.kept {
            Some(_) => self.members.keep(self.limits.meta_bytes_max),
            None => self.members.skip(),
        }
        Ok(())
    }

    fn keep(&mut self, value: &[u8], facts: &mut ListFacts) -> Result<(), ListStreamError> {
        match self.kept.take() {
            Some(Kept::ApiVersion) => facts.api_version = text(value),
            Some(Kept::Kind) => {
                facts.kind = text(value);
                refuse_other_kinds(facts)?;
            }
            Some(Kept::Metadata) if value != b"null" => {
                facts.metadata = decode_metadata(value, Encoding::Json)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns a JSON string; anything else counts as absent.
fn text(value: &[u8]) -> Str {
    serde_json::from_slice::<String>(value)
        .map(Str::from)
        .unwrap_or_default()
}

fn error(flaw: Flaw, input: &Input, facts: &ListFacts) -> ListStreamError {
    let place = place(input, facts);
    match flaw {
        Flaw::Unexpected { found, expected } => ListStreamError::Syntax {
            place,
            expected,
            found: char::from(found),
        },
        Flaw::TooLong { max } => ListStreamError::TooLong { place, max },
    }
}
