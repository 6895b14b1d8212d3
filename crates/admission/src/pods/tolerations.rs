//! Tolerations and which of them include others.

use kubist_api::core::v1::Toleration;

/// Returns all tolerations without those that others include.
pub(super) fn merge(first: &[Toleration], second: &[Toleration]) -> Vec<Toleration> {
    let all: Vec<&Toleration> = first.iter().chain(second).collect();
    let mut merged: Vec<Toleration> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let known = merged.iter().any(|it| includes(it, toleration));
        let mut later = all.iter().skip(index + 1);
        if !known && !later.any(|it| *it != *toleration && includes(it, toleration)) {
            merged.push(Toleration::clone(toleration));
        }
    }
    merged
}

/// Reports whether a toleration tolerates everything that another one does.
pub(super) fn includes(one: &Toleration, other: &Toleration) -> bool {
    if one == other {
        return true;
    }
    let any_key = one.key.is_empty() && one.operator == "Exists";
    if one.key != other.key && !any_key {
        return false;
    }
    if one.effect != other.effect && !one.effect.is_empty() {
        return false;
    }
    if one.effect == "NoExecute"
        && let Some(seconds) = one.toleration_seconds
        && other.toleration_seconds.is_none_or(|it| it > seconds)
    {
        return false;
    }
    match one.operator.as_str() {
        "Exists" => true,
        "Equal" | "" => other.operator == "Equal" && other.value == one.value,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toleration(key: &str, operator: &str, effect: &str) -> Toleration {
        Toleration {
            key: key.into(),
            operator: operator.into(),
            effect: effect.into(),
            ..Toleration::default()
        }
    }

    #[test]
    fn tolerations_that_others_include_are_dropped() {
        let one = toleration("a", "Exists", "NoSchedule");
        let any = toleration("a", "Exists", "");
        let other = toleration("b", "Exists", "");
        let merged = merge(&[one.clone(), other.clone()], &[any.clone(), one]);
        assert_eq!(merged, [other.clone(), any.clone()]);
        let all = toleration("", "Exists", "");
        assert_eq!(merge(&[any, other], std::slice::from_ref(&all)), [all]);
    }
}
