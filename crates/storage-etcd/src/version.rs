//! `Version`: the version of an etcd member, and its known defects.

/// A version in etcd's status, such as `3.6.16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// Parses `major.minor.patch`, with an optional suffix.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let patch = rest
            .find(|it: char| !it.is_ascii_digit())
            .map_or(rest, |end| &rest[..end]);
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            patch: patch.parse().ok()?,
        })
    }

    /// Reports whether progress notifications are never ahead of the events.
    ///
    /// Fixed in etcd 3.5.13 and 3.4.31 (issues 15220 and 17529 there); upstream's API server checks
    /// for the same versions.
    pub(crate) fn progress_is_safe(self) -> bool {
        let fixed_in = |minor, patch| Self {
            major: 3,
            minor,
            patch,
        };
        self >= fixed_in(5, 13) || (self >= fixed_in(4, 31) && self < fixed_in(5, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_requests_need_a_fixed_etcd() {
        let safe = |text| Version::parse(text).expect(text).progress_is_safe();
        for version in ["3.4.31", "3.4.40", "3.5.13", "3.6.0", "3.6.0-rc.1", "4.0.0"] {
            assert!(safe(version), "{version}");
        }
        for version in ["3.3.99", "3.4.30", "3.4.23", "3.5.0", "3.5.12", "2.9.9"] {
            assert!(!safe(version), "{version}");
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in ["", "3", "3.4", "a.b.c", "3.4.", "3.4.x"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
