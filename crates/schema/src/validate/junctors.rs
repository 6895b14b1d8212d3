//! `anyOf`, `oneOf`, `allOf` and `not`.
//!
//! Of the alternatives that fail, the one in which most checks passed is reported, as by upstream.

use super::Validator;
use super::location::At;
use super::outcome::Outcome;
use crate::schema::{Junctors, Schema};
use kubist_apimachinery::go_text::quote;
use serde_json::Value;
use std::sync::Arc;

impl Validator<'_> {
    pub(super) fn junctors(
        &mut self,
        out: &mut Outcome,
        value: &Value,
        junctors: &Junctors,
        at: At<'_>,
    ) {
        if !junctors.any_of.is_empty() {
            self.any_of(out, value, &junctors.any_of, at);
        }
        if !junctors.one_of.is_empty() {
            self.one_of(out, value, &junctors.one_of, at);
        }
        if !junctors.all_of.is_empty() {
            self.all_of(out, value, &junctors.all_of, at);
        }
        if let Some(schema) = &junctors.not {
            let part = self.value(value, schema, at, None);
            if part.is_valid() {
                self.fail_plainly(out, || {
                    format!("{} must not validate the schema (not)", quote(&at.text()))
                });
            }
            self.drop_errors(part);
        }
    }

    fn any_of(&mut self, out: &mut Outcome, value: &Value, all: &[Arc<Schema>], at: At<'_>) {
        let mut best = None;
        for schema in all {
            let part = self.value(value, schema, at, None);
            if part.is_valid() {
                if let Some(best) = best.replace(part) {
                    self.drop_errors(best);
                }
                break;
            }
            self.keep_better(&mut best, part);
        }
        let Some(best) = best else {
            return;
        };
        if !best.is_valid() {
            self.fail_plainly(out, || {
                let name = quote(&at.text());
                format!("{name} must validate at least one schema (anyOf)")
            });
        }
        self.merge(out, best);
    }

    fn one_of(&mut self, out: &mut Outcome, value: &Value, all: &[Arc<Schema>], at: At<'_>) {
        let (mut best, mut success, mut count) = (None, None, 0_usize);
        for schema in all {
            let part = self.value(value, schema, at, None);
            if part.is_valid() {
                count += 1;
                if let Some(best) = best.take() {
                    self.drop_errors(best);
                }
                success.get_or_insert(part);
            } else if count == 0 {
                self.keep_better(&mut best, part);
            } else {
                self.drop_errors(part);
            }
        }
        if count == 1 {
            if let Some(success) = success {
                self.merge(out, success);
            }
            return;
        }
        self.fail_plainly(out, || {
            let found = match count {
                0 => "Found none valid".to_owned(),
                count => format!("Found {count} valid alternatives"),
            };
            let name = quote(&at.text());
            format!("{name} must validate one and only one schema (oneOf). {found}")
        });
        if let Some(best) = best {
            self.merge(out, best);
        }
    }

    fn all_of(&mut self, out: &mut Outcome, value: &Value, all: &[Arc<Schema>], at: At<'_>) {
        let mut count = 0;
        for schema in all {
            let part = self.value(value, schema, at, None);
            count += usize::from(part.is_valid());
            self.merge(out, part);
        }
        if count < all.len() {
            self.fail_plainly(out, || {
                let none = if count == 0 { ". None validated" } else { "" };
                let name = quote(&at.text());
                format!("{name} must validate all the schemas (allOf){none}")
            });
        }
    }

    fn keep_better(&mut self, best: &mut Option<Outcome>, part: Outcome) {
        let dropped = match best {
            Some(best) if part.matched <= best.matched => part,
            _ => match best.replace(part) {
                Some(before) => before,
                None => return,
            },
        };
        self.drop_errors(dropped);
    }
}
