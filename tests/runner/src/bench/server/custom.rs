//! The part of `bench server` about custom resources with large schemas and rules: creates,
//! updates, reads and lists.
//!
//! The definitions are those of the interop part `definitions`, whose program fetches them.

use super::figures::{figure, of, text, write_table};
use super::ownership::least;
use super::subject::Engine;
use super::{APISERVER, Bench, Found, named, of as lines_of};
use crate::bench::chart::Chart;
use crate::bench::report::Report;
use crate::bench::table::{Table, fixed};
use crate::bench::target::Target;
use kubist_test_support::process::{Outcome, root};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Rounds over all subjects; the least CPU time of a case counts.
const ROUNDS: u32 = 3;
/// Objects of each kind that are listed.
const LISTED: u32 = 5_000;
/// The verbs of the cases.
const VERBS: [&str; 3] = ["create", "update", "get"];

/// The kinds, with the names of their definitions and the paths of their lists.
const KINDS: [(&str, &str, &str); 3] = [
    (
        "HTTPRoute",
        "httproutes.gateway.networking.k8s.io",
        "/apis/gateway.networking.k8s.io/v1/namespaces/listed/httproutes",
    ),
    (
        "Certificate",
        "certificates.cert-manager.io",
        "/apis/cert-manager.io/v1/namespaces/listed/certificates",
    ),
    (
        "Prometheus",
        "prometheuses.monitoring.coreos.com",
        "/apis/monitoring.coreos.com/v1/namespaces/listed/prometheuses",
    ),
];

impl Bench {
    /// Measures custom resources, with the subjects in turn.
    pub(super) fn custom(&mut self, apiserver: Option<&Path>) -> Outcome {
        let definitions = definitions(&self.scratch)?;
        let mut subjects = vec![(named(Engine::Memory), self.kubist(Engine::Memory)?)];
        if let Some(path) = apiserver {
            subjects.push((APISERVER.to_owned(), self.start_apiserver(path)?));
        }
        let seconds = if self.size.write_seconds > 1 { 3 } else { 1 };
        for round in 0..ROUNDS {
            for (name, subject) in &subjects {
                let lines = self.load.customs(subject, &definitions, seconds, round)?;
                least(&mut self.found.customs, lines_of(name, lines));
            }
        }
        for (name, subject) in &subjects {
            self.load.fill_customs(subject, &definitions, LISTED)?;
            for (kind, _, path) in KINDS {
                let lines = self.load.list_at(subject, kind, path)?;
                self.found.custom_lists.extend(lines_of(name, lines));
            }
        }
        subjects
            .into_iter()
            .try_for_each(|(_, subject)| subject.stop())
    }
}

/// Writes the definitions of the kinds to a file of the scratch folder.
fn definitions(scratch: &Path) -> Outcome<PathBuf> {
    let file = scratch.join("definitions.json");
    let names = KINDS.map(|(_, definition, _)| definition).join(",");
    let mut go = Command::new("go");
    go.args(["run", ".", "-print", &names])
        .current_dir(root().join("tests/interop/definitions"))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&file)?);
    let status = go.status().map_err(|error| format!("go: {error}"))?;
    if !status.success() {
        return Err(format!("the definitions could not be fetched: {status}").into());
    }
    Ok(file)
}

pub(super) fn report(found: &Found) -> Report {
    Report {
        name: "custom",
        what: format!(
            "4 clients; the least CPU time of {ROUNDS} rounds. Lists of {LISTED} objects as JSON."
        ),
        tables: vec![
            sizes(found),
            write_table("request", &found.customs),
            lists(found),
        ],
        targets: targets(found),
        charts: vec![chart(found)],
        json: json!({"requests": found.customs, "lists": found.custom_lists}),
    }
}

/// The size of an object of each kind.
fn sizes(found: &Found) -> Table {
    let mut table = Table::new(["object as it is read", "kB"]);
    for (kind, ..) in KINDS {
        let case = format!("get, {kind}");
        let bytes = figure(&found.customs, &named(Engine::Memory), &case, "/bytes");
        table.row([kind.to_owned(), fixed(bytes / 1e3, 1)]);
    }
    table
}

fn lists(found: &Found) -> Table {
    let mut table = Table::new(["list", "of", "MB", "CPU, s", "CPU for an object, µs"]);
    for line in &found.custom_lists {
        let seconds = of(line, "/cpu_seconds");
        table.row([
            text(line, "case"),
            text(line, "subject"),
            fixed(of(line, "/bytes") / 1e6, 1),
            fixed(seconds, 3),
            fixed(seconds * 1e6 / of(line, "/items"), 1),
        ]);
    }
    table
}

/// A kube-apiserver's CPU is that of its process alone: what its etcd uses is listed beside it.
fn targets(found: &Found) -> Vec<Target> {
    let memory = named(Engine::Memory);
    let mut targets = Vec::new();
    let mut add = |what: &str, share: f64, [ours, theirs]: [f64; 2]| {
        if theirs.is_finite() {
            targets.push(Target::at_most(
                what,
                ours,
                share,
                theirs,
                "kube-apiserver's",
            ));
        }
    };
    for verb in VERBS {
        for (kind, ..) in KINDS {
            let case = format!("{verb}, {kind}");
            let cpu = |subject| figure(&found.customs, subject, &case, "/cpu_microseconds");
            add(
                &format!("CPU of: {case}"),
                0.2,
                [cpu(&memory), cpu(APISERVER)],
            );
        }
    }
    for (kind, ..) in KINDS {
        let cpu = |subject| figure(&found.custom_lists, subject, kind, "/cpu_seconds");
        let what = format!("CPU of a LIST of {LISTED}, {kind}");
        add(&what, 0.2, [cpu(&memory), cpu(APISERVER)]);
    }
    targets
}

fn chart(found: &Found) -> Chart {
    let title = "CPU of the server for a create of a custom resource, µs (less is better)";
    let mut chart = Chart::new("server-custom", title);
    let lines = found.customs.iter();
    for line in lines.filter(|line| text(line, "case").starts_with("create")) {
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        let cpu = of(line, "/cpu_microseconds");
        chart.bar(label, cpu, fixed(cpu, 0));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::{APISERVER, Engine, Found, named, targets};
    use serde_json::json;

    #[test]
    fn each_case_is_compared_with_that_of_the_kube_apiserver() {
        let line = |subject: &str, cpu: f64| json!({"case": "create, Certificate", "subject": subject, "cpu_microseconds": cpu});
        let mut found = Found::default();
        found.customs.push(line(&named(Engine::Memory), 100.0));
        assert!(targets(&found).is_empty(), "alone it has no targets");
        found.customs.push(line(APISERVER, 600.0));
        let targets = targets(&found);
        assert_eq!(targets.len(), 1);
        assert_eq!(targets[0].json()["measured"], "1/6.0");
        assert_eq!(targets[0].json()["holds"], true);
    }
}
