//! The resources that no policy sees, as upstream: policies themselves, and reviews that are asked
//! while requests are decided.

use kubist_registry::admission::Target;

const POLICIES: [&str; 4] = [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
];
const AUTHENTICATION: [&str; 2] = ["selfsubjectreviews", "tokenreviews"];
const AUTHORIZATION: [&str; 4] = [
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
];

/// Reports whether no policy sees a request.
pub(super) fn is_excluded(target: &Target<'_>) -> bool {
    let plural = &target.resource.plural;
    match target.resource.group {
        "admissionregistration.k8s.io" => POLICIES.contains(plural),
        "authentication.k8s.io" => AUTHENTICATION.contains(plural),
        "authorization.k8s.io" => AUTHORIZATION.contains(plural),
        _ => false,
    }
}
