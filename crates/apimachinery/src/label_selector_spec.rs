//! `LabelSelector`: a label selector in API objects (`spec.selector`).
//!
//! It is only data; [`Selector`](crate::Selector) matches objects.

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, ListType, Schema};
use crate::{Str, message, schema};
use std::collections::BTreeMap;

/// A label selector: all labels and all expressions must match; an empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// The required labels and values.
    pub match_labels: BTreeMap<Str, Str>,
    /// Further requirements.
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// A requirement on a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelectorRequirement {
    /// The label key.
    pub key: Str,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: Str,
    /// The values of `In` and `NotIn`.
    pub values: Vec<Str>,
}

schema!(pub LABEL_SELECTOR_REQUIREMENT = "LabelSelectorRequirement",
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement", JsonForm::Object, None, [
    Field::new("key", 1, FieldType::Str, F::REQUIRED),
    Field::new("operator", 2, FieldType::Str, F::REQUIRED),
    Field::new("values", 3, FieldType::StrList, F::OMIT_EMPTY).with_list(ListType::Atomic),
]);

schema!(pub LABEL_SELECTOR = "LabelSelector",
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector", JsonForm::Object, None, [
    Field::new("matchLabels", 1, FieldType::StrMap, F::OMIT_EMPTY),
    Field::new("matchExpressions", 2, EXPRESSIONS, F::OMIT_EMPTY).with_list(ListType::Atomic),
], atomic);

const EXPRESSIONS: FieldType = FieldType::MessageList(REQUIREMENT);
const REQUIREMENT: &Schema = &LABEL_SELECTOR_REQUIREMENT;

message!(LabelSelectorRequirement, LABEL_SELECTOR_REQUIREMENT, [0 key, 1 operator, 2 values]);
message!(LabelSelector, LABEL_SELECTOR, [0 match_labels, 1 match_expressions]);
