//! The key order of upstream's YAML output: letters last, runs of digits by value.

use std::cmp::Ordering;

/// Reports whether `left` comes before `right`.
fn before(left: &[char], right: &[char]) -> bool {
    let Some(i) = left
        .iter()
        .zip(right)
        .position(|(left, right)| left != right)
    else {
        return left.len() < right.len();
    };
    let (l, r) = (left[i], right[i]);
    match (l.is_alphabetic(), r.is_alphabetic()) {
        (true, true) => return l < r,
        (false, false) => {}
        (_, right_is_letter) => return right_is_letter,
    }
    // A zero after a non-zero digit is inside a number, not a leading zero.
    let mut inside = 0;
    if l == '0' || r == '0' {
        let digits = left[..i].iter().rev().take_while(|c| c.is_numeric());
        inside = i64::from(digits.into_iter().any(|&c| c != '0'));
    }
    let (left_end, left_number) = digits(left, i, inside);
    let (right_end, right_number) = digits(right, i, inside);
    match left_number
        .cmp(&right_number)
        .then(left_end.cmp(&right_end))
    {
        Ordering::Equal => l < r,
        order => order.is_lt(),
    }
}

/// Reads digits from `start` on, after `number`; returns their end and the number.
fn digits(text: &[char], start: usize, mut number: i64) -> (usize, i64) {
    let mut end = start;
    while let Some(digit) = text.get(end).and_then(|c| c.to_digit(10)) {
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        end += 1;
    }
    (end, number)
}

/// Sorts keys with a plain merge sort: upstream's order is not total, which the standard sort may
/// answer with a panic.
pub(super) fn sort<T>(entries: Vec<(&String, T)>) -> Vec<(&String, T)> {
    let is_ordinary = |key: &String| key.bytes().all(|byte| byte.is_ascii_alphabetic());
    if entries.iter().all(|(key, _)| is_ordinary(key)) {
        let mut entries = entries;
        entries.sort_unstable_by_key(|(key, _)| *key);
        return entries;
    }
    let with_chars = entries
        .into_iter()
        .map(|entry| (entry.0.chars().collect(), entry))
        .collect();
    merge_sort(with_chars)
        .into_iter()
        .map(|(_, entry)| entry)
        .collect()
}

fn merge_sort<T>(mut entries: Vec<(Vec<char>, T)>) -> Vec<(Vec<char>, T)> {
    if entries.len() < 2 {
        return entries;
    }
    let right = merge_sort(entries.split_off(entries.len() / 2));
    let left = merge_sort(entries);
    let mut sorted = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    for item in right {
        while let Some(first) = left.next_if(|(chars, _)| !before(&item.0, chars)) {
            sorted.push(first);
        }
        sorted.push(item);
    }
    sorted.extend(left);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_by_value_and_letters_last() {
        let keys = [
            "a10", "a2", "b", "a", "a.b", "aB", "ab", "1", "10", "9", "a01", "a-b",
        ];
        let keys: Vec<String> = keys.map(str::to_owned).to_vec();
        let sorted = sort(keys.iter().map(|key| (key, ())).collect());
        let sorted: Vec<&str> = sorted.iter().map(|(key, ())| key.as_str()).collect();
        assert_eq!(
            sorted,
            [
                "1", "9", "10", "a", "a-b", "a.b", "a01", "a2", "a10", "aB", "ab", "b"
            ]
        );
    }
}
