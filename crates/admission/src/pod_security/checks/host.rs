//! What the baseline forbids of the host.

use crate::pod_security::subject::Subject;
use crate::pod_security::wording::{Setters, Violation, containers, plural, quoted};
use kubist_api::core::v1::{HTTPGetAction, LifecycleHandler, Probe, TCPSocketAction};
use std::collections::BTreeSet;

pub(super) fn namespaces(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let spec = subject.spec;
    let all = [
        (spec.host_network, "hostNetwork=true"),
        (spec.host_pid, "hostPID=true"),
        (spec.host_ipc, "hostIPC=true"),
    ];
    let used = all.into_iter().filter(|(is_used, _)| *is_used);
    let used: Vec<&str> = used.map(|(_, text)| text).collect();
    (!used.is_empty()).then(|| Violation::new("host namespaces", used.join(", ")))
}

pub(super) fn ports(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let (mut names, mut ports) = (Vec::new(), BTreeSet::new());
    for container in subject.containers() {
        let used = container.ports.iter().filter(|it| it.host_port != 0);
        let used: Vec<String> = used.map(|it| it.host_port.to_string()).collect();
        if !used.is_empty() {
            names.push(container.name);
            ports.extend(used);
        }
    }
    if names.is_empty() {
        return None;
    }
    let ports: Vec<String> = ports.into_iter().collect();
    let detail = format!(
        "{} {} {} {}",
        containers(&names),
        plural("uses", "use", names.len()),
        plural("hostPort", "hostPorts", ports.len()),
        ports.join(", ")
    );
    Some(Violation::new("hostPort", detail))
}

pub(super) fn probes_and_lifecycle(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let (mut names, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    for container in subject.containers() {
        let lifecycle = container.lifecycle;
        let handlers = lifecycle.map(|it| [it.post_start.as_deref(), it.pre_stop.as_deref()]);
        let of_probes = container.probes.into_iter().flatten().flat_map(of_probe);
        let handlers = handlers.into_iter().flatten().flatten();
        let used = of_probes.chain(handlers.flat_map(of_handler));
        let used: Vec<&str> = used.filter(|it| !it.is_empty()).collect();
        if !used.is_empty() {
            names.insert(container.name);
            hosts.extend(used);
        }
    }
    if names.is_empty() {
        return None;
    }
    let names: Vec<&str> = names.into_iter().collect();
    let word = plural(
        "probe or lifecycle host",
        "probe or lifecycle hosts",
        hosts.len(),
    );
    let detail = format!(
        "{} {} {word} {}",
        containers(&names),
        plural("uses", "use", names.len()),
        quoted(hosts)
    );
    Some(Violation::new("probe or lifecycle host", detail))
}

fn of_probe(probe: &Probe) -> [&str; 2] {
    of_actions(probe.http_get.as_deref(), probe.tcp_socket.as_deref())
}

fn of_handler(handler: &LifecycleHandler) -> [&str; 2] {
    of_actions(handler.http_get.as_deref(), handler.tcp_socket.as_deref())
}

fn of_actions<'a>(
    http: Option<&'a HTTPGetAction>,
    tcp: Option<&'a TCPSocketAction>,
) -> [&'a str; 2] {
    [
        http.map_or("", |it| it.host.as_str()),
        tcp.map_or("", |it| it.host.as_str()),
    ]
}

pub(super) fn windows_process(subject: Subject<'_>, _minor: u64) -> Option<Violation> {
    let mut setters = Setters::default();
    let of_pod = subject
        .security()
        .and_then(|it| it.windows_options.as_deref());
    setters.pod = of_pod.is_some_and(|it| it.host_process == Some(true));
    for (name, context) in subject.contexts() {
        let options = context.windows_options.as_deref();
        if options.is_some_and(|it| it.host_process == Some(true)) {
            setters.containers.push(name);
        }
    }
    let detail = format!(
        "{} must not set securityContext.windowsOptions.hostProcess=true",
        setters.text()?
    );
    Some(Violation::new("hostProcess", detail))
}
