//! `Policy`: what the labels of a namespace demand of its Pods.

use kubist_apimachinery::{FieldError, FieldPath, Str};
use std::collections::BTreeMap;
use std::fmt;

/// How much Pods are restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

/// The version of the rules. `Latest` is newer than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// Of Kubernetes 1, the minor version.
    Minor(u64),
    Latest,
}

/// A level at a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Version,
}

/// What is demanded: enforced, noted for the audit, and warned of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) audit: LevelVersion,
    pub(super) warn: LevelVersion,
}

/// What labels and annotations begin with.
pub(super) const PREFIX: &str = "pod-security.kubernetes.io/";

impl Level {
    const ALL: [Self; 3] = [Self::Privileged, Self::Baseline, Self::Restricted];

    fn as_str(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl Version {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "latest" {
            return Some(Self::Latest);
        }
        let minor = text.strip_prefix("v1.")?;
        let plain = minor.bytes().all(|it| it.is_ascii_digit());
        let padded = minor.len() > 1 && minor.starts_with('0');
        // Upstream's number has 64 bits with a sign.
        let minor = minor.parse::<i64>().ok().filter(|_| plain && !padded)?;
        Some(Self::Minor(minor.unsigned_abs()))
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.as_str();
        match self.version {
            Version::Latest => write!(f, "{level}:latest"),
            Version::Minor(minor) => write!(f, "{level}:v1.{minor}"),
        }
    }
}

/// Upstream's words for what is no level, and no version.
pub(super) const NO_LEVEL: &str = "must be one of privileged, baseline, restricted";
pub(super) const NO_VERSION: &str = "must be \"latest\" or \"v1.x\"";

/// Privileged, at the latest version.
const NOTHING: LevelVersion = LevelVersion {
    level: Level::Privileged,
    version: Version::Latest,
};

impl Default for Policy {
    fn default() -> Self {
        Self {
            enforce: NOTHING,
            audit: NOTHING,
            warn: NOTHING,
        }
    }
}

impl Policy {
    /// Returns the policy of a namespace with these labels, and what is wrong with them. What they
    /// do not say is as in `self`. A wrong level counts as the strictest where it is enforced, and
    /// as none elsewhere; a wrong version counts as the latest.
    pub(super) fn with(self, labels: &BTreeMap<Str, Str>) -> (Self, Vec<FieldError>) {
        let (mut errors, mut policy) = (Vec::new(), self);
        let enforced = read(&mut errors, labels, "enforce", &mut policy.enforce);
        if enforced == Read::Wrong {
            policy.enforce.level = Level::Restricted;
        }
        if read(&mut errors, labels, "audit", &mut policy.audit) == Read::Wrong {
            policy.audit.level = Level::Privileged;
        }
        let warned = read(&mut errors, labels, "warn", &mut policy.warn);
        if warned == Read::Wrong {
            policy.warn.level = Level::Privileged;
        }
        // What is enforced is warned of as well, for controllers, unless that is said otherwise.
        let level = policy.enforce.level;
        if warned == Read::Missing && enforced == Read::Valid && level > policy.warn.level {
            policy.warn.level = level;
            if !labels.contains_key(&*format!("{PREFIX}warn-version")) {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }

    /// Reports whether two policies demand the same: what is privileged has no version.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |one: LevelVersion, other: LevelVersion| {
            one == other || (one.level == Level::Privileged && other.level == one.level)
        };
        same(self.enforce, other.enforce)
            && same(self.audit, other.audit)
            && same(self.warn, other.warn)
    }

    /// Returns the modes with their names, in upstream's order.
    pub(super) fn modes(&self) -> [(&'static str, LevelVersion); 3] {
        [
            ("enforce", self.enforce),
            ("audit", self.audit),
            ("warn", self.warn),
        ]
    }

    /// Reports whether nothing is demanded.
    pub(super) fn is_privileged(&self) -> bool {
        [self.enforce, self.audit, self.warn]
            .iter()
            .all(|it| it.level == Level::Privileged)
    }
}

/// What a label of a level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Missing,
    Valid,
    Wrong,
}

/// Reads the labels of a mode, and returns whether its level is one.
fn read(
    errors: &mut Vec<FieldError>,
    labels: &BTreeMap<Str, Str>,
    mode: &str,
    into: &mut LevelVersion,
) -> Read {
    let path = FieldPath::new("metadata").child("labels");
    let mut wrong = |label: &str, value: &Str, why: &str| {
        errors.push(FieldError::invalid(&path.key(label), value, why));
    };
    let mut found = Read::Missing;
    let label = format!("{PREFIX}{mode}");
    if let Some(text) = labels.get(label.as_str()) {
        found = Read::Wrong;
        if let Some(level) = Level::parse(text) {
            found = Read::Valid;
            into.level = level;
        } else {
            wrong(&label, text, NO_LEVEL);
        }
    }
    let label = format!("{PREFIX}{mode}-version");
    if let Some(text) = labels.get(label.as_str()) {
        into.version = Version::parse(text).unwrap_or_else(|| {
            wrong(&label, text, NO_VERSION);
            Version::Latest
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(labels: &[(&str, &str)]) -> (String, usize) {
        let labels = labels.iter().map(|(name, value)| {
            let name = Str::from(format!("{PREFIX}{name}"));
            (name, Str::from(*value))
        });
        let (policy, errors) = Policy::default().with(&labels.collect());
        let Policy {
            enforce,
            audit,
            warn,
        } = policy;
        (format!("{enforce} {audit} {warn}"), errors.len())
    }

    #[test]
    fn labels_say_level_and_version_of_each_mode() {
        let none = "privileged:latest privileged:latest privileged:latest";
        assert_eq!(policy(&[]), (none.to_owned(), 0));
        let labels = [
            ("enforce", "baseline"),
            ("enforce-version", "v1.20"),
            ("audit", "restricted"),
        ];
        let expected = "baseline:v1.20 restricted:latest baseline:v1.20";
        assert_eq!(policy(&labels), (expected.to_owned(), 0));
        let labels = [("enforce", "restricted"), ("warn", "baseline")];
        let expected = "restricted:latest privileged:latest baseline:latest";
        assert_eq!(policy(&labels), (expected.to_owned(), 0));
    }

    #[test]
    fn wrong_labels_are_strict_where_they_enforce() {
        let labels = [("enforce", "x"), ("audit", "x"), ("warn-version", "v1.01")];
        let expected = "restricted:latest privileged:latest privileged:latest";
        assert_eq!(policy(&labels), (expected.to_owned(), 3));
    }
}
