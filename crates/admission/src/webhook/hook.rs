//! `Hook`: one webhook of a configuration, compiled.

use super::endpoint::Endpoint;
use crate::expressions::Conditions;
use crate::matching::Criteria;
use kubist_api::admissionregistration::v1::{MutatingWebhook, ValidatingWebhook};
use kubist_apimachinery::Str;
use std::time::Duration;

/// The time limit of a call, unless the webhook has its own, as upstream.
const TIMEOUT: i32 = 10;

/// A webhook.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: Str,
    /// The name of its configuration.
    pub(super) configuration: Str,
    /// Identifies it among all webhooks of its kind.
    pub(super) id: Str,
    pub(super) criteria: Criteria,
    pub(super) conditions: Conditions,
    /// Reports whether a call that fails lets the request pass.
    pub(super) fails_open: bool,
    pub(super) side_effects: SideEffects,
    pub(super) timeout: Duration,
    /// The version of reviews that it is sent; none if it knows none of this server's.
    pub(super) review: Option<ReviewVersion>,
    pub(super) endpoint: Endpoint,
    /// Reports whether it is called again if the object changes after its call.
    pub(super) is_reinvoked: bool,
}

/// Whether a webhook has side effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SideEffects {
    /// It has none, or none on a dry run.
    NoneOnDryRun,
    /// It may have some.
    Some,
    /// It does not say.
    Unknown,
}

/// A version of reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReviewVersion {
    V1,
    V1beta1,
}

impl ReviewVersion {
    /// Returns the first of these versions that this server knows.
    fn first_known(accepted: &[Str]) -> Option<Self> {
        accepted.iter().find_map(|it| match it.as_str() {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1beta1),
            _ => None,
        })
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1beta1 => "v1beta1",
        }
    }
}

impl SideEffects {
    fn of(text: Option<&str>) -> Self {
        match text {
            None => Self::Unknown,
            Some("None" | "NoneOnDryRun") => Self::NoneOnDryRun,
            Some(_) => Self::Some,
        }
    }
}

/// Compiles a webhook of either kind: their fields have the same names.
macro_rules! hook {
    ($webhook:expr, $configuration:expr, $id:expr, $is_reinvoked:expr) => {{
        let webhook = $webhook;
        let fails_open = webhook.failure_policy.as_deref() == Some("Ignore");
        Hook {
            name: webhook.name.clone(),
            configuration: $configuration.into(),
            id: $id.into(),
            criteria: Criteria::of_webhook(
                &webhook.rules,
                webhook.match_policy.as_deref(),
                webhook.namespace_selector.as_deref(),
                webhook.object_selector.as_deref(),
            ),
            conditions: Conditions::of_webhook(&webhook.match_conditions, fails_open),
            fails_open,
            side_effects: SideEffects::of(webhook.side_effects.as_deref()),
            timeout: seconds(webhook.timeout_seconds),
            review: ReviewVersion::first_known(&webhook.admission_review_versions),
            endpoint: Endpoint::of(&webhook.client_config),
            is_reinvoked: $is_reinvoked,
        }
    }};
}

impl Hook {
    pub(super) fn validating(of: &ValidatingWebhook, configuration: &str, id: &str) -> Self {
        hook!(of, configuration, id, false)
    }

    pub(super) fn mutating(of: &MutatingWebhook, configuration: &str, id: &str) -> Self {
        let is_reinvoked = of.reinvocation_policy.as_deref() == Some("IfNeeded");
        hook!(of, configuration, id, is_reinvoked)
    }
}

fn seconds(timeout: Option<i32>) -> Duration {
    let seconds = timeout.unwrap_or(TIMEOUT);
    Duration::from_secs(u64::try_from(seconds).unwrap_or(1).max(1))
}
