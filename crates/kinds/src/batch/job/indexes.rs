//! Index lists in Job statuses: ascending numbers and ranges, separated by commas.

/// Returns the problem of a list in upstream's words. Each index must be below `completions` and
/// above the previous ones.
pub(crate) fn problem(list: &str, completions: i32) -> Option<String> {
    let mut last: Option<i64> = None;
    for text in intervals(list) {
        let (first, end) = match parse(text, completions) {
            Ok(interval) => interval,
            Err(problem) => return Some(problem),
        };
        if let Some(last) = last.filter(|&it| it >= first) {
            return Some(not_increasing(last, first));
        }
        last = Some(end);
    }
    None
}

/// Returns the lowest index that is in both lists. Invalid intervals are ignored.
pub(crate) fn overlap(one: &str, other: &str, completions: i32) -> Option<i64> {
    let valid = |list| intervals(list).filter_map(move |it| parse(it, completions).ok());
    let (mut one, mut other) = (valid(one), valid(other));
    let (mut left, mut right) = (one.next()?, other.next()?);
    loop {
        if left.0 <= right.1 && right.0 <= left.1 {
            return Some(left.0.max(right.0));
        }
        if left.0 <= right.0 {
            left = one.next()?;
        } else {
            right = other.next()?;
        }
    }
}

fn intervals(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(move |_| !list.is_empty())
}

/// Parses the first and the last index of an interval.
fn parse(text: &str, completions: i32) -> Result<(i64, i64), String> {
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!(
            "cannot convert string to integer for index: {text:?}"
        )),
        Ok(index) if index >= i64::from(completions) => Err(format!("too large index: {text:?}")),
        Ok(index) => Ok(index),
    };
    let (first, last) = match text.split_once('-') {
        None => {
            let only = index(text)?;
            return Ok((only, only));
        }
        Some((_, rest)) if rest.contains('-') => {
            return Err(format!(
                "the fragment {text:?} violates the requirement that an index interval can have \
                 at most two parts separated by '-'"
            ));
        }
        Some((first, last)) => (index(first)?, index(last)?),
    };
    if first >= last {
        return Err(not_increasing(first, last));
    }
    Ok((first, last))
}

fn not_increasing(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_grow_and_are_below_the_number_of_completions() {
        let of = |list: &str| problem(list, 10).unwrap_or_default();
        for list in ["", "0", "0-1,5", "3,7-9"] {
            assert_eq!(of(list), "", "{list}");
        }
        assert_eq!(of("x"), "cannot convert string to integer for index: \"x\"");
        assert_eq!(of("0,"), "cannot convert string to integer for index: \"\"");
        assert_eq!(of("10"), "too large index: \"10\"");
        assert_eq!(of("3-10"), "too large index: \"10\"");
        assert_eq!(of("5-3"), "non-increasing order, previous: 5, current: 3");
        assert_eq!(of("0-4,4"), "non-increasing order, previous: 4, current: 4");
        assert_eq!(
            of("0-1-2"),
            "the fragment \"0-1-2\" violates the requirement that an index interval can have at \
             most two parts separated by '-'"
        );
    }

    #[test]
    fn lists_overlap_at_the_first_index_of_both() {
        assert_eq!(overlap("0-3,6", "4,5", 10), None);
        assert_eq!(overlap("0-3,6", "4-7", 10), Some(6));
        assert_eq!(overlap("1-5", "0-3", 10), Some(1));
        assert_eq!(overlap("x,2", "2", 10), Some(2));
        assert_eq!(overlap("", "2", 10), None);
    }
}
