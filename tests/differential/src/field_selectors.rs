//! `FieldSelector` against apimachinery's `fields`: accepted syntax, error texts, canonical form,
//! matches. No differences are expected.

use crate::label_selectors::Sets;
use crate::replayer::{LineError, Replayer, Step, error};
use kubist_apimachinery::{FieldSelector, Str};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct Replay {
    sets: Vec<BTreeMap<Str, Str>>,
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let Sets { sets } = Sets::deserialize(config)?;
        Ok(Self { sets })
    }

    fn described(&self, selector: &FieldSelector) -> Value {
        let matches: Vec<bool> = self
            .sets
            .iter()
            .map(|fields| selector.matches(|field| fields.get(field).map(Str::as_str)))
            .collect();
        let exact: BTreeMap<&str, &str> = ["metadata.name", "spec.nodeName"]
            .into_iter()
            .filter_map(|field| Some((field, selector.exact(field)?)))
            .collect();
        let terms: Vec<String> = selector
            .terms()
            .iter()
            .map(|term| {
                let operator = if term.negated { "!=" } else { "=" };
                format!("{} {operator} {}", term.field, term.value)
            })
            .collect();
        json!({
            "text": selector.to_string(), "matches": matches, "exact": exact, "terms": terms,
            "all": selector.is_everything(),
        })
    }
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        match step.op.as_str() {
            "parse" => Ok(match step.input::<String>()?.parse::<FieldSelector>() {
                Ok(selector) => self.described(&selector),
                Err(wrong) => error(wrong),
            }),
            _ => step.unknown(),
        }
    }
}
