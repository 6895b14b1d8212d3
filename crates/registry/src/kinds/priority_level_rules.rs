//! What PriorityLevelConfigurations must satisfy.

use kubist_api::flowcontrol::v1::{
    LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfiguration,
    QueuingConfiguration,
};
use kubist_apimachinery::{FieldError, FieldPath};

use super::rules::{self, Errors};

/// The one level whose requests never wait.
const EXEMPT: &str = "exempt";
const QUEUES_MAX: i32 = 10_000_000;
/// Bits of a hash that are dealt out.
const ENTROPY_MAX: f64 = 60.0;

/// Checks a level.
pub(super) fn check(errors: &mut Errors, level: &PriorityLevelConfiguration) {
    let (spec, path) = (&level.spec, FieldPath::new("spec"));
    let at = path.child("type");
    if !rules::required(errors, &spec.type_, &at) {
        return;
    }
    if (level.metadata.name == EXEMPT) != (spec.type_ == "Exempt") {
        let detail = format!("must be 'Exempt' if and only if `name` is '{EXEMPT}'");
        errors.push(FieldError::invalid(&at, &spec.type_, detail));
    }
    let (limited_path, exempt_path) = (path.child("limited"), path.child("exempt"));
    match spec.type_.as_str() {
        "Exempt" => {
            if spec.limited.is_some() {
                let detail = "must be nil if the type is not Limited";
                errors.push(FieldError::forbidden(&limited_path, detail));
            }
            if let Some(exempt) = &spec.exempt {
                let shares = exempt.nominal_concurrency_shares;
                check_shares(errors, shares, &exempt_path);
                check_lendable(errors, exempt.lendable_percent, &exempt_path);
            }
        }
        "Limited" => {
            if spec.exempt.is_some() {
                let detail = "must be nil if the type is Limited";
                errors.push(FieldError::forbidden(&exempt_path, detail));
            }
            if let Some(limited) = &spec.limited {
                check_limited(errors, limited, &limited_path);
            } else {
                let detail = "must not be empty when type is Limited";
                errors.push(FieldError::required(&limited_path, detail));
            }
        }
        other => rules::one_of(errors, other, &["Exempt", "Limited"], &at),
    }
}

fn check_limited(
    errors: &mut Errors,
    limited: &LimitedPriorityLevelConfiguration,
    path: &FieldPath,
) {
    check_shares(errors, limited.nominal_concurrency_shares, path);
    check_response(
        errors,
        &limited.limit_response,
        &path.child("limitResponse"),
    );
    check_lendable(errors, limited.lendable_percent, path);
    if let Some(percent) = limited.borrowing_limit_percent.filter(|&it| it < 0) {
        let detail = "if specified, must be a non-negative integer";
        let at = path.child("borrowingLimitPercent");
        errors.push(FieldError::invalid(&at, percent, detail));
    }
}

fn check_shares(errors: &mut Errors, shares: Option<i32>, path: &FieldPath) {
    if let Some(shares) = shares.filter(|&it| it < 0) {
        let at = path.child("nominalConcurrencyShares");
        let detail = "must be a non-negative integer";
        errors.push(FieldError::invalid(&at, shares, detail));
    }
}

fn check_lendable(errors: &mut Errors, percent: Option<i32>, path: &FieldPath) {
    if let Some(percent) = percent.filter(|it| !(0..=100).contains(it)) {
        let detail = "must be between 0 and 100, inclusive";
        let at = path.child("lendablePercent");
        errors.push(FieldError::invalid(&at, percent, detail));
    }
}

fn check_response(errors: &mut Errors, response: &LimitResponse, path: &FieldPath) {
    let (at, kind) = (path.child("queuing"), path.child("type"));
    // Upstream says Limited, and means Queue.
    let when = "limited.limitResponse.type is";
    match (response.type_.as_str(), response.queuing.as_deref()) {
        ("", _) => errors.push(FieldError::required(&kind, "")),
        ("Reject", Some(_)) => {
            let detail = format!("must be nil if {when} not Limited");
            errors.push(FieldError::forbidden(&at, detail));
        }
        ("Queue", None) => {
            let detail = format!("must not be empty if {when} Limited");
            errors.push(FieldError::required(&at, detail));
        }
        ("Queue", Some(queuing)) => check_queuing(errors, queuing, &at),
        ("Reject", None) => {}
        (other, _) => rules::one_of(errors, other, &["Queue", "Reject"], &kind),
    }
}

fn check_queuing(errors: &mut Errors, queuing: &QueuingConfiguration, path: &FieldPath) {
    let mut positive = |name: &str, value: i32| {
        if value <= 0 {
            let at = path.child(name);
            errors.push(FieldError::invalid(&at, value, "must be positive"));
        }
        value > 0
    };
    let (queues, hand) = (queuing.queues, queuing.hand_size);
    positive("queueLengthLimit", queuing.queue_length_limit);
    let has_queues = positive("queues", queues);
    if has_queues && queues > QUEUES_MAX {
        let detail = format!("must not be greater than {QUEUES_MAX}");
        errors.push(FieldError::invalid(&path.child("queues"), queues, detail));
    }
    let at = path.child("handSize");
    let bits = f64::from(queues.max(1)).log2() * f64::from(hand);
    if hand <= 0 {
        errors.push(FieldError::invalid(&at, hand, "must be positive"));
    } else if hand > queues {
        let detail = format!("should not be greater than queues ({queues})");
        errors.push(FieldError::invalid(&at, hand, detail));
    } else if bits.ceil() > ENTROPY_MAX {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater \
             than {ENTROPY_MAX}"
        );
        errors.push(FieldError::invalid(&at, hand, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(change: impl FnOnce(&mut PriorityLevelConfiguration)) -> Vec<String> {
        let mut level = PriorityLevelConfiguration::default();
        level.metadata.name = "it".into();
        level.spec.type_ = "Limited".into();
        let limited = level.spec.limited.get_or_insert_default();
        limited.limit_response.type_ = "Reject".into();
        change(&mut level);
        let mut errors = Vec::new();
        check(&mut errors, &level);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_the_level_of_that_name_is_exempt() {
        assert_eq!(problems(|_| {}), [""; 0]);
        assert_eq!(
            problems(|it| it.spec.type_ = "Exempt".into()),
            [
                "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is \
                 'exempt'",
                "spec.limited: Forbidden: must be nil if the type is not Limited",
            ]
        );
        assert_eq!(
            problems(|it| it.spec.type_ = "fast".into()),
            ["spec.type: Unsupported value: \"fast\": supported values: \"Exempt\", \"Limited\""]
        );
    }

    #[test]
    fn queues_are_dealt_out_by_a_hash_that_is_long_enough() {
        let queuing = |queues: i32, hand_size: i32| {
            problems(|it| {
                let limited = it.spec.limited.get_or_insert_default();
                limited.limit_response.type_ = "Queue".into();
                limited.limit_response.queuing = Some(Box::new(QueuingConfiguration {
                    queues,
                    hand_size,
                    queue_length_limit: 1,
                }));
            })
        };
        let path = "spec.limited.limitResponse.queuing";
        assert_eq!(queuing(64, 8), [""; 0]);
        assert_eq!(
            queuing(1024, 8),
            [format!(
                "{path}.handSize: Invalid value: 8: required entropy bits of deckSize 1024 and \
                 handSize 8 should not be greater than 60"
            )]
        );
        assert_eq!(
            queuing(-1, 1),
            [
                format!("{path}.queues: Invalid value: -1: must be positive"),
                format!(
                    "{path}.handSize: Invalid value: 1: should not be greater than queues (-1)"
                ),
            ]
        );
    }
}
