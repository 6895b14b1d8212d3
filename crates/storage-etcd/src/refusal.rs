//! Why a call failed: etcd's error, or a transport failure.
//!
//! etcd's errors are identified by their texts, because several share a code. The texts have not
//! changed since 3.0.

use kubist_storage::{Fault, FaultKind};
use std::error::Error;
use std::fmt;
use tonic::{Code, ConnectError, Status};

/// Why a call failed.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// The revision is below the last compaction.
    Compacted,
    /// The revision is in the future.
    FutureRevision,
    /// The request exceeds etcd's size limit.
    TooLarge,
    /// The lease does not exist.
    LeaseNotFound,
    /// The lifetime exceeds etcd's limit.
    TtlTooLarge,
    /// Any other failure.
    Fault {
        fault: Fault,
        /// Reports whether a retry, or another member, may succeed.
        passing: bool,
    },
}

/// Texts of etcd that are unambiguous whatever their code.
const ANSWERS: [(&str, Refusal); 6] = [
    ("required revision has been compacted", Refusal::Compacted),
    (
        "required revision is a future revision",
        Refusal::FutureRevision,
    ),
    ("request is too large", Refusal::TooLarge),
    // The size limit of the transport, above etcd's own, in the words of grpc-go.
    ("received message larger than max", Refusal::TooLarge),
    ("requested lease not found", Refusal::LeaseNotFound),
    ("too large lease TTL", Refusal::TtlTooLarge),
];

/// Texts of faults; the first that occurs in a status counts.
const FAULTS: [(&str, FaultKind); 11] = [
    ("database space exceeded", FaultKind::NoSpace),
    ("corrupt", FaultKind::Corrupt),
    ("permission denied", FaultKind::PermissionDenied),
    ("invalid auth token", FaultKind::PermissionDenied),
    ("authentication failed", FaultKind::PermissionDenied),
    ("user name is empty", FaultKind::PermissionDenied),
    // Returned before a write is proposed to the cluster, so it did not happen.
    ("no leader", FaultKind::Unavailable),
    ("too many requests", FaultKind::Unavailable),
    ("not supported for learner", FaultKind::Unavailable),
    ("unhealthy cluster", FaultKind::Unavailable),
    ("not capable", FaultKind::Unavailable),
];

/// A failed call in one sentence; a status would print everything it has.
#[derive(Debug)]
struct Failure(Status);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.message() {
            "" => write!(f, "{}", self.0.code()),
            message => f.write_str(message),
        }
    }
}

impl Error for Failure {
    /// The cause below the call itself.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let mut cause = self.0.source()?;
        // The innermost cause has the information.
        while let Some(below) = cause.source() {
            cause = below;
        }
        Some(cause)
    }
}

/// An attempt that the deadline cut, after others that failed.
#[derive(Debug, thiserror::Error)]
#[error("no answer before the deadline; the attempt before it failed")]
struct Cut {
    #[source]
    before: Fault,
}

impl Refusal {
    /// Maps the status of a call.
    pub(crate) fn of(status: Status) -> Self {
        if let Some(answer) = answer(status.message()) {
            return answer;
        }
        let kind = fault_kind(&status);
        let passing = match kind {
            FaultKind::Unavailable => true,
            // The deadline has passed, so there is no time for a retry.
            FaultKind::Timeout => {
                !matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled)
            }
            _ => false,
        };
        Self::Fault {
            fault: Fault::new(kind, Failure(status)),
            passing,
        }
    }

    /// Maps the reason of a canceled watch.
    pub(crate) fn of_reason(reason: &str) -> Self {
        let code = if reason.contains("Unavailable") {
            Code::Unavailable
        } else {
            Code::Unknown
        };
        Self::of(Status::new(code, reason))
    }

    /// No response before the deadline.
    pub(crate) fn deadline() -> Self {
        Self::of(Status::deadline_exceeded("no answer before the deadline"))
    }

    /// Adds why the attempt before this one failed, if this one was cut by the deadline, which has
    /// passed. A write may have happened, so it remains a timeout, but the reason for it came
    /// before.
    pub(crate) fn cut_after(self, before: Option<Fault>) -> Self {
        match (self, before) {
            (Self::Fault { fault, passing }, Some(before))
                if fault.kind() == FaultKind::Timeout && !passing =>
            {
                let fault = Fault::new(FaultKind::Timeout, Cut { before });
                Self::Fault { fault, passing }
            }
            (refusal, _) => refusal,
        }
    }

    /// Reports whether the call may be retried: because it is idempotent, or because it was not
    /// executed.
    pub(crate) fn may_repeat(&self, repeatable: bool) -> bool {
        match self {
            Self::Fault { fault, passing } => {
                *passing && (repeatable || fault.kind() == FaultKind::Unavailable)
            }
            _ => false,
        }
    }

    /// Reports whether to switch to another member.
    pub(crate) fn blames_member(&self) -> bool {
        let Self::Fault { fault, .. } = self else {
            return false;
        };
        fault.is_transient()
    }

    /// The fault of an unexpected response.
    pub(crate) fn unexpected(answer: &dyn fmt::Debug) -> Fault {
        Fault::new(FaultKind::Unknown, format!("unexpected answer: {answer:?}"))
    }

    /// Converts any failure to a fault, where the specific ones cannot occur.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::Fault { fault, .. } => fault,
            other => Self::unexpected(&other),
        }
    }
}

fn answer(text: &str) -> Option<Refusal> {
    let found = ANSWERS.iter().find(|(part, _)| text.contains(part))?;
    Some(found.1.clone())
}

fn fault_kind(status: &Status) -> FaultKind {
    if never_connected(status) {
        return FaultKind::Unavailable;
    }
    let text = status.message();
    if let Some((_, kind)) = FAULTS.iter().find(|(part, _)| text.contains(part)) {
        return *kind;
    }
    match status.code() {
        Code::PermissionDenied | Code::Unauthenticated => FaultKind::PermissionDenied,
        Code::DataLoss => FaultKind::Corrupt,
        // "request timed out", "leader changed", "server stopped": a write may have happened.
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled => FaultKind::Timeout,
        // The connection broke; etcd itself sent no error.
        _ if status.source().is_some() => FaultKind::Timeout,
        _ => FaultKind::Unknown,
    }
}

/// Reports whether there was no connection on which the call could be sent.
fn never_connected(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: Status) -> FaultKind {
        Refusal::of(status).into_fault().kind()
    }

    #[test]
    fn faults_have_the_kind_that_says_whether_a_write_may_have_happened() {
        let unavailable = |text: &str| kind(Status::unavailable(text));
        assert_eq!(unavailable("etcdserver: no leader"), FaultKind::Unavailable);
        for text in [
            "etcdserver: request timed out",
            "etcdserver: request timed out, possibly due to previous leader failure",
            "etcdserver: leader changed",
            "etcdserver: server stopped",
        ] {
            assert_eq!(unavailable(text), FaultKind::Timeout, "{text}");
        }
        let full = Status::resource_exhausted("etcdserver: mvcc: database space exceeded");
        assert_eq!(kind(full), FaultKind::NoSpace);
        let busy = Status::resource_exhausted("etcdserver: too many requests");
        assert_eq!(kind(busy), FaultKind::Unavailable);
        let denied = Status::permission_denied("etcdserver: permission denied");
        assert_eq!(kind(denied), FaultKind::PermissionDenied);
        let nobody = Status::invalid_argument("etcdserver: user name is empty");
        assert_eq!(kind(nobody), FaultKind::PermissionDenied);
        let stranger = Status::unauthenticated("etcdserver: invalid auth token");
        assert_eq!(kind(stranger), FaultKind::PermissionDenied);
        let corrupt = Status::data_loss("etcdserver: corrupt cluster");
        assert_eq!(kind(corrupt), FaultKind::Corrupt);
        assert_eq!(kind(Status::internal("what else")), FaultKind::Unknown);
    }

    #[test]
    fn errors_are_recognized_by_their_texts() {
        let compacted = "etcdserver: mvcc: required revision has been compacted";
        let future = "etcdserver: mvcc: required revision is a future revision";
        let of = |text: &str| Refusal::of(Status::out_of_range(text));
        assert!(matches!(of(compacted), Refusal::Compacted));
        assert!(matches!(of(future), Refusal::FutureRevision));
        let large = Status::resource_exhausted("grpc: received message larger than max (9 vs. 8)");
        assert!(matches!(Refusal::of(large), Refusal::TooLarge));
        let lease = Status::not_found("etcdserver: requested lease not found");
        assert!(matches!(Refusal::of(lease), Refusal::LeaseNotFound));
    }

    #[test]
    fn a_write_is_repeated_only_where_it_cannot_have_happened() {
        let leaderless = Refusal::of(Status::unavailable("etcdserver: no leader"));
        let lost = Refusal::of(Status::unavailable("etcdserver: request timed out"));
        let denied = Refusal::of(Status::permission_denied("etcdserver: permission denied"));
        assert!(leaderless.may_repeat(false) && leaderless.may_repeat(true));
        assert!(!lost.may_repeat(false) && lost.may_repeat(true));
        assert!(!denied.may_repeat(false) && !denied.may_repeat(true));
        assert!(!Refusal::deadline().may_repeat(true), "no time is left");
    }

    #[test]
    fn a_deadline_that_cuts_a_retry_does_not_hide_why_there_was_one() {
        let said = |refusal: Refusal| {
            let fault = refusal.into_fault();
            let cause = |error: &dyn Error| error.source().map(ToString::to_string);
            let cut = fault.source().expect("a cause");
            let before = cut.source().expect("its cause");
            (fault.kind(), cut.to_string(), cause(before))
        };
        let refused = || Refusal::of(Status::unavailable("etcdserver: no leader"));
        let refused = || Some(refused().into_fault());
        let why = (
            FaultKind::Timeout,
            "no answer before the deadline; the attempt before it failed".to_owned(),
            Some("etcdserver: no leader".to_owned()),
        );
        assert_eq!(said(Refusal::deadline().cut_after(refused())), why);
        // The transport has the same deadline, and may be the first to see it.
        let transport = Refusal::of(Status::cancelled("Timeout expired"));
        assert_eq!(said(transport.cut_after(refused())), why);
        let full = Refusal::of(Status::resource_exhausted("mvcc: database space exceeded"));
        let kept = full.cut_after(refused()).into_fault();
        assert_eq!(kept.kind(), FaultKind::NoSpace);
        assert!(kept.source().and_then(Error::source).is_none());
    }
}
