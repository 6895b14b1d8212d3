//! [`Authorizer`]: what expressions ask whether a user may do something.
//!
//! The library only collects what is asked. Whoever evaluates an expression binds an authorizer,
//! which decides.

use super::{Library, costs};
use crate::cel_type::Type;
use crate::cost::{
    CallCost, CallEstimate, CostEstimate, LIST_CREATION, MESSAGE_CREATION, Operands, SizeEstimate,
};
use crate::error::EvalError;
use crate::function::{Function, Implementation};
use crate::value::{Opaque, OpaqueValue, Value};
use kubist_apimachinery::validate_name as names;
use std::fmt::Debug;
use std::sync::Arc;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The cost of a check, which allows two checks in an expression.
const CHECK: u64 = 350_000;

/// Decides what a user may do.
pub trait Authorizer: Debug + Send + Sync {
    /// Decides about a request.
    fn authorize(&self, request: &AccessRequest) -> AccessDecision;
}

/// What an expression asks about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessRequest {
    /// The namespace and the name of the service account that replaces the user, if any.
    pub service_account: Option<(String, String)>,
    /// The verb.
    pub verb: String,
    /// The path; none for a resource.
    pub path: Option<String>,
    /// The API group.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The object name.
    pub name: String,
    /// The field selector, not parsed.
    pub field_selector: String,
    /// The label selector, not parsed.
    pub label_selector: String,
}

/// An authorizer's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "authorizers create it")]
pub struct AccessDecision {
    /// Reports whether the request is allowed.
    pub allowed: bool,
    /// Why.
    pub reason: String,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// The type of `authorizer`.
pub fn authorizer_type() -> Type {
    Type::object(Stage::User.name())
}

/// The type of `authorizer.requestResource`.
pub fn resource_check_type() -> Type {
    Type::object(Stage::Resource.name())
}

/// Returns the value of `authorizer`.
pub fn authorizer_value<'a>(authorizer: Arc<dyn Authorizer>) -> Value<'a> {
    Check {
        authorizer,
        stage: Stage::User,
        request: AccessRequest::default(),
    }
    .value()
}

/// Returns the value of `authorizer.requestResource`, which asks about the resource of a request.
pub fn resource_check_value<'a>(
    authorizer: Arc<dyn Authorizer>,
    request: AccessRequest,
) -> Value<'a> {
    Check {
        authorizer,
        stage: Stage::Resource,
        request,
    }
    .value()
}

/// How complete a request is. Each stage has a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    User,
    Path,
    Group,
    Resource,
}

impl Stage {
    const fn name(self) -> &'static str {
        match self {
            Self::User => "kubernetes.authorization.Authorizer",
            Self::Path => "kubernetes.authorization.PathCheck",
            Self::Group => "kubernetes.authorization.GroupCheck",
            Self::Resource => "kubernetes.authorization.ResourceCheck",
        }
    }
}

/// A request that is being composed.
#[derive(Debug, Clone)]
struct Check {
    authorizer: Arc<dyn Authorizer>,
    stage: Stage,
    request: AccessRequest,
}

impl Check {
    fn value<'a>(self) -> Value<'a> {
        Value::Opaque(Opaque::new(self))
    }
}

impl OpaqueValue for Check {
    fn runtime_type(&self) -> Type {
        Type::object(self.stage.name())
    }

    fn equals(&self, _: &dyn OpaqueValue) -> Result<bool, EvalError> {
        Err(EvalError::no_such_overload())
    }
}

impl OpaqueValue for AccessDecision {
    fn runtime_type(&self) -> Type {
        Type::object("kubernetes.authorization.Decision")
    }

    fn equals(&self, _: &dyn OpaqueValue) -> Result<bool, EvalError> {
        Err(EvalError::no_such_overload())
    }
}

/// Changes the request that is the target.
fn composed<'a>(
    arguments: &[Value<'a>],
    stage: Stage,
    change: fn(&mut AccessRequest, &str),
) -> Outcome<'a> {
    let [Value::Opaque(check), Value::String(text)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let check: &Check = check.downcast().ok_or_else(EvalError::no_such_overload)?;
    let mut check = check.clone();
    check.stage = stage;
    change(&mut check.request, text.as_str());
    Ok(check.value())
}

/// Fails if the second argument is blank.
fn not_blank(arguments: &[Value<'_>], what: &'static str) -> Result<(), EvalError> {
    let text = arguments.get(1).and_then(Value::as_str);
    if text.is_some_and(|it| it.trim().is_empty()) {
        return Err(EvalError::failed(format!("{what} must not be empty")));
    }
    Ok(())
}

fn service_account<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [
        Value::Opaque(check),
        Value::String(namespace),
        Value::String(name),
    ] = arguments
    else {
        return Err(EvalError::no_such_overload());
    };
    if !names::dns1123_subdomain(name.as_str()).is_empty() {
        return Err(EvalError::failed("Invalid service account name"));
    }
    if !names::dns1123_label(namespace.as_str()).is_empty() {
        return Err(EvalError::failed("Invalid service account namespace"));
    }
    let check: &Check = check.downcast().ok_or_else(EvalError::no_such_overload)?;
    let mut check = check.clone();
    let account = (namespace.as_str().to_owned(), name.as_str().to_owned());
    check.request.service_account = Some(account);
    Ok(check.value())
}

fn checked<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let [Value::Opaque(check), Value::String(verb)] = arguments else {
        return Err(EvalError::no_such_overload());
    };
    let check: &Check = check.downcast().ok_or_else(EvalError::no_such_overload)?;
    let mut request = check.request.clone();
    verb.as_str().clone_into(&mut request.verb);
    let decision = check.authorizer.authorize(&request);
    Ok(Value::Opaque(Opaque::new(decision)))
}

fn decided<'a>(
    arguments: &[Value<'a>],
    read: fn(&AccessDecision) -> Value<'static>,
) -> Outcome<'a> {
    let decision = match arguments {
        [Value::Opaque(it)] => it.downcast(),
        _ => None,
    };
    decision.map(read).ok_or_else(EvalError::no_such_overload)
}

fn selector_estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    Some(CallEstimate::of(selector(size)))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
fn selector_cost(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(selector(SizeEstimate::fixed(call.size(1))).max)
}

/// Returns the cost of parsing a selector: every other character may begin a requirement.
fn selector(size: SizeEstimate) -> CostEstimate {
    let requirement = CostEstimate::fixed(LIST_CREATION + MESSAGE_CREATION);
    let requirements = size.times_factor(0.5).times(requirement);
    CostEstimate::fixed(LIST_CREATION)
        .plus(costs::traversal(size, 1.0))
        .plus(requirements)
}

/// Declares a member that costs one.
fn member(
    name: &'static str,
    id: &'static str,
    signature: &str,
    implementation: Implementation,
) -> Function {
    Function::new(name)
        .member(id, &objects(signature), implementation)
        .costs(costs::nominal, costs::nominal_estimate)
}

/// Completes the names of this library's types.
fn objects(signature: &str) -> String {
    signature.replace('@', "object kubernetes.authorization.")
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let check = Function::new("check")
        .member(
            "pathcheck_check",
            &objects("@PathCheck, string -> @Decision"),
            checked,
        )
        .member(
            "resourcecheck_check",
            &objects("@ResourceCheck, string -> @Decision"),
            checked,
        )
        .costs(|_| Some(CHECK), |_| Some(CallEstimate::fixed(CHECK)));
    let mut functions = vec![check];
    functions.extend(requests());
    functions.extend(decisions());
    Library {
        functions,
        types: Vec::new(),
    }
}

fn requests() -> [Function; 7] {
    let same = "@ResourceCheck, string -> @ResourceCheck";
    [
        member(
            "path",
            "authorizer_path",
            "@Authorizer, string -> @PathCheck",
            |it| {
                not_blank(it, "path")?;
                composed(it, Stage::Path, |request, text| {
                    request.path = Some(text.to_owned());
                })
            },
        ),
        member(
            "group",
            "authorizer_group",
            "@Authorizer, string -> @GroupCheck",
            |it| {
                composed(it, Stage::Group, |request, text| {
                    text.clone_into(&mut request.group);
                })
            },
        ),
        member(
            "serviceAccount",
            "authorizer_serviceaccount",
            "@Authorizer, string, string -> @Authorizer",
            service_account,
        ),
        member(
            "resource",
            "groupcheck_resource",
            "@GroupCheck, string -> @ResourceCheck",
            |it| {
                not_blank(it, "resource")?;
                composed(it, Stage::Resource, |request, text| {
                    text.clone_into(&mut request.resource);
                })
            },
        ),
        member("subresource", "resourcecheck_subresource", same, |it| {
            composed(it, Stage::Resource, |request, text| {
                text.clone_into(&mut request.subresource);
            })
        }),
        member("namespace", "resourcecheck_namespace", same, |it| {
            composed(it, Stage::Resource, |request, text| {
                text.clone_into(&mut request.namespace);
            })
        }),
        member("name", "resourcecheck_name", same, |it| {
            composed(it, Stage::Resource, |request, text| {
                text.clone_into(&mut request.name);
            })
        }),
    ]
}

fn decisions() -> [Function; 4] {
    [
        member("errored", "decision_errored", "@Decision -> bool", |it| {
            decided(it, |it| Value::Bool(it.error.is_some()))
        }),
        member("error", "decision_error", "@Decision -> string", |it| {
            decided(it, |it| Value::string(it.error.clone().unwrap_or_default()))
        }),
        member("allowed", "decision_allowed", "@Decision -> bool", |it| {
            decided(it, |it| Value::Bool(it.allowed))
        }),
        member("reason", "decision_reason", "@Decision -> string", |it| {
            decided(it, |it| Value::string(it.reason.clone()))
        }),
    ]
}

/// Returns the library of selectors.
pub(super) fn selectors(_: u32) -> Library {
    let same = objects("@ResourceCheck, string -> @ResourceCheck");
    let functions = vec![
        Function::new("fieldSelector")
            .member("authorizer_fieldselector", &same, |it| {
                composed(it, Stage::Resource, |request, text| {
                    text.clone_into(&mut request.field_selector);
                })
            })
            .costs(selector_cost, selector_estimate),
        Function::new("labelSelector")
            .member("authorizer_labelselector", &same, |it| {
                composed(it, Stage::Resource, |request, text| {
                    text.clone_into(&mut request.label_selector);
                })
            })
            .costs(selector_cost, selector_estimate),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
