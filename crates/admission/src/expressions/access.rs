//! `AccessQuestions`: what expressions ask the authorizer, and its answers.
//!
//! An evaluation does not wait. It notes what it needs to know and goes on with a refusal; the
//! caller then [settles](AccessQuestions::settle) the questions and evaluates once more. An answer
//! is kept for the rest of the request, as upstream does.

use kubist_apimachinery::{FieldSelector, Selector};
use kubist_authorization::{Action, Attributes, Authorizer, ResourceAction, User};
use kubist_cel::{AccessDecision, AccessRequest};
use parking_lot::Mutex;
use std::sync::Arc;

/// The maximum of different questions of one request. What is asked beyond them is refused.
const QUESTIONS_MAX: usize = 1000;

/// The questions of one request. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessQuestions {
    user: Arc<User>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    answered: Vec<(AccessRequest, AccessDecision)>,
    open: Vec<AccessRequest>,
}

impl AccessQuestions {
    /// Returns no questions, about what this user may do.
    pub(crate) fn new(user: &User) -> Self {
        Self {
            user: Arc::new(user.clone()),
            state: Arc::default(),
        }
    }

    /// Answers the open questions. Reports whether there were any: then what was evaluated is to
    /// be evaluated again.
    ///
    /// Cancel safe: questions stay open.
    pub(crate) async fn settle(&self, authorizer: &dyn Authorizer) -> bool {
        let open = self.state.lock().open.clone();
        for request in &open {
            let decision = decide(authorizer, &self.user, request).await;
            let mut state = self.state.lock();
            state.open.retain(|it| it != request);
            state.answered.push((request.clone(), decision));
        }
        !open.is_empty()
    }
}

impl kubist_cel::Authorizer for AccessQuestions {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        let mut state = self.state.lock();
        let mut answered = state.answered.iter();
        if let Some((_, decision)) = answered.find(|it| it.0 == *request) {
            return decision.clone();
        }
        if state.answered.len() + state.open.len() >= QUESTIONS_MAX {
            return AccessDecision {
                error: Some("too many authorization checks in one request".to_owned()),
                ..AccessDecision::default()
            };
        }
        if !state.open.contains(request) {
            state.open.push(request.clone());
        }
        AccessDecision::default()
    }
}

async fn decide(
    authorizer: &dyn Authorizer,
    user: &User,
    request: &AccessRequest,
) -> AccessDecision {
    let account = request.service_account.as_ref();
    let account = account.map(|(namespace, name)| service_account(namespace, name));
    // As upstream, a selector that cannot be parsed limits nothing.
    let selected = |text: &str| !text.is_empty();
    let fields = Some(&request.field_selector).filter(|it| selected(it));
    let fields: Option<FieldSelector> = fields.and_then(|it| it.parse().ok());
    let labels = Some(&request.label_selector).filter(|it| selected(it));
    let labels: Option<Selector> = labels.and_then(|it| it.parse().ok());
    let action = match &request.path {
        Some(path) => Action::Path(path),
        None => Action::Resource(ResourceAction {
            group: &request.group,
            version: "*",
            resource: &request.resource,
            subresource: &request.subresource,
            namespace: &request.namespace,
            name: &request.name,
            fields: fields.as_ref(),
            labels: labels.as_ref(),
        }),
    };
    let decision = authorizer.authorize(Attributes {
        user: account.as_ref().unwrap_or(user),
        verb: &request.verb,
        action,
    });
    let decision = decision.await;
    AccessDecision {
        allowed: decision.is_allowed(),
        reason: decision.reason().to_owned(),
        error: None,
    }
}

/// Returns a service account as a user, as upstream names it.
fn service_account(namespace: &str, name: &str) -> User {
    User {
        name: format!("system:serviceaccount:{namespace}:{name}").into(),
        groups: vec![
            "system:serviceaccounts".into(),
            format!("system:serviceaccounts:{namespace}").into(),
            "system:authenticated".into(),
        ],
        ..User::default()
    }
}
