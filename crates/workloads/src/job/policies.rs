//! The policies of a Job: which failed Pods count, and which indexes are enough.

use super::indexes::Indexes;
use kubist_api::batch::v1::{
    PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule, SuccessPolicy,
};
use kubist_api::core::v1::{ContainerStatus, Pod};

/// What a failed Pod means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is a failure like others.
    Counts,
    /// It is replaced and does not count.
    Ignored,
    /// Its index is not tried again.
    FailsIndex,
    /// The Job fails, with this message.
    FailsJob(String),
}

/// Judges a failed Pod by the first rule that matches it.
pub(super) fn judge(policy: Option<&PodFailurePolicy>, pod: &Pod) -> Verdict {
    let rules = policy.map(|it| it.rules.as_slice()).unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let Some(what) = matched(rule, pod) else {
            continue;
        };
        match rule.action.as_str() {
            "Ignore" => return Verdict::Ignored,
            "FailIndex" => return Verdict::FailsIndex,
            "Count" => return Verdict::Counts,
            "FailJob" => {
                let message = format!("{what} matching FailJob rule at index {index}");
                return Verdict::FailsJob(message);
            }
            _ => {}
        }
    }
    Verdict::Counts
}

/// Describes what of the Pod matches the rule.
fn matched(rule: &PodFailurePolicyRule, pod: &Pod) -> Option<String> {
    let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
    if let Some(codes) = &rule.on_exit_codes {
        let statuses = &pod.status.container_statuses;
        let mut all = statuses.iter().chain(&pod.status.init_container_statuses);
        let (container, code) = all.find_map(|it| Some((&it.name, matching_code(codes, it)?)))?;
        return Some(format!(
            "Container {container} for pod {namespace}/{name} failed with exit code {code}"
        ));
    }
    let mut conditions = pod.status.conditions.iter();
    let condition = conditions.find(|it| {
        let mut patterns = rule.on_pod_conditions.iter();
        patterns.any(|pattern| pattern.type_ == it.type_ && pattern.status == it.status)
    })?;
    let type_ = &condition.type_;
    Some(format!("Pod {namespace}/{name} has condition {type_}"))
}

fn matching_code(
    rule: &PodFailurePolicyOnExitCodesRequirement,
    status: &ContainerStatus,
) -> Option<i32> {
    let code = status.state.terminated.as_ref()?.exit_code;
    let is_meant = rule
        .container_name
        .as_ref()
        .is_none_or(|it| *it == status.name);
    let matches = match rule.operator.as_str() {
        "In" => rule.values.contains(&code),
        "NotIn" => !rule.values.contains(&code),
        _ => false,
    };
    (is_meant && code != 0 && matches).then_some(code)
}

/// Returns the message of the first rule that the succeeded indexes fulfil.
pub(super) fn success(
    policy: Option<&SuccessPolicy>,
    completions: i32,
    succeeded: &Indexes,
) -> Option<String> {
    if succeeded.is_empty() {
        return None;
    }
    let is_met = |rule: &kubist_api::batch::v1::SuccessPolicyRule| {
        let enough = |count: i32| rule.succeeded_count.is_some_and(|it| count >= it);
        let Some(required) = &rule.succeeded_indexes else {
            return enough(succeeded.total());
        };
        let required = Indexes::parse(required, completions);
        let common = required.common(succeeded);
        !required.is_empty() && (common == required.total() || enough(common))
    };
    let index = policy?.rules.iter().position(is_met)?;
    Some(format!("Matched rules at index {index}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::batch::v1::{PodFailurePolicyOnPodConditionsPattern, SuccessPolicyRule};
    use kubist_api::core::v1::{ContainerStateTerminated, PodCondition};

    fn failed(container: &str, code: i32) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.namespace = "shop".into();
        pod.metadata.name = "p".into();
        let mut status = ContainerStatus {
            name: container.into(),
            ..ContainerStatus::default()
        };
        status.state.terminated = Some(Box::new(ContainerStateTerminated {
            exit_code: code,
            ..ContainerStateTerminated::default()
        }));
        pod.status.container_statuses = vec![status];
        pod
    }

    fn rule(action: &str, container: Option<&str>, operator: &str) -> PodFailurePolicyRule {
        let codes = PodFailurePolicyOnExitCodesRequirement {
            container_name: container.map(Into::into),
            operator: operator.into(),
            values: vec![3, 4],
        };
        PodFailurePolicyRule {
            action: action.into(),
            on_exit_codes: Some(Box::new(codes)),
            ..PodFailurePolicyRule::default()
        }
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = PodFailurePolicy {
            rules: vec![
                rule("Ignore", Some("main"), "In"),
                rule("FailIndex", Some("side"), "In"),
                PodFailurePolicyRule {
                    action: "Ignore".into(),
                    on_pod_conditions: vec![PodFailurePolicyOnPodConditionsPattern {
                        type_: "DisruptionTarget".into(),
                        status: "True".into(),
                    }],
                    ..PodFailurePolicyRule::default()
                },
                rule("FailJob", None, "NotIn"),
            ],
        };
        let judged = |pod: &Pod| judge(Some(&policy), pod);
        assert_eq!(judged(&failed("main", 3)), Verdict::Ignored);
        assert_eq!(judged(&failed("side", 4)), Verdict::FailsIndex);
        assert_eq!(judged(&failed("other", 4)), Verdict::Counts);
        let message = "Container main for pod shop/p failed with exit code 7 matching FailJob \
                       rule at index 3";
        assert_eq!(
            judged(&failed("main", 7)),
            Verdict::FailsJob(message.into())
        );
        assert_eq!(judge(None, &failed("main", 7)), Verdict::Counts);
        assert_eq!(judged(&failed("main", 0)), Verdict::Counts, "no failure");
        let mut evicted = failed("main", 7);
        evicted.status.conditions.push(PodCondition {
            type_: "DisruptionTarget".into(),
            status: "True".into(),
            ..PodCondition::default()
        });
        assert_eq!(judged(&evicted), Verdict::Ignored);
    }

    #[test]
    fn indexes_or_their_number_are_enough() {
        let rule = |indexes: Option<&str>, count| SuccessPolicyRule {
            succeeded_indexes: indexes.map(Into::into),
            succeeded_count: count,
        };
        let policy = SuccessPolicy {
            rules: vec![
                rule(Some("0,2"), None),
                rule(Some("5-8"), Some(2)),
                rule(None, Some(5)),
            ],
        };
        for (succeeded, met) in [
            ("", None),
            ("0,1", None),
            ("0-2", Some(0)),
            ("5,8", Some(1)),
            ("1,3,4,5,9", Some(2)),
        ] {
            let found = success(Some(&policy), 10, &Indexes::parse(succeeded, 10));
            let expected = met.map(|it| format!("Matched rules at index {it}"));
            assert_eq!(found, expected, "{succeeded}");
        }
        assert_eq!(success(None, 10, &Indexes::parse("0", 10)), None);
    }
}
