//! `indexOf` and `lastIndexOf`.

use super::{Outcome, byte_offset, out_of_range};
use crate::error::EvalError;
use crate::value::Value;

/// Finds a string in another, forwards or backwards, from a position or the start.
pub(super) fn index_of<'a>(arguments: &[Value<'a>], backwards: bool) -> Outcome<'a> {
    let (text, wanted, from) = match arguments {
        [Value::String(text), Value::String(wanted)] => (text, wanted, None),
        [Value::String(text), Value::String(wanted), Value::Int(from)] => {
            (text, wanted, Some(*from))
        }
        _ => return Err(EvalError::no_such_overload()),
    };
    let length = i64::try_from(text.characters()).unwrap_or(i64::MAX);
    let (text, wanted) = (text.as_str(), wanted.as_str());
    if wanted.is_empty() {
        return Ok(Value::Int(from.unwrap_or(if backwards {
            length
        } else {
            0
        })));
    }
    if backwards && from.is_none() && text.len() < wanted.len() {
        return Ok(Value::Int(-1));
    }
    let from = from.unwrap_or(if backwards { length - 1 } else { 0 });
    let Ok(start) = u64::try_from(from) else {
        return Err(out_of_range(from));
    };
    if from >= length {
        return Ok(Value::Int(-1));
    }
    let found = if backwards {
        let end = byte_offset(text, start)
            .saturating_add(wanted.len())
            .min(text.len());
        // The match may begin at the position, and end behind it.
        (0..=end)
            .rev()
            .filter(|it| text.is_char_boundary(*it))
            .find_map(|end| {
                let head = &text[..end];
                head.ends_with(wanted).then(|| end - wanted.len())
            })
    } else {
        let offset = byte_offset(text, start);
        text[offset..].find(wanted).map(|it| it + offset)
    };
    let position = found.map_or(-1, |at| {
        i64::try_from(text[..at].chars().count()).unwrap_or(-1)
    });
    Ok(Value::Int(position))
}
