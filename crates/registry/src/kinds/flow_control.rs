//! FlowSchemas and PriorityLevelConfigurations. They are kept, and nothing is queued by them.

use crate::{Generation, KindStrategy, StatusKeeps};
use kubist_api::flowcontrol::v1::{FlowSchema, LimitResponse, PriorityLevelConfiguration};
use kubist_apimachinery::FieldError;

use super::{fill, metadata_checks, priority_level_rules};

#[derive(Debug)]
pub(super) struct FlowSchemas;

#[derive(Debug)]
pub(super) struct PriorityLevelConfigurations;

impl KindStrategy for FlowSchemas {
    type Kind = FlowSchema;

    fn apply_defaults(&self, object: &mut FlowSchema) {
        fill::number(&mut object.spec.matching_precedence, 1000);
    }
    fn validate_update(&self, new: &FlowSchema, _: &FlowSchema) -> Vec<FieldError> {
        metadata_checks::whole(self, new)
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}

impl KindStrategy for PriorityLevelConfigurations {
    type Kind = PriorityLevelConfiguration;

    fn apply_defaults(&self, object: &mut PriorityLevelConfiguration) {
        let spec = &mut object.spec;
        if let Some(limited) = &mut spec.limited {
            limited.nominal_concurrency_shares.get_or_insert(30);
            limited.lendable_percent.get_or_insert(0);
            default_response(&mut limited.limit_response);
        }
        if spec.type_ == "Exempt" {
            let exempt = spec.exempt.get_or_insert_default();
            exempt.nominal_concurrency_shares.get_or_insert(0);
            exempt.lendable_percent.get_or_insert(0);
        }
    }
    fn validate(&self, new: &PriorityLevelConfiguration) -> Vec<FieldError> {
        let mut errors = Vec::new();
        priority_level_rules::check(&mut errors, new);
        errors
    }
    fn validate_update(
        &self,
        new: &PriorityLevelConfiguration,
        _: &PriorityLevelConfiguration,
    ) -> Vec<FieldError> {
        let mut errors = metadata_checks::whole(self, new);
        errors.extend(self.validate(new));
        errors
    }
    fn checks_metadata(&self) -> bool {
        true
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}

fn default_response(response: &mut LimitResponse) {
    if let Some(queuing) = &mut response.queuing {
        fill::number(&mut queuing.hand_size, 8);
        fill::number(&mut queuing.queues, 64);
        fill::number(&mut queuing.queue_length_limit, 50);
    }
}
