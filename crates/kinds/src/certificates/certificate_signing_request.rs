//! CertificateSigningRequests.

pub(crate) mod conditions;
mod issued;
mod request;

use crate::shared::rules::{self, Errors};
use crate::shared::signer;
use kubist_api::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestSpec, ExtraValue,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, NameRule, RequestContext, ResetFields, StatusKeeps,
    Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct CertificateSigningRequests;

const EXPIRATION_MIN: i32 = 600;
/// The signer of requests that named none, in older versions.
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

impl KindStrategy for CertificateSigningRequests {
    type Kind = CertificateSigningRequest;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::Any,
        metadata_on_update: MetadataUpdate::WholeThenChange,
        status_keeps: StatusKeeps::Nothing,
        reset_fields: ResetFields::Paths(&[&["spec"], &["status"]]),
        selectable_fields: &["spec.signerName"],
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        match name {
            "status" => Some(&ForKind(CertificateSigningRequestsStatus)),
            "approval" => Some(&ForKind(CertificateSigningRequestsApproval)),
            _ => None,
        }
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut CertificateSigningRequest) {
        // The requester cannot set their own identity.
        new.spec.username = cx.user.name.clone();
        new.spec.uid = cx.user.uid.clone();
        new.spec.groups.clone_from(&cx.user.groups);
        let extra = cx.user.extra.iter();
        new.spec.extra = extra
            .map(|(key, items)| {
                (
                    key.clone(),
                    ExtraValue {
                        items: items.clone(),
                    },
                )
            })
            .collect();
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut CertificateSigningRequest,
        old: &CertificateSigningRequest,
    ) {
        new.spec = old.spec.clone();
    }
    fn validate(&self, new: &CertificateSigningRequest) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, &new.spec, &FieldPath::new("spec"));
        errors
    }
}

/// The `status` subresource of [`CertificateSigningRequests`].
#[derive(Debug)]
struct CertificateSigningRequestsStatus;

impl KindStrategy for CertificateSigningRequestsStatus {
    type Kind = CertificateSigningRequest;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::WholeThenChange,
        reset_fields: ResetFields::Paths(&[&["spec"], &["status", "conditions"]]),
        ..StrategyFacts::PLAIN
    };

    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut CertificateSigningRequest,
        old: &CertificateSigningRequest,
    ) {
        conditions::keep_verdict(new, old);
        conditions::fill_times(new, old, cx.now());
    }
    fn validate_update(
        &self,
        new: &CertificateSigningRequest,
        old: &CertificateSigningRequest,
    ) -> Vec<FieldError> {
        conditions::check(new, old, true)
    }
}

/// `certificatesigningrequests/approval`, which changes only the approval conditions.
#[derive(Debug)]
struct CertificateSigningRequestsApproval;

impl KindStrategy for CertificateSigningRequestsApproval {
    type Kind = CertificateSigningRequest;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::WholeThenChange,
        reset_fields: ResetFields::Paths(&[&["spec"], &["status", "certificate"]]),
        ..StrategyFacts::PLAIN
    };

    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut CertificateSigningRequest,
        old: &CertificateSigningRequest,
    ) {
        new.status.certificate = old.status.certificate.clone();
        conditions::fill_times(new, old, cx.now());
    }
    fn validate_update(
        &self,
        new: &CertificateSigningRequest,
        old: &CertificateSigningRequest,
    ) -> Vec<FieldError> {
        conditions::check(new, old, false)
    }
}

fn check(errors: &mut Errors, spec: &CertificateSigningRequestSpec, path: &FieldPath) {
    if let Err(detail) = request::check(&spec.request) {
        let shown = if spec.request.is_empty() {
            BadValue::null()
        } else {
            BadValue::from(&spec.request.to_base64())
        };
        errors.push(FieldError::invalid(&path.child("request"), shown, detail));
    }
    let usages = path.child("usages");
    if spec.usages.is_empty() {
        errors.push(FieldError::required(&usages, ""));
    }
    let repeated = rules::repeats(&spec.usages);
    for (index, usage) in spec.usages.iter().enumerate() {
        rules::one_of(errors, usage, &USAGES, &usages.index(index));
        if repeated[index] {
            errors.push(FieldError::duplicate(&usages.index(index), usage));
        }
    }
    let at = path.child("signerName");
    signer::check(errors, &spec.signer_name, &at);
    if spec.signer_name == LEGACY_SIGNER {
        let detail = "the legacy signerName is not allowed via this API version";
        errors.push(FieldError::invalid(&at, &spec.signer_name, detail));
    }
    if let Some(seconds) = spec.expiration_seconds.filter(|&it| it < EXPIRATION_MIN) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(FieldError::invalid(
            &path.child("expirationSeconds"),
            seconds,
            detail,
        ));
    }
}
