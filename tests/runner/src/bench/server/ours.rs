//! Our figures of `bench server` that `--check` compares with another run.

use super::figures::{deliveries, of, text, whose};
use super::subject::Engine;
use super::{Found, named};
use crate::bench::figure::Figure;
use crate::bench::samples::Samples;
use serde_json::Value;

/// What is compared of a line: the name, the path, and whether more is better.
type Paths = &'static [(&'static str, &'static str, bool)];

const STARTS: Paths = &[
    ("until it answers, ms", "/start_ms", false),
    ("at rest, kB", "/rss_kb", false),
];
pub(super) const LISTS: Paths = &[("CPU s", "/cpu_seconds", false)];
const WATCHES: Paths = &[
    ("lag p50, ms", "/lag/p50_ms", false),
    ("lost", "/lost", false),
    ("RSS kB", "/rss_kb", false),
];
/// Of requests: creates, updates, applies.
pub(super) const REQUESTS: Paths = &[
    ("CPU µs", "/cpu_microseconds", false),
    ("a second", "/per_second", true),
];
const GROWTH: Paths = &[
    ("create, CPU µs", "/create_microseconds", false),
    ("get, CPU µs", "/get_microseconds", false),
    ("page of 500, CPU µs", "/page_microseconds", false),
    ("bytes each", "/bytes_per_object", false),
];

/// Returns the figures of our subjects at these paths of their lines.
pub(super) fn ours_of(group: &str, lines: &[Value], paths: Paths) -> Vec<Figure> {
    let mut figures = Vec::new();
    let ours = lines
        .iter()
        .filter(|line| text(line, "subject").starts_with("Kubist, "));
    for line in ours {
        let what = [text(line, "subject"), group.to_owned(), text(line, "case")];
        let what = what.iter().filter(|it| !it.is_empty()).map(String::as_str);
        let what = what.collect::<Vec<_>>().join(", ");
        for &(name, path, is_rate) in paths {
            let (name, value) = (format!("{what}, {name}"), Samples::once(of(line, path)));
            figures.push(if is_rate {
                Figure::more(name, value)
            } else {
                Figure::less(name, value)
            });
        }
    }
    figures
}

pub(super) fn ours(found: &Found) -> Vec<Figure> {
    let mut figures = ours_of("start", &found.starts, STARTS);
    figures.extend(ours_of("list", &found.lists, LISTS));
    figures.extend(ours_of("watch", &found.watches, WATCHES));
    for line in whose(&found.watches, &named(Engine::Memory)) {
        let name = format!("watch, {}, deliveries for a CPU second", text(line, "case"));
        figures.push(Figure::more(name, Samples::once(deliveries(line))));
    }
    figures.extend(ours_of("write", &found.writes, REQUESTS));
    for line in &found.growth {
        let group = format!("{:.0} small objects", of(line, "/objects"));
        figures.extend(ours_of(&group, std::slice::from_ref(line), GROWTH));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure;
    use crate::bench::server::APISERVER;
    use serde_json::json;

    fn found(subjects: &[&str]) -> Found {
        let mut found = Found::default();
        for subject in subjects {
            let list = json!({"subject": subject, "case": "protobuf", "cpu_seconds": 0.1});
            let watch = json!({
                "subject": subject, "case": "100 watchers", "deliveries": 8_000, "lost": 0,
                "cpu_seconds": 0.1,
            });
            found.lists.push(list);
            found.watches.push(watch);
        }
        found
    }

    #[test]
    fn only_our_subjects_have_figures_to_check_and_each_a_name_of_its_own() {
        let memory = named(Engine::Memory);
        let figures = figure::json(&ours(&found(&[&memory, APISERVER])));
        let names = figures.as_array().unwrap().iter();
        let mut names: Vec<_> = names.map(|it| it["figure"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "Kubist, memory, list, protobuf, CPU s",
                "Kubist, memory, watch, 100 watchers, lost",
                "watch, 100 watchers, deliveries for a CPU second",
            ]
        );
    }
}
