//! `NameRule`: the syntax of the names of a kind's objects.

use kubist_apimachinery::validate_name;

/// The syntax of the names of a kind's objects.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NameRule {
    /// Labels of lower-case letters, digits and `-`, joined by dots. Most kinds.
    DnsSubdomain,
    /// One such label (namespaces).
    DnsLabel,
    /// One such label that begins with a letter (services).
    Dns1035Label,
    /// Any single path segment (roles, custom resources of RBAC).
    PathSegment,
    /// Any name; the kind validates it.
    Any,
    /// A DNS subdomain of at most this many characters.
    ShortSubdomain(usize),
    /// The kind's own rule. `prefix` is true for the prefix of a generated name.
    Custom(fn(name: &str, prefix: bool) -> Vec<String>),
}

impl NameRule {
    /// Reports whether every accepted name is a single path segment, as every name must be.
    pub(crate) fn is_path_segment(self) -> bool {
        !matches!(self, Self::Any | Self::Custom(_))
    }

    /// Returns the errors of a name, or of the prefix of a generated name.
    pub fn check(self, name: &str, prefix: bool) -> Vec<String> {
        match self {
            Self::DnsSubdomain => check(name, prefix, validate_name::dns1123_subdomain),
            Self::DnsLabel => check(name, prefix, validate_name::dns1123_label),
            Self::Dns1035Label => check(name, prefix, validate_name::dns1035_label),
            Self::PathSegment => path_segment(name, prefix),
            Self::Any => Vec::new(),
            Self::ShortSubdomain(max) => {
                let mut problems = check(name, prefix, validate_name::dns1123_subdomain);
                if name.len() > max {
                    problems.push(format!("must be no more than {max} characters"));
                }
                problems
            }
            Self::Custom(rule) => rule(name, prefix),
        }
    }
}

fn check(name: &str, prefix: bool, rule: fn(&str) -> Vec<String>) -> Vec<String> {
    if prefix {
        validate_name::name_prefix(name, rule)
    } else {
        rule(name)
    }
}

/// Returns the errors of a name that is not a single path segment.
fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    let mut problems = Vec::new();
    if !prefix && matches!(name, "." | "..") {
        problems.push(format!("may not be '{name}'"));
        return problems;
    }
    for forbidden in ["/", "%"] {
        if name.contains(forbidden) {
            problems.push(format!("may not contain '{forbidden}'"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_segment_is_not_a_step_upwards_and_holds_no_separator() {
        let rule = NameRule::PathSegment;
        assert_eq!(rule.check("system:node", false), [""; 0]);
        assert_eq!(rule.check("..", false), ["may not be '..'"]);
        assert_eq!(rule.check("..", true), [""; 0]);
        assert_eq!(
            rule.check("a/b%", false),
            ["may not contain '/'", "may not contain '%'"]
        );
    }

    #[test]
    fn a_rule_that_takes_all_names_takes_more_than_paths_do() {
        assert!(NameRule::DnsLabel.is_path_segment() && !NameRule::Any.is_path_segment());
    }

    #[test]
    fn a_prefix_may_end_in_a_dash() {
        assert_eq!(NameRule::DnsSubdomain.check("web-", true), [""; 0]);
        assert!(!NameRule::DnsSubdomain.check("web-", false).is_empty());
        let long = "a".repeat(53);
        let problems = NameRule::ShortSubdomain(52).check(&long, false);
        assert_eq!(problems, ["must be no more than 52 characters"]);
    }
}
