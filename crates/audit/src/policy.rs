//! `Policy`: upstream's policy file.

mod file;
mod rule;

use crate::level::{Level, Stage};
use file::{PolicyFile, RuleFile};
use kubist_apimachinery::FieldError;
use kubist_authorization::Attributes;
use kubist_codec::yaml;
use std::fmt;

/// Which requests are recorded, at which level. The first rule that matches a request decides; one
/// that no rule matches is not recorded.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<RuleFile>,
    omit_stages: Vec<Stage>,
    omit_managed_fields: bool,
}

/// How a request is treated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Treatment {
    /// How much is recorded.
    pub level: Level,
    /// Whether the managed fields of objects are left out.
    pub omit_managed_fields: bool,
    omit_stages: Vec<Stage>,
}

impl Treatment {
    /// Reports whether a stage is recorded.
    pub fn records(&self, stage: Stage) -> bool {
        self.level != Level::None && !self.omit_stages.contains(&stage)
    }
}

/// Why a text is not a policy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is not YAML, has unknown fields, or fields of wrong types.
    #[error("it is not a policy: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// It is another kind.
    #[error("it is {found}, and should be Policy of audit.k8s.io/v1")]
    OtherKind {
        /// What it is.
        found: String,
    },
    /// It has no rules, so nothing would be recorded.
    #[error("it has no rules")]
    Empty,
    /// Rules are invalid.
    #[error("{}", Shown(errors))]
    Invalid {
        /// What is wrong, in upstream's words.
        errors: Vec<FieldError>,
    },
}

struct Shown<'a>(&'a [FieldError]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl Policy {
    /// Parses a policy file, in YAML or JSON.
    ///
    /// # Errors
    /// It is not one, or is invalid. Unknown fields are refused: what is written and not obeyed
    /// would be missing from the log.
    pub fn parse(text: &[u8]) -> Result<Self, PolicyError> {
        let malformed = |reason: String| PolicyError::Malformed { reason };
        let documents = yaml::parse_all(text).map_err(|error| malformed(error.to_string()))?;
        let mut documents = documents.into_iter();
        let (Some(document), None) = (documents.next(), documents.next()) else {
            return Err(malformed("expected one document".to_owned()));
        };
        let file: PolicyFile =
            serde_json::from_value(document.value).map_err(|error| malformed(error.to_string()))?;
        if (&*file.api_version, &*file.kind) != ("audit.k8s.io/v1", "Policy") {
            let found = format!("{} of {}", file.kind, file.api_version);
            return Err(PolicyError::OtherKind { found });
        }
        let errors = file.problems();
        if !errors.is_empty() {
            return Err(PolicyError::Invalid { errors });
        }
        if file.rules.is_empty() {
            return Err(PolicyError::Empty);
        }
        let stages = |names: &[String]| -> Vec<Stage> {
            let mut all = Stage::ALL.to_vec();
            all.retain(|it| names.iter().any(|name| name == it.name()));
            all
        };
        Ok(Self {
            omit_stages: stages(&file.omit_stages),
            omit_managed_fields: file.omit_managed_fields,
            rules: file.rules,
        })
    }

    /// Returns how a request is treated.
    pub fn evaluate(&self, request: &Attributes<'_>) -> Treatment {
        let rule = self.rules.iter().find(|it| rule::matches(it, request));
        let Some(rule) = rule else {
            return Treatment::default();
        };
        let omitted = |stage: &Stage| {
            self.omit_stages.contains(stage) || rule.omit_stages.iter().any(|it| it == stage.name())
        };
        Treatment {
            level: rule.level(),
            omit_managed_fields: rule.omit_managed_fields.unwrap_or(self.omit_managed_fields),
            omit_stages: Stage::ALL.into_iter().filter(omitted).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
