//! Named formats, which texts are validated against.

use super::{Library, costs};
use crate::cel_type::Type;
use crate::cost::{CallCost, CallEstimate, Operands, REGEX_LENGTH};
use crate::error::EvalError;
use crate::function::{Function, Implementation};
use crate::value::{Opaque, OpaqueValue, Value};
use kubist_apimachinery::validate_name as names;

mod texts;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "kubernetes.NamedFormat";

/// The size of a regular expression that estimates assume.
const REGEX_SIZE: f64 = 128.0;

/// A format.
#[derive(Debug, Clone, Copy)]
struct Format {
    /// Its name for [`Value`]s, which `format.` precedes.
    name: &'static str,
    /// The name of its function.
    function: &'static str,
    /// What creates it.
    create: Implementation,
    /// Returns what is wrong with a text.
    validate: fn(&str) -> Vec<String>,
    /// How long its regular expression is, or would be.
    size: u64,
}

impl OpaqueValue for Format {
    fn runtime_type(&self) -> Type {
        Type::object(NAME)
    }

    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError> {
        let other: &dyn std::any::Any = other;
        let other: Option<&Self> = other.downcast_ref();
        other
            .map(|it| it.name == self.name)
            .ok_or_else(EvalError::no_such_overload)
    }
}

/// Declares the table of formats.
macro_rules! formats {
    ($($name:literal, $size:expr, $validate:expr;)*) => {
        [$(Format {
            name: $name,
            function: concat!("format.", $name),
            create: |_| named($name).ok_or_else(EvalError::no_such_overload),
            validate: $validate,
            size: $size,
        }),*]
    };
}

/// All formats.
static FORMATS: [Format; 13] = formats! {
    "dns1123Label", 30, names::dns1123_label;
    "dns1123Subdomain", 60, names::dns1123_subdomain;
    "dns1035Label", 30, names::dns1035_label;
    "qualifiedName", 60, names::qualified_name;
    "dns1123LabelPrefix", 30, |it| names::name_prefix(it, names::dns1123_label);
    "dns1123SubdomainPrefix", 60, |it| names::name_prefix(it, names::dns1123_subdomain);
    "dns1035LabelPrefix", 30, |it| names::name_prefix(it, names::dns1035_label);
    "labelValue", 40, names::label_value;
    "uri", 1103, |it| super::urls::parse::check_request(it).err().into_iter().collect();
    "uuid", 70, |it| unless(texts::is_uuid(it), "does not match the UUID format");
    "byte", 84, |it| unless(texts::is_base64(it), "invalid base64");
    "date", 71, |it| unless(texts::is_date(it), "invalid date");
    "datetime", 71, |it| unless(texts::is_date_time(it), "invalid datetime");
};

fn unless(is_valid: bool, message: &str) -> Vec<String> {
    if is_valid {
        return Vec::new();
    }
    vec![message.to_owned()]
}

fn named<'a>(name: &str) -> Option<Value<'a>> {
    let format = FORMATS.iter().find(|it| it.name == name)?;
    Some(Value::Opaque(Opaque::new(*format)))
}

fn format_of<'v>(value: &'v Value<'_>) -> Option<&'v Format> {
    match value {
        Value::Opaque(it) => it.downcast(),
        _ => None,
    }
}

fn validate<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [format, Value::String(text)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let format = format_of(format).ok_or_else(EvalError::no_such_overload)?;
    let messages = (format.validate)(text.as_str());
    if messages.is_empty() {
        return Ok(Value::Optional(None));
    }
    let messages = messages.into_iter().map(Value::string).collect();
    Ok(Value::optional(Some(Value::list(messages))))
}

fn validation(call: &CallCost<'_, '_>) -> Option<u64> {
    let format = format_of(call.arguments.first()?.as_ref()?)?;
    Some(call.regex(1, format.size))
}

fn estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    let text = costs::traversal(size, 1.0);
    Some(CallEstimate::of(
        text.times_factor(REGEX_SIZE * REGEX_LENGTH),
    ))
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let mut functions = vec![
        Function::new("validate")
            .member(
                "format-validate",
                "object kubernetes.NamedFormat, string -> optional(list(string))",
                validate,
            )
            .costs(validation, estimate),
        Function::new("format.named")
            .overload(
                "format-named",
                "string -> optional(object kubernetes.NamedFormat)",
                |arguments| match arguments {
                    [Value::String(name)] => Ok(Value::optional(named(name.as_str()))),
                    _ => Err(EvalError::no_such_overload()),
                },
            )
            .costs(costs::nominal, costs::nominal_estimate),
    ];
    functions.extend(FORMATS.iter().map(|it| {
        let signature = "-> object kubernetes.NamedFormat";
        Function::new(it.function).overload(it.function, signature, it.create)
    }));
    Library {
        functions,
        types: Vec::new(),
    }
}
