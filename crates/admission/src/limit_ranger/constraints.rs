//! The rules of limit ranges, with upstream's messages.

use crate::aggregate::aggregate;
use crate::amounts::Amounts;
use crate::pod_resources::{Counting, Side, of_pod};
use kubist_api::core::v1::{LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod};
use kubist_apimachinery::Quantity;

/// The greatest number whose thousandths fit into 64 bits.
const MILLI_MAX: i64 = i64::MAX / 1000;

/// Returns why a Pod violates a limit range, if it does.
pub(super) fn check_pod(range: &LimitRange, pod: &Pod) -> Option<String> {
    let mut errors = Vec::new();
    for limit in &range.spec.limits {
        match limit.type_.as_str() {
            "Container" => {
                let containers = pod.spec.containers.iter();
                for container in containers.chain(&pod.spec.init_containers) {
                    let resources = &container.resources;
                    check(&mut errors, limit, &resources.requests, &resources.limits);
                }
            }
            "Pod" => {
                let requests = of_pod(pod, Side::Requests, Counting::Spec);
                let limits = of_pod(pod, Side::Limits, Counting::Spec);
                check(&mut errors, limit, &requests, &limits);
            }
            _ => {}
        }
    }
    aggregate(&errors)
}

/// Returns why a claim violates a limit range, if it does.
pub(super) fn check_claim(range: &LimitRange, claim: &PersistentVolumeClaim) -> Option<String> {
    let mut errors = Vec::new();
    let requests = &claim.spec.resources.requests;
    let limits = range.spec.limits.iter();
    for limit in limits.filter(|it| it.type_ == "PersistentVolumeClaim") {
        for (name, enforced) in &limit.min {
            let rule = Rule::new(limit, name, enforced);
            errors.extend(rule.min(requests, &Amounts::new()));
        }
        for (name, enforced) in &limit.max {
            errors.extend(Rule::new(limit, name, enforced).max_request(requests));
        }
    }
    aggregate(&errors)
}

fn check(errors: &mut Vec<String>, limit: &LimitRangeItem, requests: &Amounts, limits: &Amounts) {
    for (name, enforced) in &limit.min {
        errors.extend(Rule::new(limit, name, enforced).min(requests, limits));
    }
    for (name, enforced) in &limit.max {
        errors.extend(Rule::new(limit, name, enforced).max(requests, limits));
    }
    for (name, enforced) in &limit.max_limit_request_ratio {
        errors.extend(Rule::new(limit, name, enforced).ratio(requests, limits));
    }
}

/// A bound of one resource.
struct Rule<'a> {
    /// What it bounds, such as `Container`.
    of: &'a str,
    resource: &'a str,
    enforced: &'a Quantity,
}

/// Numbers in a common unit.
struct Numbers {
    request: i64,
    limit: i64,
    enforced: i64,
}

impl<'a> Rule<'a> {
    fn new(limit: &'a LimitRangeItem, resource: &'a str, enforced: &'a Quantity) -> Self {
        Self {
            of: &limit.type_,
            resource,
            enforced,
        }
    }

    /// Returns numbers in thousandths, unless one is too great for that.
    fn numbers(&self, request: Option<&Quantity>, limit: Option<&Quantity>) -> Numbers {
        let whole = |it: Option<&Quantity>| it.map_or(0, Quantity::value);
        let numbers = Numbers {
            request: whole(request),
            limit: whole(limit),
            enforced: self.enforced.value(),
        };
        let values = [numbers.request, numbers.limit, numbers.enforced];
        if values.iter().any(|it| *it > MILLI_MAX) {
            return numbers;
        }
        let milli = |it: Option<&Quantity>| it.map_or(0, Quantity::milli_value);
        Numbers {
            request: milli(request),
            limit: milli(limit),
            enforced: self.enforced.milli_value(),
        }
    }

    /// Returns the beginning of a message about usage.
    fn usage(&self, word: &str) -> String {
        let Self {
            of,
            resource,
            enforced,
        } = self;
        format!("{word} {resource} usage per {of} is {enforced}")
    }

    fn min(&self, requests: &Amounts, limits: &Amounts) -> Option<String> {
        let (request, limit) = (requests.get(self.resource), limits.get(self.resource));
        let usage = || self.usage("minimum");
        let Some(requested) = request else {
            return Some(format!("{}.  No request is specified", usage()));
        };
        let numbers = self.numbers(request, limit);
        if numbers.request < numbers.enforced {
            return Some(format!("{}, but request is {requested}", usage()));
        }
        let limit = limit.filter(|_| numbers.limit < numbers.enforced)?;
        Some(format!("{}, but limit is {limit}", usage()))
    }

    fn max(&self, requests: &Amounts, limits: &Amounts) -> Option<String> {
        let (request, limit) = (requests.get(self.resource), limits.get(self.resource));
        let usage = || self.usage("maximum");
        let Some(limited) = limit else {
            return Some(format!("{}.  No limit is specified", usage()));
        };
        let numbers = self.numbers(request, limit);
        if numbers.limit > numbers.enforced {
            return Some(format!("{}, but limit is {limited}", usage()));
        }
        let request = request.filter(|_| numbers.request > numbers.enforced)?;
        Some(format!("{}, but request is {request}", usage()))
    }

    fn max_request(&self, requests: &Amounts) -> Option<String> {
        let request = requests.get(self.resource);
        let usage = || self.usage("maximum");
        let Some(requested) = request else {
            return Some(format!("{}.  No request is specified", usage()));
        };
        let numbers = self.numbers(request, None);
        (numbers.request > numbers.enforced)
            .then(|| format!("{}, but request is {requested}", usage()))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "upstream compares the same floating-point numbers"
    )]
    fn ratio(&self, requests: &Amounts, limits: &Amounts) -> Option<String> {
        let Self {
            of,
            resource,
            enforced,
        } = self;
        let (request, limit) = (requests.get(*resource), limits.get(*resource));
        let numbers = self.numbers(request, limit);
        let start = format!("{resource} max limit to request ratio per {of} is {enforced}");
        if request.is_none() || numbers.request == 0 {
            return Some(format!(
                "{start}, but no request is specified or request is 0"
            ));
        }
        if limit.is_none() || numbers.limit == 0 {
            return Some(format!("{start}, but no limit is specified or limit is 0"));
        }
        let ratio = numbers.limit as f64 / numbers.request as f64;
        let exceeds = if enforced.value() <= MILLI_MAX {
            ratio * 1000.0 > enforced.milli_value() as f64
        } else {
            ratio > enforced.value() as f64
        };
        exceeds.then(|| format!("{start}, but provided ratio is {ratio:.6}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::Container;

    fn amounts(pairs: &[(&str, &str)]) -> Amounts {
        let made = pairs.iter().map(|(name, amount)| {
            let amount = amount.parse().expect("it is a quantity");
            ((*name).into(), amount)
        });
        made.collect()
    }

    fn container(requests: &[(&str, &str)], limits: &[(&str, &str)]) -> Container {
        let mut container = Container::default();
        container.resources.requests = amounts(requests);
        container.resources.limits = amounts(limits);
        container
    }

    fn range(limit: LimitRangeItem) -> LimitRange {
        let mut range = LimitRange::default();
        range.spec.limits.push(limit);
        range
    }

    fn pod(containers: Vec<Container>) -> Pod {
        let mut pod = Pod::default();
        pod.spec.containers = containers;
        pod
    }

    #[test]
    fn containers_stay_between_minimum_and_maximum() {
        let range = range(LimitRangeItem {
            type_: "Container".into(),
            min: amounts(&[("cpu", "50m")]),
            max: amounts(&[("memory", "1Gi")]),
            ..LimitRangeItem::default()
        });
        let check = |requests: &[(&str, &str)], limits: &[(&str, &str)]| {
            check_pod(&range, &pod(vec![container(requests, limits)]))
        };
        assert_eq!(check(&[("cpu", "50m")], &[("memory", "1Gi")]), None);
        assert_eq!(
            check(&[], &[("memory", "1Gi")]).as_deref(),
            Some("minimum cpu usage per Container is 50m.  No request is specified")
        );
        assert_eq!(
            check(&[("cpu", "49m")], &[]).as_deref(),
            Some(
                "[minimum cpu usage per Container is 50m, but request is 49m, maximum memory \
                 usage per Container is 1Gi.  No limit is specified]"
            )
        );
        assert_eq!(
            check(&[("cpu", "1")], &[("memory", "2Gi"), ("cpu", "10m")]).as_deref(),
            Some(
                "[minimum cpu usage per Container is 50m, but limit is 10m, maximum memory usage \
                 per Container is 1Gi, but limit is 2Gi]"
            )
        );
    }

    #[test]
    fn a_limit_is_at_most_a_multiple_of_the_request() {
        let range = range(LimitRangeItem {
            type_: "Container".into(),
            max_limit_request_ratio: amounts(&[("cpu", "1500m")]),
            ..LimitRangeItem::default()
        });
        let check = |request: &str, limit: &str| {
            let container = container(&[("cpu", request)], &[("cpu", limit)]);
            check_pod(&range, &pod(vec![container]))
        };
        assert_eq!(check("2", "3"), None);
        assert_eq!(
            check("1", "2").as_deref(),
            Some(
                "cpu max limit to request ratio per Container is 1500m, but provided ratio is \
                 2.000000"
            )
        );
        assert_eq!(
            check("0", "2").as_deref(),
            Some(
                "cpu max limit to request ratio per Container is 1500m, but no request is \
                 specified or request is 0"
            )
        );
    }

    #[test]
    fn a_pod_needs_the_most_that_runs_at_once() {
        let range = range(LimitRangeItem {
            type_: "Pod".into(),
            max: amounts(&[("cpu", "2")]),
            ..LimitRangeItem::default()
        });
        let one = || container(&[], &[("cpu", "1")]);
        let mut pod = pod(vec![one(), one()]);
        assert_eq!(check_pod(&range, &pod), None);
        // An init container runs before them, and a sidecar beside them.
        pod.spec
            .init_containers
            .push(container(&[], &[("cpu", "2")]));
        assert_eq!(check_pod(&range, &pod), None);
        pod.spec.init_containers[0].restart_policy = Some("Always".into());
        assert_eq!(
            check_pod(&range, &pod).as_deref(),
            Some("maximum cpu usage per Pod is 2, but limit is 4")
        );
        pod.spec.resources = Some(Box::default());
        if let Some(own) = &mut pod.spec.resources {
            own.limits = amounts(&[("cpu", "1")]);
        }
        assert_eq!(check_pod(&range, &pod), None);
    }

    #[test]
    fn a_claim_requests_no_more_than_allowed() {
        let range = range(LimitRangeItem {
            type_: "PersistentVolumeClaim".into(),
            min: amounts(&[("storage", "1Gi")]),
            max: amounts(&[("storage", "5Gi")]),
            ..LimitRangeItem::default()
        });
        let mut claim = PersistentVolumeClaim::default();
        for (request, expected) in [
            ("1Gi", None),
            (
                "500Mi",
                Some(
                    "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi",
                ),
            ),
            (
                "6Gi",
                Some("maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi"),
            ),
        ] {
            claim.spec.resources.requests = amounts(&[("storage", request)]);
            assert_eq!(check_claim(&range, &claim).as_deref(), expected);
        }
    }
}
