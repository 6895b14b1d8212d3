//! `Selector` and `LabelSelector` against apimachinery's `labels` and `metav1`: accepted syntax,
//! error texts, canonical form, matches. No differences are expected.

use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::{
    LabelSelector, LabelSelectorRequirement, Selector, Str, format_label_selector,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct Replay {
    sets: Vec<BTreeMap<Str, Str>>,
}

#[derive(Deserialize)]
pub(crate) struct Sets {
    pub(crate) sets: Vec<BTreeMap<Str, Str>>,
}

/// A selector in an object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    match_labels: BTreeMap<Str, Str>,
    #[serde(default)]
    match_expressions: Vec<Expression>,
}

#[derive(Deserialize)]
struct Expression {
    key: Str,
    operator: Str,
    #[serde(default)]
    values: Vec<Str>,
}

impl Spec {
    fn into_selector(self) -> LabelSelector {
        let expressions = self.match_expressions.into_iter();
        LabelSelector {
            match_labels: self.match_labels,
            match_expressions: expressions
                .map(|it| LabelSelectorRequirement {
                    key: it.key,
                    operator: it.operator,
                    values: it.values,
                })
                .collect(),
        }
    }
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let Sets { sets } = Sets::deserialize(config)?;
        Ok(Self { sets })
    }

    fn described(&self, selector: &Selector) -> Value {
        let matches: Vec<bool> = self
            .sets
            .iter()
            .map(|labels| selector.matches_labels(labels))
            .collect();
        let exact: BTreeMap<&str, &str> = ["app", "tier", "in"]
            .into_iter()
            .filter_map(|key| Some((key, selector.exact(key)?)))
            .collect();
        json!({
            "text": selector.to_string(), "matches": matches, "exact": exact,
            "all": selector.is_everything(),
        })
    }
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        Ok(match step.op.as_str() {
            "parse" => match step.input::<String>()?.parse::<Selector>() {
                Ok(selector) => self.described(&selector),
                Err(wrong) => error(wrong),
            },
            "spec" => match Selector::try_from(&step.input::<Spec>()?.into_selector()) {
                Ok(selector) => self.described(&selector),
                Err(wrong) => error(wrong),
            },
            "format" => {
                let spec = step.input::<Spec>()?.into_selector();
                format_label_selector(Some(&spec)).into()
            }
            _ => return step.unknown(),
        })
    }
}
