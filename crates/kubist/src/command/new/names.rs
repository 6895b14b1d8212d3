//! `Names`: those of a new project, checked before anything is written.

use super::project;
use kubist_codegen::is_keyword;

/// The most bytes of a project's name: with `-system` it is a namespace, of at most 63.
const NAME_MAX: usize = 56;
/// The most bytes of a kind: its plural, of two more, is a DNS label.
const KIND_MAX: usize = 61;
/// The most bytes of a plural with its group: the name of the definition (a DNS subdomain).
const DEFINITION_MAX: usize = 253;
/// Names that Windows keeps for devices; cargo refuses to build such crates there.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];
/// What cargo refuses or warns of as the name of a package with a binary, and the dependencies.
const TAKEN: [&str; 20] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "kubist",
    "proc-macro",
    "schemars",
    "self",
    "serde",
    "serde-json",
    "std",
    "super",
    "test",
    "tests",
    "tokio",
    "tokio-util",
    "tracing-subscriber",
    "crate",
];
/// The names of a project.
#[derive(Debug)]
pub(super) struct Names {
    /// The crate.
    pub(super) name: String,
    /// The kind.
    pub(super) kind: String,
    /// Its API group.
    pub(super) group: String,
}

impl Names {
    /// Checks them; the kind is made from the name if it is not given. The error names the rule.
    pub(super) fn new(name: &str, kind: Option<&str>, group: &str) -> Result<Self, String> {
        check_name(name)?;
        let kind = kind.map_or_else(|| kind_of(name), str::to_owned);
        check_kind(&kind)?;
        check_group(
            group,
            DEFINITION_MAX - ".".len() - (kind.len() + "es".len()),
        )?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            group: group.to_owned(),
        })
    }

    /// The kind in lower case: its singular name.
    pub(super) fn singular(&self) -> String {
        self.kind.to_ascii_lowercase()
    }

    /// The kind with its group version, for people.
    pub(super) fn resource(&self) -> String {
        format!("{} of {}/v1", self.kind, self.group)
    }
}

fn is_label(text: &str) -> bool {
    let allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn check_name(name: &str) -> Result<(), String> {
    let starts = name.starts_with(|it: char| it.is_ascii_lowercase());
    if !starts || !is_label(name) || name.len() > NAME_MAX {
        return Err(format!(
            "{name:?} is no name of an operator: it must begin with a lower-case letter and have \
             at most {NAME_MAX} lower-case letters, digits and hyphens, as in website-operator, \
             because it names a crate and objects of Kubernetes"
        ));
    }
    if is_device(name) {
        return Err(format!(
            "{name:?} is the name of a device on Windows: choose another name, such as \
             {name}-operator"
        ));
    }
    if TAKEN.contains(&name) || is_keyword(name) {
        return Err(format!(
            "{name:?} is taken by Rust, cargo or a dependency: choose another name, such as \
             {name}-operator"
        ));
    }
    Ok(())
}

/// Reports whether Windows has a device of this name.
fn is_device(name: &str) -> bool {
    let ports = ["com", "lpt"];
    let port = ports.iter().find_map(|it| name.strip_prefix(it));
    let is_port = port.is_some_and(|it| it.len() == 1 && ("1"..="9").contains(&it));
    is_port || DEVICES.contains(&name)
}

/// Returns the name without what such names end in, in camel case.
fn kind_of(name: &str) -> String {
    let stem = ["-operator", "-controller"];
    let stem = stem.iter().find_map(|it| name.strip_suffix(it));
    let words = stem.unwrap_or(name).split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}

fn check_kind(kind: &str) -> Result<(), String> {
    let starts = kind.starts_with(|it: char| it.is_ascii_uppercase());
    let allowed = kind.chars().all(|it| it.is_ascii_alphanumeric());
    if !starts || !allowed || kind.len() > KIND_MAX {
        return Err(format!(
            "{kind:?} is no kind: it must begin with an upper-case letter and have at most \
             {KIND_MAX} letters and digits, as in Website"
        ));
    }
    if kind == "Self" {
        return Err("Self is a word of Rust: choose another kind".to_owned());
    }
    let names = [
        kind.to_owned(),
        format!("{kind}Spec"),
        format!("{kind}Status"),
    ];
    if let Some(name) = names.iter().find(|it| project::has_word(it)) {
        return Err(format!(
            "the kind {kind} would hide {name}, which the project needs: choose another with --kind"
        ));
    }
    Ok(())
}

fn check_group(group: &str, max: usize) -> Result<(), String> {
    if group.len() > max {
        return Err(format!(
            "{group:?} is too long for an API group: it must have at most {max} characters, because \
             the name of the definition has the plural of the kind before it"
        ));
    }
    if !group.contains('.') || !group.split('.').all(is_label) {
        return Err(format!(
            "{group:?} is no API group: it must be a lower-case DNS name with a dot, of a domain \
             that you own, as in example.com"
        ));
    }
    // Upstream's `apihelpers.IsProtectedCommunityGroup`.
    let owner = ["k8s.io", "kubernetes.io"];
    let owner = owner.iter().find(|it| {
        let rest = group.strip_suffix(**it);
        rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
    });
    if let Some(owner) = owner {
        return Err(format!(
            "groups of {owner} are Kubernetes' own, and servers refuse them without its approval: \
             give a domain that you own with --group"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_made_from_the_name() {
        for (name, kind) in [
            ("website-operator", "Website"),
            ("cron-job-controller", "CronJob"),
            ("shop", "Shop"),
            ("s3-bucket", "S3Bucket"),
            ("double--hyphen", "DoubleHyphen"),
        ] {
            let names = Names::new(name, None, "example.com").map(|it| it.kind);
            assert_eq!(names.as_deref(), Ok(kind), "{name}");
        }
    }

    #[test]
    fn names_that_would_not_work_are_refused_with_the_rule() {
        let too_long = "a".repeat(NAME_MAX + 1);
        let long_kind = "K".repeat(KIND_MAX + 1);
        let long_kind = long_kind.as_str();
        let long_group = ["g"; 124].join(".");
        for (name, kind, group, expected) in [
            (
                "Shop",
                None,
                "example.com",
                "begin with a lower-case letter",
            ),
            (
                "1shop",
                None,
                "example.com",
                "begin with a lower-case letter",
            ),
            ("my_shop", None, "example.com", "hyphens"),
            ("shop-", None, "example.com", "hyphens"),
            (&too_long, None, "example.com", "at most 56"),
            ("con", None, "example.com", "device on Windows"),
            ("aux", None, "example.com", "such as aux-operator"),
            ("com1", None, "example.com", "device on Windows"),
            ("lpt9", None, "example.com", "device on Windows"),
            ("shop", Some(long_kind), "example.com", "at most 61"),
            ("shop", None, &long_group, "at most 246"),
            ("match", None, "example.com", "taken by Rust"),
            ("yield", None, "example.com", "taken by Rust"),
            ("while", None, "example.com", "taken by Rust"),
            ("serde", None, "example.com", "such as serde-operator"),
            (
                "deployment-operator",
                None,
                "example.com",
                "hide Deployment",
            ),
            ("shop", Some("Lister"), "example.com", "hide Lister"),
            ("shop", Some("Deployment"), "example.com", "--kind"),
            ("shop", Some("Self"), "example.com", "a word of Rust"),
            ("shop", Some("shop"), "example.com", "upper-case letter"),
            ("shop", Some("My-Shop"), "example.com", "letters and digits"),
            ("shop", None, "example", "with a dot"),
            ("shop", None, "Example.com", "lower-case DNS name"),
            ("shop", None, "example..com", "lower-case DNS name"),
            ("shop", None, "apps.k8s.io", "Kubernetes' own"),
            ("shop", None, "kubernetes.io", "--group"),
        ] {
            let why = Names::new(name, kind, group).expect_err(name);
            assert!(why.contains(expected), "{name} {kind:?} {group}: {why}");
        }
        assert!(Names::new("shop", None, "notk8s.io").is_ok());
        for name in ["com", "com0", "com10", "console", "null-operator"] {
            assert!(Names::new(name, None, "example.com").is_ok(), "{name}");
        }
    }
}
