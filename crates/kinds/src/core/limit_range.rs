//! LimitRanges.

use crate::shared::rules::{self, Errors};
use crate::shared::{self, fill};
use kubist_api::core::v1::{LimitRange, LimitRangeItem};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Quantity, Str, validate_name};
use kubist_registry::{KindStrategy, MetadataUpdate, RequestContext, StrategyFacts, uuid_v4};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct LimitRanges;

impl KindStrategy for LimitRanges {
    type Kind = LimitRange;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut LimitRange) {
        for item in &mut object.spec.limits {
            for amounts in [
                &mut item.max,
                &mut item.min,
                &mut item.default,
                &mut item.default_request,
                &mut item.max_limit_request_ratio,
            ] {
                fill::round(amounts);
            }
        }
        let of_containers = |item: &&mut LimitRangeItem| item.type_ == "Container";
        for item in object.spec.limits.iter_mut().filter(of_containers) {
            add_missing(&mut item.default, &item.max);
            add_missing(&mut item.default_request, &item.default);
            add_missing(&mut item.default_request, &item.min);
        }
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut LimitRange) {
        // Upstream generates a name from another random uuid.
        if new.metadata.name.is_empty() {
            new.metadata.name = another_uuid(&new.metadata.uid).into();
        }
    }
    fn validate(&self, new: &LimitRange) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut kinds = BTreeSet::new();
        for (index, item) in new.spec.limits.iter().enumerate() {
            let path = FieldPath::new("spec").child("limits").index(index);
            check_type(&mut errors, &item.type_, &path.child("type"));
            if !kinds.insert(&item.type_) {
                errors.push(FieldError::duplicate(&path.child("type"), &item.type_));
            }
            check_item(&mut errors, item, &path);
        }
        errors
    }
}

/// Returns a uuid made from the reversed digits of another uuid.
fn another_uuid(uuid: &str) -> String {
    let mut digits = uuid.chars().rev().filter_map(|it| it.to_digit(16));
    let mut half = || {
        let digits = digits.by_ref().take(16);
        digits.fold(0_u64, |bits, digit| (bits << 4) | u64::from(digit))
    };
    let (high, low) = (half(), half());
    uuid_v4(high, low)
}

type Amounts = BTreeMap<Str, Quantity>;

fn add_missing(amounts: &mut Amounts, from: &Amounts) {
    for (name, amount) in from {
        amounts
            .entry(name.clone())
            .or_insert_with(|| amount.clone());
    }
}

fn check_type(errors: &mut Errors, name: &str, path: &FieldPath) {
    let before = errors.len();
    rules::typed(errors, name, path, validate_name::qualified_name);
    let is_standard = matches!(name, "Pod" | "Container" | "PersistentVolumeClaim");
    if errors.len() == before && !name.contains('/') && !is_standard {
        let detail = "must be a standard limit type or fully qualified";
        errors.push(FieldError::invalid(path, BadValue::json(name), detail));
    }
}

/// Checks that limited resources are known resources.
fn check_names(errors: &mut Errors, item: &LimitRangeItem, amounts: &Amounts, path: &FieldPath) {
    let of_containers = matches!(item.type_.as_str(), "Pod" | "Container");
    for name in amounts.keys() {
        let path = path.key(name);
        if of_containers {
            shared::resources::check_container_name(errors, name, &path);
        } else {
            shared::resources::check_any_name(errors, name, &path);
        }
    }
}

fn check_item(errors: &mut Errors, item: &LimitRangeItem, path: &FieldPath) {
    for (name, amounts) in [("max", &item.max), ("min", &item.min)] {
        check_names(errors, item, amounts, &path.child(name));
    }
    let of_pods = item.type_ == "Pod";
    for (name, amounts) in [
        ("default", &item.default),
        ("defaultRequest", &item.default_request),
    ] {
        let path = path.child(name);
        if !of_pods {
            check_names(errors, item, amounts, &path);
        } else if !amounts.is_empty() {
            let detail = "may not be specified when `type` is 'Pod'";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    let sizes = [&item.min, &item.max];
    let has_size = sizes.iter().any(|amounts| amounts.contains_key("storage"));
    if item.type_ == "PersistentVolumeClaim" && !has_size {
        let detail =
            "either minimum or maximum storage value is required, but neither was provided";
        errors.push(FieldError::required(&path.child("limits"), detail));
    }
    let ratios = path.child("maxLimitRequestRatio");
    check_names(errors, item, &item.max_limit_request_ratio, &ratios);
    check_amounts(errors, item, path);
}

fn check_amounts(errors: &mut Errors, item: &LimitRangeItem, path: &FieldPath) {
    let none = Amounts::new();
    // Defaults of Pod limits were rejected above.
    let (default, default_request) = match item.type_.as_str() {
        "Pod" => (&none, &none),
        _ => (&item.default, &item.default_request),
    };
    let lists = [&item.max, &item.min, default, default_request];
    let all = lists.iter().flat_map(|list| list.keys());
    let names: BTreeSet<&Str> = all.chain(item.max_limit_request_ratio.keys()).collect();
    for name in names {
        let [max, min, default, request] = lists.map(|list| list.get(name));
        // Each pair, with upstream's error text for a first value that is greater. The reported
        // value is not always the invalid one.
        let rules = [
            ("min", min, max, min, "min value", "max value"),
            (
                "defaultRequest",
                min,
                request,
                request,
                "min value",
                "default request value",
            ),
            (
                "defaultRequest",
                request,
                max,
                request,
                "default request value",
                "max value",
            ),
            (
                "defaultRequest",
                request,
                default,
                request,
                "default request value",
                "default limit value",
            ),
            ("default", min, default, min, "min value", "default value"),
            ("default", default, max, max, "default value", "max value"),
        ];
        for (field, less, more, shown, less_name, more_name) in rules {
            let (Some(less), Some(more), Some(shown)) = (less, more, shown) else {
                continue;
            };
            if less > more {
                let detail = format!("{less_name} {less} is greater than {more_name} {more}");
                let path = path.child(field).key(name);
                errors.push(FieldError::invalid(&path, shown.text(), detail));
            }
        }
        check_ratio(errors, item, name, path);
        if let (Some(default), Some(request)) = (default, request)
            && shared::resources::is_exact(name)
            && default != request
        {
            let detail = format!(
                "default value {default} must equal to defaultRequest value {request} in {name}"
            );
            let path = path.child("defaultRequest").key(name);
            errors.push(FieldError::invalid(&path, request.text(), detail));
        }
    }
}

/// Checks the maximum limit-to-request ratio: at least 1, and not above the ratio that the other
/// limits permit.
fn check_ratio(errors: &mut Errors, item: &LimitRangeItem, name: &Str, path: &FieldPath) {
    let Some(ratio) = item.max_limit_request_ratio.get(name) else {
        return;
    };
    let path = path.child("maxLimitRequestRatio").key(name);
    if ratio.milli_value() < 1000 {
        let detail = format!("ratio {ratio} is less than 1");
        errors.push(FieldError::invalid(&path, ratio.text(), detail));
    }
    if let (Some(min), Some(max)) = (item.min.get(name), item.max.get(name)) {
        let most = number(max) / number(min);
        if number(ratio) > most {
            let detail = format!("ratio {ratio} is greater than max/min = {most:.6}");
            errors.push(FieldError::invalid(&path, ratio.text(), detail));
        }
    }
}

/// Compares as upstream: an amount divided by zero exceeds every bound.
#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio of amounts is no exact number"
)]
fn number(amount: &Quantity) -> f64 {
    amount.milli_value() as f64 / 1000.0
}
