//! ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

use crate::admissionregistration;
use crate::admissionregistration::webhook::Facts;
use crate::shared::fill;
use kubist_api::admissionregistration::v1::{
    MatchCondition, MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kubist_apimachinery::FieldError;
use kubist_registry::{KindStrategy, StrategyFacts};

#[derive(Debug)]
pub(crate) struct ValidatingWebhooks;

#[derive(Debug)]
pub(crate) struct MutatingWebhooks;

/// The default timeout in seconds.
const TIMEOUT: i32 = 10;

/// Applies the defaults that both webhook types share.
macro_rules! default_webhook {
    ($webhook:expr) => {{
        let webhook = $webhook;
        fill::option(&mut webhook.failure_policy, "Fail");
        fill::option(&mut webhook.match_policy, "Equivalent");
        webhook.namespace_selector.get_or_insert_default();
        webhook.object_selector.get_or_insert_default();
        webhook.timeout_seconds.get_or_insert(TIMEOUT);
        if let Some(service) = &mut webhook.client_config.service {
            service.port.get_or_insert(443);
        }
        for rule in &mut webhook.rules {
            fill::option(&mut rule.scope, "*");
        }
    }};
}

macro_rules! facts {
    ($webhook:expr, $old:expr) => {{
        let old: &Old<'_> = $old;
        let webhook = $webhook;
        Facts {
            name: &webhook.name,
            rules: &webhook.rules,
            failure_policy: webhook.failure_policy.as_deref(),
            match_policy: webhook.match_policy.as_deref(),
            side_effects: webhook.side_effects.as_deref(),
            timeout: webhook.timeout_seconds,
            namespaces: webhook.namespace_selector.as_deref(),
            objects: webhook.object_selector.as_deref(),
            client: &webhook.client_config,
            conditions: (!old.is_same).then_some(&webhook.match_conditions),
            known: &old.expressions,
            versions: &webhook.admission_review_versions,
            reinvocation: None,
        }
    }};
}

impl KindStrategy for ValidatingWebhooks {
    type Kind = ValidatingWebhookConfiguration;
    const FACTS: &'static StrategyFacts = super::FACTS;

    fn apply_defaults(&self, object: &mut ValidatingWebhookConfiguration) {
        object
            .webhooks
            .iter_mut()
            .for_each(|webhook| default_webhook!(webhook));
    }
    fn validate(&self, new: &ValidatingWebhookConfiguration) -> Vec<FieldError> {
        check_validating(new, &Old::default())
    }
    fn validate_update(
        &self,
        new: &ValidatingWebhookConfiguration,
        old: &ValidatingWebhookConfiguration,
    ) -> Vec<FieldError> {
        let conditions = |it: &ValidatingWebhookConfiguration| {
            let webhooks = it.webhooks.iter();
            webhooks
                .map(|it| it.match_conditions.clone())
                .collect::<Vec<_>>()
        };
        let (of_new, of_old) = (conditions(new), conditions(old));
        check_validating(new, &Old::of(&of_old, of_new == of_old))
    }
}

impl KindStrategy for MutatingWebhooks {
    type Kind = MutatingWebhookConfiguration;
    const FACTS: &'static StrategyFacts = super::FACTS;

    fn apply_defaults(&self, object: &mut MutatingWebhookConfiguration) {
        for webhook in &mut object.webhooks {
            default_webhook!(&mut *webhook);
            fill::option(&mut webhook.reinvocation_policy, "Never");
        }
    }
    fn validate(&self, new: &MutatingWebhookConfiguration) -> Vec<FieldError> {
        check_mutating(new, &Old::default())
    }
    fn validate_update(
        &self,
        new: &MutatingWebhookConfiguration,
        old: &MutatingWebhookConfiguration,
    ) -> Vec<FieldError> {
        let conditions = |it: &MutatingWebhookConfiguration| {
            let webhooks = it.webhooks.iter();
            webhooks
                .map(|it| it.match_conditions.clone())
                .collect::<Vec<_>>()
        };
        let (of_new, of_old) = (conditions(new), conditions(old));
        check_mutating(new, &Old::of(&of_old, of_new == of_old))
    }
}

/// What the configuration was before an update.
#[derive(Default)]
struct Old<'a> {
    /// The expressions of its match conditions.
    expressions: Vec<&'a str>,
    /// Reports whether all match conditions stay as they were.
    is_same: bool,
}

impl<'a> Old<'a> {
    fn of(conditions: &'a [Vec<MatchCondition>], is_same: bool) -> Self {
        let conditions = conditions.iter().flatten();
        Self {
            expressions: conditions.map(|it| it.expression.trim()).collect(),
            is_same,
        }
    }
}

fn check_validating(new: &ValidatingWebhookConfiguration, old: &Old<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all: Vec<Facts<'_>> = new.webhooks.iter().map(|it| facts!(it, old)).collect();
    admissionregistration::webhook::check_all(&mut errors, &all);
    errors
}

fn check_mutating(new: &MutatingWebhookConfiguration, old: &Old<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all = new.webhooks.iter().map(|webhook| Facts {
        reinvocation: webhook.reinvocation_policy.as_deref(),
        ..facts!(webhook, old)
    });
    admissionregistration::webhook::check_all(&mut errors, &all.collect::<Vec<_>>());
    errors
}
