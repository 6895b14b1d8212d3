//! The subjects of a binding: whom it is about.

use crate::User;
use kubist_api::rbac::v1::Subject;
use kubist_apimachinery::Str;

/// The user names of service accounts begin with this.
const ACCOUNT_PREFIX: &str = "system:serviceaccount:";

/// Whom a subject is about: a name of a user or of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    User(Str),
    Group(Str),
}

impl Who {
    /// Returns whom a subject is about. A service account without a namespace is of that of its
    /// binding; without either, and of unknown kinds, the subject is about nobody.
    pub(crate) fn of(subject: &Subject, namespace: &str) -> Option<Self> {
        Some(match &*subject.kind {
            "User" => Self::User(subject.name.clone()),
            "Group" => Self::Group(subject.name.clone()),
            "ServiceAccount" => {
                let own = &*subject.namespace;
                let namespace = if own.is_empty() { namespace } else { own };
                if namespace.is_empty() {
                    return None;
                }
                let name = format!("{ACCOUNT_PREFIX}{namespace}:{}", subject.name);
                Self::User(name.into())
            }
            _ => return None,
        })
    }

    /// Returns whom a user counts as.
    pub(crate) fn all_of(user: &User) -> impl Iterator<Item = Self> {
        let groups = user.groups.iter().cloned().map(Self::Group);
        std::iter::once(Self::User(user.name.clone())).chain(groups)
    }
}

/// Returns the text of a subject in reasons: `Group "devs"`, `ServiceAccount "robot/shop"`. The
/// namespace is that of the binding.
pub(crate) fn text(subject: &Subject, namespace: &str) -> String {
    if &*subject.kind == "ServiceAccount" {
        let own = &*subject.namespace;
        let namespace = if own.is_empty() { namespace } else { own };
        let name = format!("{}/{namespace}", subject.name);
        return format!("{} {name:?}", subject.kind);
    }
    format!("{} {:?}", subject.kind, &*subject.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(kind: &str, namespace: &str, name: &str) -> Subject {
        Subject {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            ..Subject::default()
        }
    }

    #[test]
    fn a_service_account_is_a_user_of_a_namespace() {
        let robot = Who::User("system:serviceaccount:shop:robot".into());
        let of = |own, binding| Who::of(&subject("ServiceAccount", own, "robot"), binding);
        assert_eq!(of("shop", "other"), Some(robot.clone()));
        assert_eq!(of("", "shop"), Some(robot));
        assert_eq!(of("", ""), None);
    }

    #[test]
    fn a_subject_of_another_kind_is_nobody() {
        assert_eq!(Who::of(&subject("Robot", "n", "r"), "n"), None);
        let user = Who::of(&subject("User", "ignored", "alice"), "");
        assert_eq!(user, Some(Who::User("alice".into())));
    }

    #[test]
    fn reasons_name_the_subject() {
        assert_eq!(text(&subject("Group", "", "devs"), ""), r#"Group "devs""#);
        let robot = text(&subject("ServiceAccount", "shop", "robot"), "");
        assert_eq!(robot, r#"ServiceAccount "robot/shop""#);
    }
}
