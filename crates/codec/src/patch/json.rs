//! JSON patch (RFC 6902) with the behaviour of upstream's server.
//!
//! It is laxer than the RFC where clients depend on it: `replace` adds a missing member, a missing
//! `value` is null, and negative indexes count from the end. It is stricter elsewhere: only
//! `replace` and `test` can address the whole document, which stays an object or a list. The number
//! of operations and the amount of copying are limited.

mod messages;
mod pointer;
#[cfg(test)]
mod tests;
mod usage;

use self::messages::Messages;
use self::pointer::Pointer;
use self::usage::Usage;
use super::{PatchError, Reading};
use serde_json::Value;

/// The most operations in one patch: 10,000, as in upstream.
pub const OPERATIONS_MAX: usize = 10_000;
/// The most bytes that the `copy` operations of one patch may add: 3 MiB, as in upstream.
pub const COPY_BYTES_MAX: usize = 3 << 20;

/// The most list items that the operations of one patch may move by inserting before them or
/// removing one. It is far above any real patch and takes a fraction of a second. Upstream has no
/// such limit.
pub const MOVED_ITEMS_MAX: usize = 20_000_000;

/// The maximum depth that operations may create, which is more than any object has. Deeper trees
/// could overflow the stack when they are written, read or dropped. Upstream has no such limit.
pub const DEPTH_MAX: usize = 256;

/// A parsed patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Operation {
    op: Option<String>,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

impl JsonPatch {
    /// Parses a patch. Unknown operations, and with [`Reading::Loose`] members of a wrong type, are
    /// reported when the patch is applied. Null is an empty patch.
    ///
    /// # Errors
    /// The patch is not a list of objects, or has more than [`OPERATIONS_MAX`].
    pub fn parse(patch: &[u8], reading: Reading) -> Result<Self, PatchError> {
        let messages = Messages(reading);
        let operations = match super::read(patch).map_err(|why| messages.refuse(why))? {
            Value::Null => Vec::new(),
            Value::Array(items) => {
                let operations = items
                    .into_iter()
                    .map(|item| Operation::read(item, messages));
                operations.collect::<Result<Vec<Operation>, PatchError>>()?
            }
            other => return Err(messages.mismatch(&other, messages.list())),
        };
        let (count, max) = (operations.len(), OPERATIONS_MAX);
        if count > max {
            return Err(PatchError::TooManyOperations { count, max });
        }
        Ok(Self { operations })
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Reports whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies all operations in order; if one fails, the patch fails.
    pub fn apply(&self, mut document: Value) -> Result<Value, PatchError> {
        let mut usage = Usage::default();
        for (index, operation) in self.operations.iter().enumerate() {
            operation
                .apply(&mut document, &mut usage)
                .map_err(|failure| match failure {
                    Failure::Reason(reason) => PatchError::Operation {
                        index,
                        operation: operation.op.clone().unwrap_or_default(),
                        path: operation.path.clone().unwrap_or_default(),
                        reason,
                    },
                    Failure::CopyTooLarge(size) => PatchError::CopyTooLarge {
                        size,
                        max: COPY_BYTES_MAX,
                    },
                    Failure::TooManyMoves => PatchError::TooManyMoves {
                        max: MOVED_ITEMS_MAX,
                    },
                })?;
        }
        Ok(document)
    }
}

enum Failure {
    Reason(String),
    CopyTooLarge(usize),
    TooManyMoves,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self::Reason(reason.to_owned())
    }
}

impl Operation {
    /// Reads an operation. Null is an operation without a name, which cannot be applied.
    fn read(item: Value, messages: Messages) -> Result<Self, PatchError> {
        let mut members = match item {
            Value::Null => return Ok(Self::default()),
            Value::Object(members) => members,
            other => return Err(messages.mismatch(&other, messages.operation())),
        };
        let mut text = |name: &str| match members.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // Its absence is reported when it is needed.
            Some(_) if messages.0 == Reading::Loose => Ok(None),
            Some(other) => {
                let wanted = format!("struct field jsonPatchOp.{name} of type string");
                Err(messages.mismatch(&other, &wanted))
            }
        };
        Ok(Self {
            op: text("op")?,
            path: text("path")?,
            from: text("from")?,
            value: members.remove("value").unwrap_or_default(),
        })
    }

    /// Reports whether it addresses the whole document.
    fn is_whole(&self) -> bool {
        self.path.as_deref() == Some("")
    }

    fn apply(&self, document: &mut Value, usage: &mut Usage) -> Result<(), Failure> {
        let path = || Pointer::parse(self.path.as_deref().ok_or("it has no path")?);
        let from = || Pointer::parse(self.from.as_deref().ok_or("it has no from")?);
        match self.op.as_deref().unwrap_or_default() {
            "add" => path()?.add(document, self.value.clone(), usage),
            "remove" => path()?.remove(document, usage).map(drop),
            "replace" if self.is_whole() => {
                if !self.value.is_object() && !self.value.is_array() {
                    return Err("only an object or a list can replace the whole".into());
                }
                usage.put(&self.value, 0)?;
                *document = self.value.clone();
                Ok(())
            }
            "replace" => path()?.replace(document, self.value.clone(), usage),
            "move" => {
                let value = from()?.remove(document, usage)?;
                path()?.add(document, value, usage)
            }
            "copy" => {
                let value = from()?.read(document)?.cloned().unwrap_or_default();
                let copied = &mut usage.copied_bytes;
                *copied = copied.saturating_add(value.to_string().len());
                if *copied > COPY_BYTES_MAX {
                    return Err(Failure::CopyTooLarge(*copied));
                }
                path()?.add(document, value, usage)
            }
            "test" => {
                let found = if self.is_whole() {
                    &*document
                } else {
                    path()?.read(document)?.unwrap_or(&Value::Null)
                };
                if *found != self.value {
                    return Err(super::error::ANOTHER_VALUE.to_owned().into());
                }
                Ok(())
            }
            other => Err(format!("unexpected kind: {other}").into()),
        }
    }
}
