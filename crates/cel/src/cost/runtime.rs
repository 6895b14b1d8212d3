//! What a call did cost.

use super::estimate::scaled;
use super::{REGEX_LENGTH, STRING_TRAVERSAL};
use crate::value::Value;

/// Overloads whose cost depends on their arguments.
pub(crate) const HAS_COST: [&str; 19] = [
    "starts_with_string",
    "ends_with_string",
    "string_to_bytes",
    "bytes_to_string",
    "strings_quote",
    "string_format",
    "in_list",
    "less_string",
    "greater_string",
    "less_equals_string",
    "greater_equals_string",
    "less_bytes",
    "greater_bytes",
    "less_equals_bytes",
    "greater_equals_bytes",
    "add_string",
    "add_bytes",
    "matches_string",
    "contains_string",
];

/// A call that was evaluated.
#[derive(Debug)]
pub struct CallCost<'c, 'a> {
    /// The overload, if the checker knew which one it is.
    pub overload: Option<&'static str>,
    /// The arguments; none for one that failed.
    pub arguments: &'c [Option<Value<'a>>],
    /// The result, if there is one.
    pub result: Option<&'c Value<'a>>,
}

impl CallCost<'_, '_> {
    /// Returns the size of an argument, one if it has none.
    pub fn size(&self, index: usize) -> u64 {
        self.arguments
            .get(index)
            .and_then(Option::as_ref)
            .map_or(1, size)
    }

    /// Returns the size of the result, one if it has none.
    pub fn result_size(&self) -> u64 {
        self.result.map_or(1, size)
    }

    /// Returns the cost of reading an argument, with a factor.
    pub fn traversal(&self, index: usize, factor: f64) -> u64 {
        scaled(self.size(index), factor * STRING_TRAVERSAL)
    }

    /// Returns the cost of matching an argument with a regular expression of a length.
    pub fn regex(&self, index: usize, length: u64) -> u64 {
        let text = scaled(self.size(index).saturating_add(1), STRING_TRAVERSAL);
        text.saturating_mul(scaled(length, REGEX_LENGTH))
    }

    /// Returns the default cost of an overload.
    pub(crate) fn default(&self) -> u64 {
        match self.overload.unwrap_or_default() {
            "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string"
            | "strings_quote" | "string_format" => self.traversal(0, 1.0),
            "in_list" => self.size(1),
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals" => scaled(self.size(0).min(self.size(1)), STRING_TRAVERSAL),
            "add_string" | "add_bytes" => {
                scaled(self.size(0).saturating_add(self.size(1)), STRING_TRAVERSAL)
            }
            "matches_string" => self.regex(0, self.size(1)),
            "contains_string" => self
                .traversal(0, 1.0)
                .saturating_mul(self.traversal(1, 1.0)),
            _ => 1,
        }
    }
}

fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(inner)) => size(inner),
        other => other.size().unwrap_or(1),
    }
}
