//! `JournalEntry`: one request, who made it, and what it wrote.

use kubist::apimachinery::{MicroTime, Str};
use kubist::apiserver::ObservedRequest;
use kubist::registry::{ObjectChange, ObjectWrite};
use std::fmt;
use std::time::Duration;

/// A request that the server has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// Counts the requests of the server, from 1.
    pub number: u64,
    /// When it arrived, since the Unix epoch.
    pub received: Duration,
    /// The user.
    pub user: Str,
    /// The user agent.
    pub user_agent: Str,
    /// `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, `DELETECOLLECTION`, or
    /// the method of a request about no resource.
    pub verb: &'static str,
    /// The path, without the query.
    pub path: Str,
    /// The group of the resource; empty for the core group.
    pub group: &'static str,
    /// The plural name of the resource; empty without one.
    pub resource: &'static str,
    /// The subresource; empty for the object itself.
    pub subresource: &'static str,
    /// The status code; `None` if the client left before there was an answer.
    pub code: Option<u16>,
    /// The committed writes.
    pub writes: Vec<ObjectWrite>,
}

impl JournalEntry {
    pub(super) fn of(number: u64, request: &ObservedRequest<'_>) -> Self {
        Self {
            number,
            received: request.received,
            user: request.user.name.clone(),
            user_agent: request.user_agent.into(),
            verb: request.verb,
            path: request.path.into(),
            group: request.group,
            resource: request.resource,
            subresource: request.subresource,
            code: request.code,
            writes: request.writes.to_vec(),
        }
    }

    /// Returns the program: the user agent up to its first `/`, which is the default name of its
    /// field manager.
    pub fn program(&self) -> &str {
        program_of(&self.user_agent)
    }
}

/// Returns the program of a user agent.
pub(super) fn program_of(user_agent: &str) -> &str {
    user_agent.split('/').next().unwrap_or_default()
}

/// One line: `2027-01-15T08:00:00.000000Z admin (kubist) POST /api/… 201, created default/a at 9`.
impl fmt::Display for JournalEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, program) = (&self.user, self.program());
        let (verb, path) = (self.verb, &self.path);
        write!(
            f,
            "{} {user} ({program}) {verb} {path}",
            date(self.received)
        )?;
        match self.code {
            Some(code) => write!(f, " {code}")?,
            None => f.write_str(" unanswered")?,
        }
        for write in &self.writes {
            let change = match write.change {
                ObjectChange::Created => "created",
                ObjectChange::Updated => "updated",
                ObjectChange::Deleted => "deleted",
            };
            write!(f, ", {change} ")?;
            if !write.namespace.is_empty() {
                write!(f, "{}/", write.namespace)?;
            }
            write!(f, "{} at {}", write.name, write.revision)?;
        }
        Ok(())
    }
}

/// Returns a date for people.
pub(crate) fn date(since_epoch: Duration) -> MicroTime {
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
    let nanos = i32::try_from(since_epoch.subsec_nanos()).unwrap_or_default();
    MicroTime::from_unix(seconds, nanos)
}
