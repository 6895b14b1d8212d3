//! The part of `bench server` about custom resources with large schemas and rules: creates,
//! updates, reads and lists.
//!
//! The definitions are those of the interop part `definitions`, whose program fetches them.

use super::figures::{figure, of, text, write_table};
use super::ours::{LISTS, REQUESTS, ours_of};
use super::ownership::least;
use super::subject::Engine;
use super::{APISERVER, Bench, Found, named, of as lines_of};
use crate::bench::chart::Chart;
use crate::bench::figure::Figure;
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::table::{Table, fixed};
use crate::bench::verdict::Verdict;
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
        verdicts: verdicts(found),
        charts: vec![chart(found)],
        sizes: json!({"listed": LISTED}),
        ours: ours(found),
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
fn verdicts(found: &Found) -> Vec<Verdict> {
    let memory = named(Engine::Memory);
    let verdict = |what: String, figure: &dyn Fn(&str) -> f64| {
        let ours = Verdict::less(what, Samples::once(figure(&memory)));
        let theirs = Samples::once(figure(APISERVER));
        ours.beside([(APISERVER, theirs)]).goal(5.0)
    };
    let mut verdicts = Vec::new();
    for verb in VERBS {
        for (kind, ..) in KINDS {
            let case = format!("{verb}, {kind}");
            let cpu = |subject: &str| figure(&found.customs, subject, &case, "/cpu_microseconds");
            verdicts.push(verdict(format!("CPU of: {case}"), &cpu));
        }
    }
    for (kind, ..) in KINDS {
        let cpu = |subject: &str| figure(&found.custom_lists, subject, kind, "/cpu_seconds");
        verdicts.push(verdict(format!("CPU of a LIST of {LISTED}, {kind}"), &cpu));
    }
    verdicts
}

fn ours(found: &Found) -> Vec<Figure> {
    let mut figures = ours_of("", &found.customs, REQUESTS);
    figures.extend(ours_of("list", &found.custom_lists, LISTS));
    figures
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
    use super::{APISERVER, Engine, Found, Verdict, named, ours, verdicts};
    use crate::bench::figure;
    use serde_json::json;

    #[test]
    fn each_case_is_compared_with_that_of_the_kube_apiserver() {
        let line = |subject: &str, cpu: f64| json!({"case": "create, Certificate", "subject": subject, "cpu_microseconds": cpu});
        let known = |found: &Found| {
            let all = verdicts(found);
            let known = all.iter().filter(|it| it.is_known());
            known.map(Verdict::json).collect::<Vec<_>>()
        };
        let mut found = Found::default();
        found.customs.push(line(&named(Engine::Memory), 100.0));
        assert!(known(&found).is_empty(), "alone it has no verdicts");
        found.customs.push(line(APISERVER, 600.0));
        let verdicts = known(&found);
        assert_eq!(verdicts.len(), 1);
        assert_eq!(verdicts[0]["ahead_by"], 6.0);
        assert!(verdicts[0]["short_of_goal_by"].as_f64().unwrap() <= 1.0);
        let figures = figure::json(&ours(&found));
        assert_eq!(
            figures[0]["figure"],
            "Kubist, memory, create, Certificate, CPU µs"
        );
        assert_eq!(
            figures.as_array().unwrap().len(),
            1,
            "the peer's are not ours"
        );
    }
}
