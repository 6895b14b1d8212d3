//! The checks of each level, by version.

mod baseline;
mod host;
mod profiles;
mod restricted;
mod volumes;

use super::level::{Level, LevelVersion, Version};
use super::subject::Subject;
use super::wording::Violation;

/// The newest version with rules of its own.
const NEWEST: u64 = 35;

/// A check: of which versions, and what it finds.
struct Check {
    level: Level,
    /// The first minor version that has it.
    since: u64,
    /// The first minor version from which a stricter check replaces it on the restricted level.
    replaced: Option<u64>,
    find: fn(Subject<'_>, u64) -> Option<Violation>,
}

const fn baseline(
    since: u64,
    replaced: Option<u64>,
    find: fn(Subject<'_>, u64) -> Option<Violation>,
) -> Check {
    Check {
        level: Level::Baseline,
        since,
        replaced,
        find,
    }
}

const fn restricted(since: u64, find: fn(Subject<'_>, u64) -> Option<Violation>) -> Check {
    Check {
        level: Level::Restricted,
        since,
        replaced: None,
        find,
    }
}

/// All checks, in the order of their messages: by level and upstream's name.
static CHECKS: [Check; 19] = [
    baseline(0, None, profiles::app_armor),
    baseline(0, Some(22), baseline::capabilities),
    baseline(0, None, host::namespaces),
    baseline(0, Some(0), volumes::host_paths),
    baseline(0, None, host::ports),
    baseline(34, None, host::probes_and_lifecycle),
    baseline(0, None, baseline::privileged),
    baseline(0, Some(35), baseline::proc_mount),
    baseline(0, None, profiles::se_linux),
    baseline(0, Some(19), profiles::seccomp),
    baseline(0, None, baseline::sysctls),
    baseline(0, None, host::windows_process),
    restricted(8, restricted::privilege_escalation),
    restricted(22, restricted::capabilities),
    restricted(35, restricted::proc_mount),
    restricted(0, volumes::restricted),
    restricted(0, restricted::non_root),
    restricted(23, restricted::user),
    restricted(19, profiles::required_seccomp),
];

/// Returns how a Pod violates a level.
pub(super) fn violations(subject: Subject<'_>, demanded: LevelVersion) -> Vec<Violation> {
    let minor = match demanded.version {
        Version::Latest => NEWEST,
        Version::Minor(minor) => minor.min(NEWEST),
    };
    let is_restricted = demanded.level == Level::Restricted;
    let applies = |check: &&Check| {
        let replaced = check.replaced.is_some_and(|since| minor >= since);
        check.level <= demanded.level && minor >= check.since && !(is_restricted && replaced)
    };
    let checks = CHECKS.iter().filter(applies);
    checks
        .filter_map(|check| (check.find)(subject, minor))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{Container, Pod};

    fn reasons(pod: &Pod, level: Level, version: Version) -> Vec<&'static str> {
        let subject = Subject::new(&pod.metadata, &pod.spec);
        let found = violations(subject, LevelVersion { level, version });
        found.into_iter().map(|it| it.reason).collect()
    }

    #[test]
    fn a_plain_pod_is_baseline_and_not_restricted() {
        let mut pod = Pod::default();
        pod.spec.containers.push(Container::default());
        for level in [Level::Privileged, Level::Baseline] {
            assert_eq!(reasons(&pod, level, Version::Latest), [""; 0]);
        }
        assert_eq!(
            reasons(&pod, Level::Restricted, Version::Latest),
            [
                "allowPrivilegeEscalation != false",
                "unrestricted capabilities",
                "runAsNonRoot != true",
                "seccompProfile",
            ]
        );
        assert_eq!(
            reasons(&pod, Level::Restricted, Version::Minor(7)),
            ["runAsNonRoot != true"]
        );
    }

    #[test]
    fn a_stricter_check_replaces_the_one_of_the_baseline() {
        let mut pod = Pod::default();
        let mut container = Container::default();
        let context = container.security_context.get_or_insert_default();
        let capabilities = context.capabilities.get_or_insert_default();
        capabilities.add.push("SYS_ADMIN".into());
        pod.spec.containers.push(container);
        let of = |level, minor| reasons(&pod, level, Version::Minor(minor));
        assert_eq!(of(Level::Baseline, 22), ["non-default capabilities"]);
        assert!(of(Level::Restricted, 21).contains(&"non-default capabilities"));
        let latest = of(Level::Restricted, 22);
        assert!(latest.contains(&"unrestricted capabilities"));
        assert!(!latest.contains(&"non-default capabilities"));
    }
}
