//! ServiceCIDRs: address ranges for Services.

use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::networking::v1::{ServiceCIDR, ServiceCIDRSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Str};
use kubist_registry::{KindStrategy, StatusKeeps, StrategyFacts};
use serde::Serialize;

#[derive(Debug)]
pub(crate) struct ServiceCidrs;

/// The spec as error messages show it.
#[derive(Serialize)]
struct ShownSpec<'a> {
    #[serde(rename = "CIDRs")]
    cidrs: &'a [Str],
}

const IMMUTABLE: &str = "field is immutable";

impl KindStrategy for ServiceCidrs {
    type Kind = ServiceCIDR;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Most,
        ..StrategyFacts::PLAIN
    };

    fn validate(&self, new: &ServiceCIDR) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, &new.spec);
        errors
    }
    fn validate_update(&self, new: &ServiceCIDR, old: &ServiceCIDR) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec").child("cidrs");
        let (now, before) = (&new.spec.cidrs, &old.spec.cidrs);
        let changed = |it: &(usize, (&Str, &Str))| it.1.0 != it.1.1;
        match (before.len(), now.len()) {
            (before_count, count) if before_count == count || (before_count, count) == (1, 2) => {
                let pairs = now.iter().zip(before).enumerate();
                for (index, (now, _)) in pairs.filter(changed) {
                    errors.push(FieldError::invalid(&path.index(index), now, IMMUTABLE));
                }
                // A range of the second IP family may be added later.
                if before_count != count {
                    check(&mut errors, &new.spec);
                }
            }
            _ => {
                let shown = rules::list(now);
                errors.push(FieldError::invalid(&path, shown, IMMUTABLE));
            }
        }
        errors
    }
}

fn check(errors: &mut Errors, spec: &ServiceCIDRSpec) {
    let path = FieldPath::new("spec").child("cidrs");
    match spec.cidrs.len() {
        0 => errors.push(FieldError::required(&path, "at least one CIDR required")),
        1 | 2 => {
            let ranges = spec.cidrs.iter().enumerate();
            let parsed: Vec<_> = ranges
                .filter_map(|(index, text)| {
                    shared::addresses::canonical_cidr(errors, text, &path.index(index))
                })
                .collect();
            if let [(first, _), (second, _)] = parsed[..]
                && first.is_ipv4() == second.is_ipv4()
            {
                let detail = "may specify no more than one IP for each IP family, i.e \
                              192.168.0.0/24 and 2001:db8::/64";
                let shown = rules::list(&spec.cidrs);
                errors.push(FieldError::invalid(&path, shown, detail));
            }
        }
        _ => {
            let detail = "may only hold up to 2 values";
            let shown = BadValue::json(&ShownSpec { cidrs: &spec.cidrs });
            errors.push(FieldError::invalid(&path, shown, detail));
        }
    }
}
