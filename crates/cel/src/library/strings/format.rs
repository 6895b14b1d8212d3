//! `format` and `strings.quote`.

use super::Outcome;
use crate::error::EvalError;
use crate::value::{Value, convert, format::quote as go_quote};

/// The digits behind the point, unless a clause says otherwise.
const DEFAULT_PRECISION: usize = 6;
/// The most digits that a clause can ask for.
const MAX_PRECISION: usize = 10_000;

/// A piece of a format: text, or what stands for an argument.
#[derive(Debug)]
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause(char, Option<usize>),
}

/// Parses the next piece of a format. The format must not be empty.
pub(crate) fn piece(text: &str) -> Result<(Piece<'_>, &str), String> {
    let Some(clause) = text.strip_prefix('%') else {
        let (head, tail) = text.split_at(text.find('%').unwrap_or(text.len()));
        return Ok((Piece::Text(head), tail));
    };
    if let Some(rest) = clause.strip_prefix('%') {
        return Ok((Piece::Text("%"), rest));
    }
    if clause.is_empty() {
        return Err("unexpected end of string".to_owned());
    }
    let (precision, rest) =
        precision(clause).map_err(|it| format!("could not parse formatting clause: {it}"))?;
    match rest.chars().next() {
        Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
            Ok((Piece::Clause(verb, precision), &rest[1..]))
        }
        other => {
            let shown = other.unwrap_or('\u{0}');
            Err(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{shown}\""
            ))
        }
    }
}

fn precision(text: &str) -> Result<(Option<usize>, &str), String> {
    let Some(digits) = text.strip_prefix('.') else {
        return Ok((None, text));
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = digits.split_at(count);
    if rest.is_empty() {
        return Err(
            "error while parsing precision: could not find end of precision specifier".to_owned(),
        );
    }
    let parsed = number.parse().ok().filter(|it| *it <= MAX_PRECISION);
    let error = || {
        format!(
            "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"{number}\": invalid syntax"
        )
    };
    Ok((Some(parsed.ok_or_else(error)?), rest))
}

/// Returns what is wrong with an argument of a type for a clause.
pub(crate) fn misfit(verb: char, kind: &str) -> String {
    let text = match verb {
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'o' => "octal clause can only be used on integers",
        _ => "only integers, byte buffers, and strings can be formatted as hex",
    };
    format!("error during formatting: {text}, was given {kind}")
}

/// Formats a list of arguments.
pub(super) fn format<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::String(text), Value::List(list)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let (mut out, mut rest, mut at) = (String::new(), text.as_str(), 0);
    while !rest.is_empty() {
        if rest.starts_with('%') && !rest.starts_with("%%") && at >= list.len() {
            return Err(EvalError::failed(format!("index {at} out of range")));
        }
        let (piece, tail) = piece(rest).map_err(EvalError::failed)?;
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause(verb, precision) => {
                let argument = list.get(at)?.unwrap_or_default();
                out.push_str(&clause(verb, precision, &argument)?);
                at += 1;
            }
        }
        rest = tail;
    }
    Ok(Value::string(out))
}

fn clause(verb: char, precision: Option<usize>, value: &Value<'_>) -> Result<String, EvalError> {
    let text = match (verb, value) {
        ('s', _) => string(value).map_err(EvalError::failed)?,
        ('d', Value::Int(it)) => it.to_string(),
        ('d', Value::Uint(it)) => it.to_string(),
        ('f' | 'e', Value::Double(it)) => number(verb, precision, *it),
        ('f' | 'e', Value::String(it))
            if matches!(it.as_str(), "NaN" | "Infinity" | "-Infinity") =>
        {
            let Value::Double(parsed) = convert::to_double(value)? else {
                return Err(EvalError::no_such_overload());
            };
            number(verb, precision, parsed)
        }
        ('b', Value::Bool(it)) => u8::from(*it).to_string(),
        ('b', Value::Int(it)) => signed(*it, format!("{:b}", it.unsigned_abs())),
        ('b', Value::Uint(it)) => format!("{it:b}"),
        ('o', Value::Int(it)) => signed(*it, format!("{:o}", it.unsigned_abs())),
        ('o', Value::Uint(it)) => format!("{it:o}"),
        ('x', Value::Int(it)) => signed(*it, format!("{:x}", it.unsigned_abs())),
        ('X', Value::Int(it)) => signed(*it, format!("{:X}", it.unsigned_abs())),
        ('x', Value::Uint(it)) => format!("{it:x}"),
        ('X', Value::Uint(it)) => format!("{it:X}"),
        ('x' | 'X', Value::String(it)) => hex(it.as_str().as_bytes(), verb == 'X'),
        ('x' | 'X', Value::Bytes(it)) => hex(it.as_slice(), verb == 'X'),
        _ => return Err(EvalError::failed(misfit(verb, &value.type_name()))),
    };
    Ok(text)
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 {
        format!("-{digits}")
    } else {
        digits
    }
}

fn hex(bytes: &[u8], upper: bool) -> String {
    bytes
        .iter()
        .map(|it| {
            if upper {
                format!("{it:02X}")
            } else {
                format!("{it:02x}")
            }
        })
        .collect()
}

/// Formats a number as Go's printer of English text does.
fn number(verb: char, precision: Option<usize>, number: f64) -> String {
    let width = if verb == 'e' {
        precision.unwrap_or(DEFAULT_PRECISION)
    } else {
        0
    };
    let text = match (verb, number) {
        (_, it) if it.is_nan() => "NaN".to_owned(),
        (_, it) if it.is_infinite() => if it > 0.0 { "∞" } else { "-∞" }.to_owned(),
        ('f', it) => grouped(&format!("{it:.*}", precision.unwrap_or(DEFAULT_PRECISION))),
        (_, it) => scientific(it),
    };
    format!("{text:>width$}")
}

fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |it| ("-", it));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn scientific(number: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{number:.DEFAULT_PRECISION$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent
        .strip_prefix('-')
        .map_or(("", exponent), |it| ("⁻", it));
    let raised: String = format!("{digits:0>2}")
        .bytes()
        .filter_map(|it| DIGITS.get(usize::from(it.wrapping_sub(b'0'))))
        .collect();
    format!("{mantissa}×10{sign}{raised}")
}

/// Formats a value for `%s`.
fn string(value: &Value<'_>) -> Result<String, String> {
    match value {
        Value::List(_) | Value::Map(_) => nested(value),
        Value::Null => Ok("null".to_owned()),
        Value::Optional(_) | Value::Opaque(_) | Value::Preserved(_) => {
            Err(misfit('s', &value.type_name()))
        }
        _ => match convert::to_string(value) {
            Ok(Value::String(text)) => Ok(text.as_str().to_owned()),
            _ => Err(format!(
                "could not convert argument {} to string",
                go_quote(&crate::value::format::debug(value))
            )),
        },
    }
}

/// Formats a value within a list or a map, as a literal of the language.
fn nested(value: &Value<'_>) -> Result<String, String> {
    match value {
        Value::List(list) => {
            let element =
                |it: Result<Value<'_>, EvalError>| nested(&it.map_err(|it| it.to_string())?);
            let texts: Vec<String> = list.iter().map(element).collect::<Result<_, _>>()?;
            Ok(format!("[{}]", texts.join(", ")))
        }
        Value::Map(map) => {
            let mut texts = Vec::new();
            for key in map.keys() {
                if !matches!(
                    key,
                    Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)
                ) {
                    return Err(format!(
                        "no formatting function for map key of type {}",
                        key.type_name()
                    ));
                }
                let value = map
                    .find(&key)
                    .map_err(|it| it.to_string())?
                    .unwrap_or_default();
                texts.push((nested(&key)?, nested(&value)?));
            }
            texts.sort();
            let texts: Vec<String> = texts
                .into_iter()
                .map(|(key, value)| format!("{key}:{value}"))
                .collect();
            Ok(format!("{{{}}}", texts.join(", ")))
        }
        Value::String(text) => Ok(go_quote(text.as_str())),
        Value::Bytes(_) => Ok(format!("b{}", go_quote(&string(value)?))),
        Value::Double(it) if !it.is_finite() => Ok(go_quote(&crate::value::format::shortest(*it))),
        Value::Double(it) => Ok(format!("{it:.DEFAULT_PRECISION$}")),
        Value::Timestamp(_) => Ok(format!("timestamp({})", go_quote(&string(value)?))),
        Value::Duration(_) => Ok(format!("duration({})", go_quote(&string(value)?))),
        Value::Optional(_) | Value::Opaque(_) | Value::Preserved(_) => {
            Err(format!("no formatting function for {}", value.type_name()))
        }
        other => string(other),
    }
}

/// Quotes a string as a literal of the language.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let escape = match character {
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{b}' => "\\v",
            '\\' => "\\\\",
            '"' => "\\\"",
            other => {
                quoted.push(other);
                continue;
            }
        };
        quoted.push_str(escape);
    }
    quoted.push('"');
    quoted
}
