//! Parts of timestamps and durations.

use super::Library;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;
use jiff::civil::DateTime;

type Outcome<'a> = Result<Value<'a>, EvalError>;

fn part<'a>(arguments: &[Value<'a>], part: fn(DateTime) -> i64) -> Outcome<'a> {
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
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        part!(
            "getFullYear",
            "timestamp_to_year",
            "timestamp_to_year_with_tz",
            |it| it.year().into()
        ),
        part!(
            "getMonth",
            "timestamp_to_month",
            "timestamp_to_month_with_tz",
            |it| i64::from(it.month()) - 1
        ),
        part!(
            "getDayOfYear",
            "timestamp_to_day_of_year",
            "timestamp_to_day_of_year_with_tz",
            |it| { i64::from(it.day_of_year()) - 1 }
        ),
        part!(
            "getDayOfMonth",
            "timestamp_to_day_of_month",
            "timestamp_to_day_of_month_with_tz",
            |it| { i64::from(it.day()) - 1 }
        ),
        part!(
            "getDate",
            "timestamp_to_day_of_month_1_based",
            "timestamp_to_day_of_month_1_based_with_tz",
            |it| { it.day().into() }
        ),
        part!(
            "getDayOfWeek",
            "timestamp_to_day_of_week",
            "timestamp_to_day_of_week_with_tz",
            |it| { it.weekday().to_sunday_zero_offset().into() }
        ),
        part!(
            "getHours",
            "timestamp_to_hours",
            "timestamp_to_hours_with_tz",
            |it| it.hour().into()
        )
        .member("duration_to_hours", "duration -> int", |it| {
            span(it, 3_600_000_000_000)
        }),
        part!(
            "getMinutes",
            "timestamp_to_minutes",
            "timestamp_to_minutes_with_tz",
            |it| it.minute().into()
        )
        .member("duration_to_minutes", "duration -> int", |it| {
            span(it, 60_000_000_000)
        }),
        part!(
            "getSeconds",
            "timestamp_to_seconds",
            "timestamp_to_seconds_tz",
            |it| it.second().into()
        )
        .member("duration_to_seconds", "duration -> int", |it| {
            span(it, 1_000_000_000)
        }),
        part!(
            "getMilliseconds",
            "timestamp_to_milliseconds",
            "timestamp_to_milliseconds_with_tz",
            |it| { it.millisecond().into() }
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
