//! Validation of cron schedules with five fields, with upstream's error texts.
//!
//! It does not compute when a schedule fires. The controller does that.

/// The bounds of a field and the names that stand for numbers.
struct Bounds {
    min: u32,
    max: u32,
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Bounds; 5] = [
    Bounds {
        min: 0,
        max: 59,
        names: &[],
    },
    Bounds {
        min: 0,
        max: 23,
        names: &[],
    },
    Bounds {
        min: 1,
        max: 31,
        names: &[],
    },
    Bounds {
        min: 1,
        max: 12,
        names: MONTHS,
    },
    Bounds {
        min: 0,
        max: 6,
        names: DAYS,
    },
];

/// Reports whether a time zone is known by its exact name.
pub(crate) fn is_zone(name: &str) -> bool {
    jiff::tz::TimeZone::get(name).is_ok_and(|it| it.iana_name() == Some(name))
}

/// Checks a schedule, which may begin with a time zone.
pub(crate) fn check(schedule: &str) -> Result<(), String> {
    let zoned = schedule.strip_prefix("CRON_TZ=");
    let Some(zoned) = zoned.or_else(|| schedule.strip_prefix("TZ=")) else {
        return check_times(schedule);
    };
    let Some((zone, times)) = zoned.split_once(' ') else {
        // Upstream's parser panics here. This is the text of that panic.
        let why = "runtime error: slice bounds out of range [:-1]";
        return Err(format!("invalid schedule format: {why}"));
    };
    if !matches!(zone, "" | "Local") && !is_zone(zone) {
        return Err(format!(
            "provided bad location {zone}: unknown time zone {zone}"
        ));
    }
    check_times(times.trim())
}

fn check_times(schedule: &str) -> Result<(), String> {
    if let Some(descriptor) = schedule.strip_prefix('@') {
        return check_descriptor(schedule, descriptor);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let found = fields.len();
        let shown = fields.join(" ");
        return Err(format!(
            "expected exactly 5 fields, found {found}: [{shown}]"
        ));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        for range in field.split(',').filter(|it| !it.is_empty()) {
            check_range(range, bounds)?;
        }
    }
    Ok(())
}

fn check_descriptor(schedule: &str, descriptor: &str) -> Result<(), String> {
    const KNOWN: [&str; 7] = [
        "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
    ];
    if KNOWN.contains(&descriptor) {
        return Ok(());
    }
    match descriptor.strip_prefix("every ") {
        None => Err(format!("unrecognized descriptor: {schedule}")),
        Some(span) => match span.parse::<kubist_apimachinery::Duration>() {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("failed to parse duration {schedule}: {error}")),
        },
    }
}

fn check_range(range: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let single = ends.len() == 1;
    let (start, mut end) = if ends[0] == "*" || ends[0] == "?" {
        (bounds.min, bounds.max)
    } else {
        let start = number(ends[0], bounds)?;
        match ends[..] {
            [_] => (start, start),
            [_, end] => (start, number(end, bounds)?),
            _ => return Err(format!("too many hyphens: {range}")),
        }
    };
    let step = match parts[..] {
        [_] => 1,
        [_, step] => {
            if single {
                end = bounds.max;
            }
            digits(step)?
        }
        _ => return Err(format!("too many slashes: {range}")),
    };
    let (min, max) = (bounds.min, bounds.max);
    if start < min {
        return Err(format!(
            "beginning of range ({start}) below minimum ({min}): {range}"
        ));
    }
    if end > max {
        return Err(format!(
            "end of range ({end}) above maximum ({max}): {range}"
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {range}"
        ));
    }
    if step == 0 {
        return Err(format!(
            "step of range should be a positive number: {range}"
        ));
    }
    Ok(())
}

fn number(text: &str, bounds: &Bounds) -> Result<u32, String> {
    let lower = text.to_lowercase();
    match (0..).zip(bounds.names).find(|(_, name)| **name == lower) {
        Some((index, _)) => Ok(bounds.min + index),
        None => digits(text),
    }
}

fn digits(text: &str) -> Result<u32, String> {
    match kubist_apimachinery::go_text::atoi(text) {
        Err(error) => Err(format!("failed to parse int from {text}: {error}")),
        Ok(number) => u32::try_from(number)
            .map_err(|_| format!("negative number ({number}) not allowed: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn schedules_are_five_fields_or_a_descriptor() {
        for good in [
            "*/5 * * * *",
            "0 0 1 jan mon-fri",
            "1,2-4/2 ? * * 0",
            "@daily",
            "@every 1h",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, problem) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            (
                "5-1 * * * *",
                "beginning of range (5) beyond end of range (1): 5-1",
            ),
            (
                "*/0 * * * *",
                "step of range should be a positive number: */0",
            ),
            ("@never", "unrecognized descriptor: @never"),
        ] {
            assert_eq!(check(bad), Err(problem.to_owned()), "{bad}");
        }
    }
}
