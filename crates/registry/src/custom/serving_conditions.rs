//! `Serving`: how much of a definition is served, and the conditions that report it. Pure.
//!
//! Several servers write the conditions of one definition, and their room may differ. So a
//! condition that a generation is not served stays until the next generation or the start of a
//! server; otherwise the servers would overwrite each other.

use super::names::{self, ESTABLISHED};
use super::static_texts::Shortage;
use crate::custom::CLEANUP;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus,
};
use kubist_apimachinery::Time;

/// The condition of a definition that is not served in its current state.
const SERVED_AS_DEFINED: &str = "ServedAsDefined";

/// How much of a definition is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// The current definition.
    AsDefined,
    /// The previous definition: there is no room for the change.
    Previous(Shortage),
    /// Nothing: there is no room for the definition.
    Nothing(Shortage),
}

impl Serving {
    /// Sets the conditions of `settled`, which is `stored` with its other status changes. `begins`:
    /// whether the server is starting.
    pub(crate) fn set_conditions(
        self,
        stored: &CustomResourceDefinition,
        settled: &mut CustomResourceDefinition,
        now: Time,
        begins: bool,
    ) {
        let generation = stored.metadata.generation;
        let status = &mut settled.status;
        match self {
            Self::AsDefined => status.conditions.retain(|it| {
                it.type_ != *SERVED_AS_DEFINED || (it.observed_generation == generation && !begins)
            }),
            Self::Previous(shortage) => {
                let message = format!(
                    "{}; the previous definition is served until the server restarts",
                    shortage.message()
                );
                let why = ("NoRoom", message.as_str());
                names::set(status, SERVED_AS_DEFINED, false, why, now);
                let found = find(status, SERVED_AS_DEFINED);
                if let Some(found) = found {
                    found.observed_generation = generation;
                }
            }
            Self::Nothing(shortage) => {
                let message = format!(
                    "{}; the definition is not served until the server restarts",
                    shortage.message()
                );
                // `settle` has set the condition to true although the definition is not served.
                let mut before = stored.status.conditions.iter();
                let before = before.find(|it| it.type_ == *ESTABLISHED && it.status == "False");
                let since = before.and_then(|it| it.last_transition_time).unwrap_or(now);
                let why = ("NoRoom", message.as_str());
                names::set(status, ESTABLISHED, false, why, since);
            }
        }
    }

    /// Logs it for the operator.
    pub(crate) fn log(self, definition: &CustomResourceDefinition) {
        let (Self::Previous(shortage) | Self::Nothing(shortage)) = self else {
            return;
        };
        tracing::warn!(
            definition = %definition.metadata.name,
            generation = definition.metadata.generation,
            why = shortage.message(),
            still_served = matches!(self, Self::Previous(_)),
            "the current definition is not served until this server restarts"
        );
    }
}

fn find<'a>(
    status: &'a mut CustomResourceDefinitionStatus,
    kind: &str,
) -> Option<&'a mut CustomResourceDefinitionCondition> {
    status.conditions.iter_mut().find(|it| it.type_ == *kind)
}

/// Marks a definition whose deletion begins: its objects go first.
pub fn mark(definition: &mut CustomResourceDefinition, now: Time) {
    definition.metadata.deletion_timestamp = Some(now);
    let finalizers = &mut definition.metadata.finalizers;
    if !finalizers.iter().any(|it| it == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    let why = (
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    );
    names::set(&mut definition.status, names::TERMINATING, true, why, now);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(
        serving: Serving,
        stored: &CustomResourceDefinition,
        begins: bool,
    ) -> Vec<String> {
        let mut settled = stored.clone();
        serving.set_conditions(stored, &mut settled, Time::from_unix(9), begins);
        let conditions = settled.status.conditions.iter();
        conditions
            .map(|it| format!("{}={} {}", it.type_, it.status, it.observed_generation))
            .collect()
    }

    #[test]
    fn a_generation_that_is_not_served_is_reported_until_the_next_generation() {
        let mut stored = CustomResourceDefinition::default();
        stored.metadata.generation = 3;
        let short = Serving::Previous(Shortage::Definition);
        assert_eq!(
            conditions(short, &stored, false),
            ["ServedAsDefined=False 3"]
        );
        let before = stored.clone();
        short.set_conditions(&before, &mut stored, Time::from_unix(1), false);
        let again = conditions(Serving::AsDefined, &stored, false);
        assert_eq!(
            again,
            ["ServedAsDefined=False 3"],
            "another server has reported it"
        );
        assert!(conditions(Serving::AsDefined, &stored, true).is_empty());
        stored.metadata.generation = 4;
        assert!(conditions(Serving::AsDefined, &stored, false).is_empty());
    }

    #[test]
    fn an_unserved_definition_keeps_the_transition_time_of_its_condition() {
        let mut stored = CustomResourceDefinition::default();
        let nothing = Serving::Nothing(Shortage::Process);
        let before = stored.clone();
        nothing.set_conditions(&before, &mut stored, Time::from_unix(1), false);
        let mut settled = stored.clone();
        let why = ("InitialNamesAccepted", "");
        names::set(
            &mut settled.status,
            ESTABLISHED,
            true,
            why,
            Time::from_unix(2),
        );
        nothing.set_conditions(&stored, &mut settled, Time::from_unix(2), false);
        assert_eq!(settled.status, stored.status, "there is nothing to write");
    }
}
