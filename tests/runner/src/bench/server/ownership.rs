//! The part of `bench server` about field ownership: server-side apply, and the cost of managed
//! fields for creates, updates and lists.

use super::figures::{figure, of, text, write_table};
use super::ours::{LISTS, REQUESTS, ours_of};
use super::subject::{Engine, Subject};
use super::{APISERVER, Bench, Found, Size, named, of as lines_of};
use crate::bench::chart::Chart;
use crate::bench::figure::Figure;
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::table::{Table, fixed};
use crate::bench::verdict::Verdict;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::path::Path;

/// The subject without managed fields.
const UNMANAGED: &str = "Kubist without managed fields";
/// Rounds over all subjects; the least CPU time of a case counts.
const ROUNDS: u32 = 3;
/// The cases of apply.
const APPLIES: [&str; 3] = [
    "apply, one field changes",
    "apply, nothing changes",
    "apply, forced conflict",
];
/// The cases with a counterpart without managed fields on the same server, and without it.
const WRITES: [&str; 4] = [
    "create, ConfigMap",
    "create, Deployment",
    "update, ConfigMap",
    "update, Deployment",
];
/// The suffix of a counterpart.
const NO_MANAGERS: &str = ", no managers";

impl Bench {
    /// Measures field ownership, with the subjects in turn.
    pub(super) fn ownership(
        &mut self,
        apiserver: Option<&Path>,
        unmanaged: Option<&Path>,
    ) -> Outcome {
        let mut subjects = vec![(named(Engine::Memory), self.kubist(Engine::Memory)?)];
        if let Some(path) = unmanaged {
            let scratch = self.scratch.join("unmanaged");
            std::fs::create_dir_all(&scratch)?;
            let path = std::fs::canonicalize(path)?;
            let subject = Subject::kubist(&path, &scratch, Engine::Memory, None, &[])?;
            subjects.push((UNMANAGED.to_owned(), subject));
        }
        if let Some(path) = apiserver {
            subjects.push((APISERVER.to_owned(), self.start_apiserver(path)?));
        }
        let seconds = if self.size.write_seconds > 1 { 2 } else { 1 };
        for round in 0..ROUNDS {
            for (name, subject) in &subjects {
                let plain = name == UNMANAGED;
                let lines = self.load.applies(subject, seconds, round, plain)?;
                least(&mut self.found.applies, lines_of(name, lines));
            }
        }
        for (name, subject) in &subjects {
            if name != UNMANAGED {
                self.managed_lists(subject, name)?;
            }
        }
        subjects
            .into_iter()
            .try_for_each(|(_, subject)| subject.stop())
    }

    /// Lists Pods with the managed fields that the server wrote, then without if it is Kubist's.
    fn managed_lists(&mut self, subject: &Subject, name: &str) -> Outcome {
        let objects = self.size.objects;
        self.load.fill(subject, objects)?;
        let lines = self.load.whole_lists(subject)?;
        self.found.managed_lists.extend(lines_of(name, lines));
        if name == APISERVER {
            return Ok(());
        }
        self.load.reset(subject, objects)?;
        let mut lines = self.load.whole_lists(subject)?;
        for line in &mut lines {
            line["case"] = format!("{}{NO_MANAGERS}", text(line, "case")).into();
        }
        self.found.managed_lists.extend(lines_of(name, lines));
        Ok(())
    }
}

/// Adds lines, or replaces those of the same case with more CPU time.
pub(super) fn least(found: &mut Vec<Value>, lines: Vec<Value>) {
    for line in lines {
        let same = |it: &&mut Value| it["case"] == line["case"] && it["subject"] == line["subject"];
        match found.iter_mut().find(same) {
            Some(known) if cpu(known) > cpu(&line) => *known = line,
            Some(_) => {}
            None => found.push(line),
        }
    }
}

fn cpu(line: &Value) -> f64 {
    of(line, "/cpu_microseconds")
}

pub(super) fn report(size: &Size, found: &Found) -> Report {
    Report {
        name: "ownership",
        what: format!(
            "4 clients; the least CPU time of {ROUNDS} rounds. {} Pods for lists.",
            size.objects
        ),
        tables: vec![write_table("write", &found.applies), lists(found)],
        verdicts: verdicts(size, found),
        charts: vec![chart(found)],
        sizes: json!({"objects": size.objects, "write_seconds": size.write_seconds}),
        ours: ours(found),
        json: json!({"applies": found.applies, "lists": found.managed_lists}),
    }
}

fn lists(found: &Found) -> Table {
    let head = [
        "list",
        "of",
        "MB",
        "CPU, s",
        "CPU for a Pod, µs",
        "CPU for a MB, ms",
    ];
    let mut table = Table::new(head);
    for line in &found.managed_lists {
        let seconds = of(line, "/cpu_seconds");
        table.row([
            text(line, "case"),
            text(line, "subject"),
            fixed(of(line, "/bytes") / 1e6, 1),
            fixed(seconds, 3),
            fixed(seconds * 1e6 / of(line, "/items"), 1),
            fixed(per_megabyte(line) * 1e3, 2),
        ]);
    }
    table
}

/// Returns the CPU seconds for a megabyte of a list.
fn per_megabyte(line: &Value) -> f64 {
    of(line, "/cpu_seconds") * 1e6 / of(line, "/bytes")
}

fn list_figure(found: &Found, subject: &str, case: &str) -> f64 {
    let mut lines = found.managed_lists.iter();
    let line = lines.find(|line| line["subject"] == *subject && line["case"] == *case);
    line.map_or(f64::NAN, per_megabyte)
}

fn verdicts(size: &Size, found: &Found) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let memory = named(Engine::Memory);
    let write = |subject: &str, case: &str| {
        let path = "/cpu_microseconds";
        figure(&found.applies, subject, case, path)
    };
    let beside = |what: String, ours: f64, theirs: f64| {
        let verdict = Verdict::less(what, Samples::once(ours));
        verdict.beside([(APISERVER, Samples::once(theirs))])
    };
    let bound = |what: &str, ours: f64, times: f64, name: &str, limit: f64| {
        let verdict = Verdict::less(what, Samples::once(ours)).limit(name, limit);
        verdict.goal_of_limit(times)
    };
    for case in APPLIES {
        let (ours, theirs) = (write(&memory, case), write(APISERVER, case));
        verdicts.push(beside(format!("CPU of an {case}"), ours, theirs).goal(5.0));
    }
    for case in WRITES {
        let ours = write(&memory, case);
        let what = format!("CPU of: {case}");
        let before = write(UNMANAGED, case);
        let reset = write(&memory, &format!("{case}{NO_MANAGERS}"));
        verdicts.extend([
            beside(what.clone(), ours, write(APISERVER, case)),
            bound(&what, ours, 1.3, "without managed fields", before),
            bound(&what, ours, 1.3, "without managers", reset),
        ]);
    }
    for case in ["protobuf", "JSON"] {
        let what = format!("CPU for a byte, LIST of {} Pods, {case}", size.objects);
        let ours = list_figure(found, &memory, case);
        let theirs = list_figure(found, APISERVER, case);
        let without = list_figure(found, &memory, &format!("{case}{NO_MANAGERS}"));
        verdicts.extend([
            beside(what.clone(), ours, theirs).goal(10.0),
            bound(&what, ours, 1.1, "without managers", without),
        ]);
    }
    verdicts
}

fn ours(found: &Found) -> Vec<Figure> {
    let mut figures = ours_of("", &found.applies, REQUESTS);
    figures.extend(ours_of("list", &found.managed_lists, LISTS));
    figures
}

fn chart(found: &Found) -> Chart {
    let title = "CPU of the server for a server-side apply, µs (less is better)";
    let mut chart = Chart::new("server-apply", title);
    let lines = found.applies.iter();
    for line in lines.filter(|line| APPLIES.contains(&text(line, "case").as_str())) {
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        chart.bar(label, cpu(line), fixed(cpu(line), 0));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::least;
    use serde_json::json;

    #[test]
    fn the_round_with_the_least_cpu_time_counts() {
        let line = |cpu: f64| json!({"case": "c", "subject": "s", "cpu_microseconds": cpu});
        let mut found = Vec::new();
        for cpu in [3.0, 2.0, 4.0] {
            least(&mut found, vec![line(cpu)]);
        }
        assert_eq!(found, vec![line(2.0)]);
    }
}
