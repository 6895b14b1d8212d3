//! `Kind`: the `type` of a schema.

use kubist_apimachinery::Str;

/// The `type` of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "any other type is `Other`")]
pub enum Kind {
    /// Not specified: any value.
    #[default]
    Any,
    /// `array`.
    Array,
    /// `boolean`.
    Boolean,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `object`.
    Object,
    /// `string`.
    String,
    /// Any other text; no value has this type.
    Other(Str),
}

impl Kind {
    /// Returns the text in a schema; empty if not specified.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Any => "",
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
            Self::Other(text) => text,
        }
    }
}

impl From<&Str> for Kind {
    fn from(text: &Str) -> Self {
        match text.as_str() {
            "" => Self::Any,
            "array" => Self::Array,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "object" => Self::Object,
            "string" => Self::String,
            _ => Self::Other(text.clone()),
        }
    }
}
