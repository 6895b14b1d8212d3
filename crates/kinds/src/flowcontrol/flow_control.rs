//! FlowSchemas and PriorityLevelConfigurations. The server above obeys them, by
//! `kubist-flow-control`.

use super::{defaults, flow_schema_rules};
use crate::shared::fill;
use crate::shared::rules::{self, Errors};
use kubist_api::flowcontrol::v1::{
    FlowSchema, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfiguration,
    QueuingConfiguration,
};
use kubist_apimachinery::wire::{Message, to_json};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{Generation, KindStrategy, MetadataUpdate, StatusKeeps, StrategyFacts};
use serde_json::value::RawValue;

#[derive(Debug)]
pub(crate) struct FlowSchemas;

#[derive(Debug)]
pub(crate) struct PriorityLevelConfigurations;

impl KindStrategy for FlowSchemas {
    type Kind = FlowSchema;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Everything,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut FlowSchema) {
        fill::number(&mut object.spec.matching_precedence, 1000);
    }

    fn validate(&self, new: &FlowSchema) -> Vec<FieldError> {
        let mut errors = flow_schema_rules::problems(new);
        let name = &*new.metadata.name;
        let fixed = defaults::is_mandatory(name).then(|| defaults::named::<FlowSchema>(name));
        if fixed.flatten().is_some_and(|it| it.spec != new.spec) {
            errors.push(is_fixed(name, "", &new.spec));
        }
        errors
    }
}

impl KindStrategy for PriorityLevelConfigurations {
    type Kind = PriorityLevelConfiguration;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        generation: Generation::Spec,
        status_keeps: StatusKeeps::Everything,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut PriorityLevelConfiguration) {
        let spec = &mut object.spec;
        if let Some(limited) = &mut spec.limited {
            limited.nominal_concurrency_shares.get_or_insert(30);
            limited.lendable_percent.get_or_insert(0);
            default_response(&mut limited.limit_response);
        }
        if spec.type_ == "Exempt" {
            let exempt = spec.exempt.get_or_insert_default();
            exempt.nominal_concurrency_shares.get_or_insert(0);
            exempt.lendable_percent.get_or_insert(0);
        }
    }
    fn validate(&self, new: &PriorityLevelConfiguration) -> Vec<FieldError> {
        let (mut errors, path) = (Vec::new(), FieldPath::new("spec"));
        let spec = &new.spec;
        check_type(
            &mut errors,
            &spec.type_,
            &new.metadata.name,
            &path.child("type"),
        );
        match spec.type_.as_str() {
            "Limited" => {
                if spec.exempt.is_some() {
                    let detail = "must be nil if the type is Limited";
                    errors.push(FieldError::forbidden(&path.child("exempt"), detail));
                }
                let path = path.child("limited");
                if let Some(limited) = &spec.limited {
                    check_limited(&mut errors, limited, &path);
                } else {
                    let detail = "must not be empty when type is Limited";
                    errors.push(FieldError::required(&path, detail));
                }
            }
            "Exempt" => {
                if spec.limited.is_some() {
                    let detail = "must be nil if the type is not Limited";
                    errors.push(FieldError::forbidden(&path.child("limited"), detail));
                }
                if let Some(exempt) = &spec.exempt {
                    let path = path.child("exempt");
                    check_shares(&mut errors, exempt.nominal_concurrency_shares, &path);
                    check_lendable(&mut errors, exempt.lendable_percent, &path);
                }
            }
            _ => {}
        }
        errors.extend(fixed_level(new));
        errors
    }
}

/// Nobody may change the mandatory levels, except what exempt requests lend.
fn fixed_level(new: &PriorityLevelConfiguration) -> Option<FieldError> {
    let name = &*new.metadata.name;
    if !defaults::is_mandatory(name) {
        return None;
    }
    let mut fixed = defaults::named::<PriorityLevelConfiguration>(name)?.clone();
    let mut except = "";
    if name == EXEMPT {
        fixed.spec.exempt.clone_from(&new.spec.exempt);
        except = "except the 'spec.exempt' field ";
    }
    (fixed.spec != new.spec).then(|| is_fixed(name, except, &new.spec))
}

fn is_fixed(name: &str, except: &str, spec: &dyn Message) -> FieldError {
    // Text, to keep the order of the fields.
    let shown: Option<Box<RawValue>> = serde_json::from_slice(&to_json(spec)).ok();
    let why = format!("spec of '{name}' {except}must equal the fixed value");
    FieldError::invalid(&FieldPath::new("spec"), BadValue::json(&shown), why)
}

/// The priority level whose requests are never queued.
const EXEMPT: &str = "exempt";
/// The maximum number of queues of a priority level.
const QUEUES_MAX: i32 = 10_000_000;
/// The maximum number of hash bits for shuffle sharding.
const HASH_BITS_MAX: f64 = 60.0;

fn check_type(errors: &mut Errors, found: &str, name: &str, path: &FieldPath) {
    if !found.is_empty() && (found == "Exempt") != (name == EXEMPT) {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.push(FieldError::invalid(path, found, detail));
    }
    rules::word(errors, found, &["Exempt", "Limited"], path);
}

fn check_limited(
    errors: &mut Errors,
    limited: &LimitedPriorityLevelConfiguration,
    path: &FieldPath,
) {
    check_shares(errors, limited.nominal_concurrency_shares, path);
    let response = path.child("limitResponse");
    check_response(errors, &limited.limit_response, &response);
    check_lendable(errors, limited.lendable_percent, path);
    if let Some(percent) = limited.borrowing_limit_percent.filter(|it| *it < 0) {
        let detail = "if specified, must be a non-negative integer";
        let path = path.child("borrowingLimitPercent");
        errors.push(FieldError::invalid(&path, percent, detail));
    }
}

fn check_shares(errors: &mut Errors, shares: Option<i32>, path: &FieldPath) {
    if let Some(shares) = shares.filter(|it| *it < 0) {
        let path = path.child("nominalConcurrencyShares");
        let detail = "must be a non-negative integer";
        errors.push(FieldError::invalid(&path, shares, detail));
    }
}

fn check_lendable(errors: &mut Errors, percent: Option<i32>, path: &FieldPath) {
    if let Some(percent) = percent.filter(|it| !(0..=100).contains(it)) {
        let path = path.child("lendablePercent");
        let detail = "must be between 0 and 100, inclusive";
        errors.push(FieldError::invalid(&path, percent, detail));
    }
}

fn check_response(errors: &mut Errors, response: &LimitResponse, path: &FieldPath) {
    rules::word(
        errors,
        &response.type_,
        &["Queue", "Reject"],
        &path.child("type"),
    );
    let path = path.child("queuing");
    match (response.type_.as_str(), &response.queuing) {
        ("Reject", Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.push(FieldError::forbidden(&path, detail));
        }
        ("Queue", None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.push(FieldError::required(&path, detail));
        }
        ("Queue", Some(queuing)) => check_queuing(errors, queuing, &path),
        _ => {}
    }
}

fn check_queuing(errors: &mut Errors, queuing: &QueuingConfiguration, path: &FieldPath) {
    let (queues, hand_size) = (queuing.queues, queuing.hand_size);
    for (name, number) in [
        ("queueLengthLimit", queuing.queue_length_limit),
        ("queues", queues),
    ] {
        if number <= 0 {
            let path = path.child(name);
            errors.push(FieldError::invalid(&path, number, "must be positive"));
        }
    }
    if queues > QUEUES_MAX {
        let detail = format!("must not be greater than {QUEUES_MAX}");
        errors.push(FieldError::invalid(&path.child("queues"), queues, detail));
    }
    let path = path.child("handSize");
    let bits = f64::from(queues.max(1)).log2() * f64::from(hand_size);
    let detail = if hand_size <= 0 {
        "must be positive".to_owned()
    } else if hand_size > queues {
        format!("should not be greater than queues ({queues})")
    } else if bits.ceil() > HASH_BITS_MAX {
        format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be \
             greater than {HASH_BITS_MAX}"
        )
    } else {
        return;
    };
    errors.push(FieldError::invalid(&path, hand_size, detail));
}

fn default_response(response: &mut LimitResponse) {
    if let Some(queuing) = &mut response.queuing {
        fill::number(&mut queuing.hand_size, 8);
        fill::number(&mut queuing.queues, 64);
        fill::number(&mut queuing.queue_length_limit, 50);
    }
}
