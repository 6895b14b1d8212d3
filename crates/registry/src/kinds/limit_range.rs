//! LimitRanges.

use crate::KindStrategy;
use kubist_api::core::v1::{LimitRange, LimitRangeItem};
use kubist_apimachinery::{FieldError, FieldPath, Quantity, Str};
use std::collections::{BTreeMap, BTreeSet};

use super::resource_rules;
use super::rules::Errors;

#[derive(Debug)]
pub(super) struct LimitRanges;

impl KindStrategy for LimitRanges {
    type Kind = LimitRange;

    fn apply_defaults(&self, object: &mut LimitRange) {
        let of_containers = |item: &&mut LimitRangeItem| item.type_ == "Container";
        for item in object.spec.limits.iter_mut().filter(of_containers) {
            add_missing(&mut item.default, &item.max);
            add_missing(&mut item.default_request, &item.default);
            add_missing(&mut item.default_request, &item.min);
        }
    }
    fn validate(&self, new: &LimitRange) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut kinds = BTreeSet::new();
        for (index, item) in new.spec.limits.iter().enumerate() {
            let path = FieldPath::new("spec").child("limits").index(index);
            if !kinds.insert(&item.type_) {
                errors.push(FieldError::duplicate(&path.child("type"), &item.type_));
            }
            check_item(&mut errors, item, &path);
        }
        errors
    }
    fn allow_create_on_update(&self) -> bool {
        true
    }
}

type Amounts = BTreeMap<Str, Quantity>;

fn add_missing(amounts: &mut Amounts, from: &Amounts) {
    for (name, amount) in from {
        amounts
            .entry(name.clone())
            .or_insert_with(|| amount.clone());
    }
}

fn check_item(errors: &mut Errors, item: &LimitRangeItem, path: &FieldPath) {
    for (name, amounts) in [("max", &item.max), ("min", &item.min)] {
        resource_rules::check_list(errors, amounts, &path.child(name));
    }
    let lists = [&item.max, &item.min, &item.default, &item.default_request];
    let names: BTreeSet<&Str> = lists.iter().flat_map(|list| list.keys()).collect();
    for name in names {
        let [max, min, default, request] = lists.map(|list| list.get(name));
        // Each pair, and what upstream says if the first is greater; the value shown is not
        // always the one that is wrong.
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
            ("default", min, default, min, "min value", "default value"),
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
    }
}
