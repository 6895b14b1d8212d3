//! `Authorizer`: decides what a user may do; the simplest ones, and a chain of several.

use crate::{Attributes, Decision};
use kubist_apimachinery::Str;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A future of any type.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides what a user may do. It is asked about each request, after authentication.
///
/// Dropping the future abandons the decision and changes nothing.
pub trait Authorizer: fmt::Debug + Send + Sync + 'static {
    /// Decides about an action.
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision>;

    /// Says why the rules of a user, which a client may ask for, are not complete where this
    /// authorizer decides; `None` if they are.
    fn unlisted_rules(&self) -> Option<&'static str> {
        Some("the authorizer of this server cannot list rules")
    }
}

/// Allows everything.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct AlwaysAllow;

/// Refuses everything.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct AlwaysDeny;

/// Allows everything to the members of groups, and has no opinion about others.
#[derive(Clone, Debug)]
pub struct PrivilegedGroups(Vec<Str>);

impl PrivilegedGroups {
    /// Returns an authorizer for these groups.
    pub fn new<G: Into<Str>>(groups: impl IntoIterator<Item = G>) -> Self {
        Self(groups.into_iter().map(Into::into).collect())
    }
}

/// Authorizers in their order: the first that allows or refuses decides.
#[derive(Clone, Debug, Default)]
pub struct Chain(Vec<Arc<dyn Authorizer>>);

impl Chain {
    /// Returns a chain of these. An empty one refuses everything.
    pub fn new(authorizers: impl IntoIterator<Item = Arc<dyn Authorizer>>) -> Self {
        Self(authorizers.into_iter().collect())
    }
}

fn ready<'a>(decision: Decision) -> BoxFuture<'a, Decision> {
    Box::pin(std::future::ready(decision))
}

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::Allow(String::new()))
    }

    fn unlisted_rules(&self) -> Option<&'static str> {
        None
    }
}

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::NoOpinion("Everything is forbidden.".to_owned()))
    }

    fn unlisted_rules(&self) -> Option<&'static str> {
        None
    }
}

impl Authorizer for PrivilegedGroups {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let is_member = self.0.iter().any(|it| attributes.user.is_in(it));
        ready(if is_member {
            Decision::Allow(String::new())
        } else {
            Decision::NoOpinion(String::new())
        })
    }
}

impl Authorizer for Chain {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let (mut reasons, mut errors) = (Vec::new(), Vec::new());
            for authorizer in &self.0 {
                match authorizer.authorize(attributes).await {
                    Decision::NoOpinion(reason) => reasons.push(reason),
                    Decision::Failed {
                        denies: false,
                        reason,
                        error,
                    } => {
                        reasons.push(reason);
                        errors.push(error);
                    }
                    decided => return decided,
                }
            }
            reasons.retain(|it| !it.is_empty());
            let reason = reasons.join("\n");
            if errors.is_empty() {
                return Decision::NoOpinion(reason);
            }
            Decision::Failed {
                denies: false,
                reason,
                error: joined(errors),
            }
        })
    }
}

/// Joins errors as upstream: several are in brackets, each once.
fn joined(mut errors: Vec<String>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    errors.retain(|it| seen.insert(it.clone()));
    match &errors[..] {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, MASTERS_GROUP, User};
    use std::task::{Context, Poll, Waker};

    #[derive(Debug)]
    struct Says(Decision);

    impl Authorizer for Says {
        fn authorize<'a>(&'a self, _attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
            ready(self.0.clone())
        }
    }

    fn decide(authorizer: &dyn Authorizer, groups: &[&str]) -> Decision {
        let user = User {
            groups: groups.iter().map(|it| (*it).into()).collect(),
            ..User::default()
        };
        let attributes = Attributes {
            user: &user,
            verb: "get",
            action: Action::Path("/"),
        };
        let mut decision = authorizer.authorize(attributes);
        match decision
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(decision) => decision,
            Poll::Pending => panic!("nothing is awaited"),
        }
    }

    fn chain(says: impl IntoIterator<Item = Decision>) -> Chain {
        Chain::new(
            says.into_iter()
                .map(|it| Arc::new(Says(it)) as Arc<dyn Authorizer>),
        )
    }

    #[test]
    fn the_first_that_allows_or_refuses_decides() {
        let [allow, deny] = [Decision::Allow("a".into()), Decision::Deny("d".into())];
        let pass = || Decision::NoOpinion(String::new());
        let first = chain([pass(), deny.clone(), allow.clone()]);
        assert_eq!(decide(&first, &[]), deny);
        assert_eq!(decide(&chain([allow.clone(), deny]), &[]), allow);
    }

    #[test]
    fn without_a_decision_all_reasons_are_told_and_nothing_is_allowed() {
        let say = |text: &str| Decision::NoOpinion(text.to_owned());
        let all = chain([say("one"), say(""), say("two")]);
        assert_eq!(decide(&all, &[]), say("one\ntwo"));
        assert!(!decide(&Chain::default(), &[]).is_allowed());
    }

    #[test]
    fn a_failure_is_told_unless_another_allows_or_refuses() {
        let fails = |denies| Decision::Failed {
            denies,
            reason: String::new(),
            error: "out of reach".to_owned(),
        };
        let [allow, say] = [
            Decision::Allow("a".into()),
            Decision::NoOpinion("one".into()),
        ];
        assert_eq!(decide(&chain([fails(false), allow.clone()]), &[]), allow);
        assert_eq!(decide(&chain([fails(true), allow]), &[]), fails(true));
        let decided = decide(&chain([fails(false), say, fails(false)]), &[]);
        assert_eq!((decided.reason(), decided.error()), ("one", "out of reach"));
        assert!(!decided.is_allowed() && !decided.is_denied());
    }

    #[test]
    fn masters_may_do_everything() {
        let masters = PrivilegedGroups::new([MASTERS_GROUP]);
        assert!(decide(&masters, &["a", MASTERS_GROUP]).is_allowed());
        assert!(!decide(&masters, &["a"]).is_allowed());
        assert!(!decide(&AlwaysDeny, &[MASTERS_GROUP]).is_allowed());
        assert!(decide(&AlwaysAllow, &[]).is_allowed());
    }
}
