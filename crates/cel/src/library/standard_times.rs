//! Parts of timestamps and durations.

use super::Library;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;
use crate::value::civil::Civil;

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn part<'a>(arguments: &[Value<'a>], part: fn(Civil) -> i64) -> Outcome<'a> {
    let at = match arguments {
        [Value::Timestamp(at)] => at.in_zone(None)?,
        [Value::Timestamp(at), Value::String(zone)] => at.in_zone(Some(zone.as_str()))?,
        _ => return Err(EvalError::no_such_overload()),
    };
    Ok(Value::Int(part(at)))
}

fn span<'a>(arguments: &[Value<'a>], unit: i64) -> Outcome<'a> {
    match arguments {
        [Value::Duration(it)] => Ok(Value::Int(it.nanoseconds() / unit)),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Declares the function that returns a part of a timestamp, in UTC or a time zone.
macro_rules! part {
    ($name:literal, $id:literal, $zoned:literal, $part:expr) => {
        Function::new($name)
            .member($id, "timestamp -> int", |it| part(it, $part))
            .member($zoned, "timestamp, string -> int", |it| part(it, $part))
    };
}

/// Returns the library.
#[expect(clippy::too_many_lines, reason = "a table of declarations")]
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        part!(
            "getFullYear",
            "timestamp_to_year",
            "timestamp_to_year_with_tz",
            |it| it.year
        ),
        part!(
            "getMonth",
            "timestamp_to_month",
            "timestamp_to_month_with_tz",
            |it| it.month - 1
        ),
        part!(
            "getDayOfYear",
            "timestamp_to_day_of_year",
            "timestamp_to_day_of_year_with_tz",
            |it| it.day_of_year
        ),
        part!(
            "getDayOfMonth",
            "timestamp_to_day_of_month",
            "timestamp_to_day_of_month_with_tz",
            |it| it.day - 1
        ),
        part!(
            "getDate",
            "timestamp_to_day_of_month_1_based",
            "timestamp_to_day_of_month_1_based_with_tz",
            |it| it.day
        ),
        part!(
            "getDayOfWeek",
            "timestamp_to_day_of_week",
            "timestamp_to_day_of_week_with_tz",
            |it| it.weekday
        ),
        part!(
            "getHours",
            "timestamp_to_hours",
            "timestamp_to_hours_with_tz",
            |it| it.hour
        )
        .member("duration_to_hours", "duration -> int", |it| {
            span(it, 3_600_000_000_000)
        }),
        part!(
            "getMinutes",
            "timestamp_to_minutes",
            "timestamp_to_minutes_with_tz",
            |it| it.minute
        )
        .member("duration_to_minutes", "duration -> int", |it| {
            span(it, 60_000_000_000)
        }),
        part!(
            "getSeconds",
            "timestamp_to_seconds",
            "timestamp_to_seconds_tz",
            |it| it.second
        )
        .member("duration_to_seconds", "duration -> int", |it| {
            span(it, 1_000_000_000)
        }),
        part!(
            "getMilliseconds",
            "timestamp_to_milliseconds",
            "timestamp_to_milliseconds_with_tz",
            |it| it.millisecond
        )
        .member("duration_to_milliseconds", "duration -> int", |it| {
            span(it, 1_000_000)
        }),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
