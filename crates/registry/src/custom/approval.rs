//! Approval of definitions in protected community groups, by annotation. Pure.

use super::names;
use kubist_api::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionStatus};
use kubist_apimachinery::Time;
use std::collections::BTreeMap;

/// The approval annotation: the URL of the approval, or text that begins with `unapproved`.
pub const ANNOTATION: &str = "api-approved.kubernetes.io";
/// The prefix of the annotation of an unapproved definition.
const UNAPPROVED: &str = "unapproved";
/// The condition that reports the approval of a definition in a protected group.
const CONDITION: &str = "KubernetesAPIApprovalPolicyConformant";
/// The reference to the policy, as in upstream's messages.
const LINK: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// The approval state of a definition, as stated in its annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the annotation has no other states"
)]
pub enum Approval {
    /// The annotation is missing.
    Missing,
    /// The annotation is neither a URL nor text with the required prefix.
    Invalid,
    /// The annotation declares the definition unapproved.
    Bypassed,
    /// The annotation is the URL of an approval.
    Approved,
}

/// Reports whether definitions in a group need an approval.
pub fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        let above = group.strip_suffix(domain);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
}

impl Approval {
    /// Returns the approval state of a definition.
    pub fn of(definition: &CustomResourceDefinition) -> Self {
        match annotation(definition) {
            "" => Self::Missing,
            text if text.starts_with(UNAPPROVED) => Self::Bypassed,
            text if is_url(text) => Self::Approved,
            _ => Self::Invalid,
        }
    }

    /// Returns upstream's message for this state.
    pub fn message(self, definition: &CustomResourceDefinition) -> String {
        let text = annotation(definition);
        match self {
            Self::Missing => {
                format!("protected groups must have approval annotation {ANNOTATION:?}, {LINK}")
            }
            Self::Invalid => format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL \
                 or a reason starting with {UNAPPROVED:?}, {LINK}"
            ),
            Self::Bypassed => format!("not approved: {text:?}"),
            Self::Approved => format!("approved in {text}"),
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Missing => "MissingAnnotation",
            Self::Invalid => "InvalidAnnotation",
            Self::Bypassed => "UnapprovedAnnotation",
            Self::Approved => "ApprovedAnnotation",
        }
    }
}

fn annotation(definition: &CustomResourceDefinition) -> &str {
    let annotations: &BTreeMap<_, _> = &definition.metadata.annotations;
    annotations.get(ANNOTATION).map_or("", |it| it)
}

/// Sets the approval condition of a definition in a protected group; no effect in other groups.
pub(crate) fn set(
    definition: &CustomResourceDefinition,
    status: &mut CustomResourceDefinitionStatus,
    now: Time,
) {
    if !is_protected(&definition.spec.group) {
        return;
    }
    let approval = Approval::of(definition);
    let message = approval.message(definition);
    let approved = approval == Approval::Approved;
    names::set(
        status,
        CONDITION,
        approved,
        (approval.reason(), &message),
        now,
    );
}

/// Reports whether the text is a URL with a scheme and a host.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let mut letters = scheme.chars();
    let scheme = letters.next().is_some_and(|it| it.is_ascii_alphabetic())
        && letters.all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let plain = |it: char| !it.is_ascii_control();
    scheme && !host.is_empty() && !host.contains([' ', '<', '>', '"']) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_communitys_groups_are_protected() {
        for group in ["k8s.io", "kubernetes.io", "a.k8s.io", "a.b.kubernetes.io"] {
            assert!(is_protected(group), "{group}");
        }
        for group in [
            "example.com",
            "ak8s.io",
            "k8s.io.example.com",
            "kubernetes.iox",
        ] {
            assert!(!is_protected(group), "{group}");
        }
    }

    #[test]
    fn approvals_are_urls_and_other_texts_are_not() {
        for (text, expected) in [
            ("", Approval::Missing),
            ("yes", Approval::Invalid),
            ("/pull/1", Approval::Invalid),
            ("https:///pull/1", Approval::Invalid),
            ("1a://host", Approval::Invalid),
            (
                "https://github.com/kubernetes/kubernetes/pull/1",
                Approval::Approved,
            ),
            ("unapproved, experimental-only", Approval::Bypassed),
        ] {
            let mut definition = CustomResourceDefinition::default();
            let annotations = &mut definition.metadata.annotations;
            annotations.insert(ANNOTATION.into(), text.into());
            assert_eq!(Approval::of(&definition), expected, "{text}");
        }
    }
}
