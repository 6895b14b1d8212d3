//! Compares mutated objects of every kind under Kubist's and upstream's rules.

use kubist_validation::{Accepted, Case, Difference, Mutator, Ours, Seeds, Theirs, What, compare};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// The program of `tests/interop/validation`; `cargo xtask interop` builds it and sets this.
const PROGRAM: &str = "KUBIST_VALIDATION_PROGRAM";
/// Mutated objects of each kind. Default: 25.
const COUNT: &str = "KUBIST_VALIDATION_COUNT";
/// The seed of the mutations. Default: 1.
const SEED: &str = "KUBIST_VALIDATION_SEED";
/// Whether messages are compared. Default: true.
const WORDS: &str = "KUBIST_VALIDATION_WORDS";
/// Only kinds whose plural contains this.
const ONLY: &str = "KUBIST_VALIDATION_ONLY";
/// Kinds with seeds.
const KINDS: usize = 40;
/// The most differences that a failure shows.
const SHOWN_MAX: usize = 60;

/// Kinds with a status subresource.
const WITH_STATUS: [&str; 19] = [
    "cronjobs",
    "daemonsets",
    "deployments",
    "horizontalpodautoscalers",
    "ingresses",
    "jobs",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "poddisruptionbudgets",
    "pods",
    "replicasets",
    "replicationcontrollers",
    "resourcequotas",
    "servicecidrs",
    "services",
    "statefulsets",
    "volumeattachments",
];

/// Known differences: intended ones, and open ones.
const TABLES: [&str; 2] = ["accepted.toml", "open-messages.toml"];
/// The same for statuses.
const STATUS_TABLES: [&str; 2] = ["accepted.toml", "open-status.toml"];

fn tables(names: &[&str]) -> Vec<Accepted> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &&str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("it is in the repository");
        Accepted::parse(&text).unwrap_or_else(|error| panic!("{name}: {error:?}"))
    };
    names.iter().map(read).collect()
}

fn seeds() -> Seeds {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/seeds");
    Seeds::read(&folder).unwrap_or_else(|error| panic!("{error:?}"))
}

fn variable<T: FromStr>(name: &str, usual: T) -> T {
    let Some(text) = std::env::var_os(name) else {
        return usual;
    };
    let parsed = text.to_str().and_then(|text| text.parse().ok());
    parsed.unwrap_or_else(|| panic!("{name} is {}", text.display()))
}

/// The count of a difference, and its first case.
struct Found {
    count: usize,
    first: Difference,
    case: Case,
}

/// The results of a run.
#[derive(Default)]
struct Run {
    objects: usize,
    invalid: usize,
    panics: usize,
    known: usize,
    found: BTreeMap<String, Found>,
}

impl Run {
    /// Runs cases through both.
    fn compare(&mut self, sides: &Sides, cases: Vec<Case>) {
        let answers = sides.theirs.answers(&cases);
        let answers = answers.unwrap_or_else(|error| panic!("{error:?}"));
        for (case, theirs) in cases.into_iter().zip(answers) {
            self.objects += 1;
            self.invalid += usize::from(!theirs.causes.is_empty());
            let fault = theirs.fault.as_deref();
            if fault == Some("Panic") {
                // Upstream's code panicked on unexpected input: there is nothing to compare.
                self.panics += 1;
                continue;
            }
            assert!(!matches!(fault, Some("Unknown" | "Encode")), "{theirs:?}");
            let differences = compare(&case, &sides.ours.answer(&case), &theirs);
            self.note(sides, &case, differences);
        }
    }

    fn note(&mut self, sides: &Sides, case: &Case, differences: Vec<Difference>) {
        for difference in differences {
            if difference.what == What::Message && !sides.words {
                continue;
            }
            if sides.accepted.iter().any(|it| it.has(&difference)) {
                self.known += 1;
                continue;
            }
            let entry = self.found.entry(difference.to_string());
            let first = || Found {
                count: 0,
                first: difference,
                case: case.clone(),
            };
            entry.or_insert_with(first).count += 1;
        }
    }

    fn end(self, what: &str) {
        assert!(self.found.is_empty(), "{}", report(&self.found));
        let (objects, invalid, panics, known) =
            (self.objects, self.invalid, self.panics, self.known);
        say(&format!(
            "{objects} {what} ({invalid} of them invalid, {panics} a panic of upstream's), {known} \
             known differences, all others agree"
        ));
    }
}

/// The comparisons, and their known differences.
struct Sides {
    ours: Ours,
    theirs: Theirs,
    accepted: Vec<Accepted>,
    words: bool,
}

impl Sides {
    /// Returns none without upstream's program.
    fn new(tables: Vec<Accepted>) -> Option<Self> {
        let Some(program) = std::env::var_os(PROGRAM) else {
            say(&format!("skipped: {PROGRAM} names no program"));
            return None;
        };
        Some(Self {
            ours: Ours::default(),
            theirs: Theirs::new(program),
            accepted: tables,
            words: variable(WORDS, true),
        })
    }
}

/// Compares the cases of each kind that `takes_part` and is selected, and prints their number.
fn compare_all(
    tables: Vec<Accepted>,
    what: &str,
    takes_part: impl Fn(&str) -> bool,
    cases: impl Fn(&Mutator<'_>, &str, usize) -> Vec<Case>,
) {
    let Some(sides) = Sides::new(tables) else {
        return;
    };
    let (count, seed): (usize, u64) = (variable(COUNT, 25), variable(SEED, 1));
    let only: String = variable(ONLY, String::new());
    let seeds = seeds();
    let mutator = Mutator::new(&seeds, &sides.ours, seed);
    let mut run = Run::default();
    let asked = |it: &&str| it.contains(&only) && takes_part(it);
    for resource in seeds.resources().filter(asked) {
        run.compare(&sides, cases(&mutator, resource, count));
    }
    run.end(what);
}

#[test]
fn mutated_objects_are_judged_as_by_upstream() {
    let cases = |it: &Mutator<'_>, resource: &str, count| it.cases(resource, count);
    compare_all(tables(&TABLES), "objects", |_| true, cases);
}

#[test]
fn mutated_statuses_are_judged_as_by_upstream() {
    let tables = tables(&STATUS_TABLES);
    let has_status = |it: &str| WITH_STATUS.contains(&it);
    let cases = |it: &Mutator<'_>, resource: &str, count| it.status_cases(resource, count);
    compare_all(tables, "statuses", has_status, cases);
}

/// Returns the differences, the most frequent first.
fn report(found: &BTreeMap<String, Found>) -> String {
    let mut lines: Vec<(&String, &Found)> = found.iter().collect();
    lines.sort_by_key(|(_, found)| std::cmp::Reverse(found.count));
    let total: usize = lines.iter().map(|(_, found)| found.count).sum();
    let mut shown = vec![format!("{total} differences in {} places\n", lines.len())];
    for (name, found) in lines
        .iter()
        .take(variable("KUBIST_VALIDATION_SHOWN", SHOWN_MAX))
    {
        let (count, seen, case) = (found.count, &found.first.seen, &found.case);
        let way = if case.old.is_some() {
            "update"
        } else {
            "create"
        };
        let done = case.done.join("; ");
        shown.push(format!(
            "{count:5} {name}\n        {seen}\n        {way}: {done}\n"
        ));
    }
    shown.concat()
}

#[expect(clippy::print_stdout, reason = "interop shows what was compared")]
fn say(line: &str) {
    println!("{line}");
}

#[test]
fn the_tables_are_specific() {
    for names in [&TABLES[..], &STATUS_TABLES] {
        let counts: Vec<usize> = tables(names).iter().map(Accepted::len).collect();
        assert!(counts[0] > 0, "{counts:?}");
    }
}

#[test]
fn seeds_are_valid_by_our_rules() {
    let (seeds, ours) = (seeds(), Ours::default());
    let mutator = Mutator::new(&seeds, &ours, 1);
    assert_eq!(seeds.resources().count(), KINDS);
    for resource in seeds.resources() {
        for case in mutator.cases(resource, 0) {
            let answer = ours.answer(&case);
            assert!(answer.prepared.is_some(), "{resource}: {answer:?}");
        }
    }
}

#[test]
fn a_number_makes_the_same_cases_again() {
    let (seeds, ours) = (seeds(), Ours::default());
    let cases = |seed| Mutator::new(&seeds, &ours, seed).cases("pods", 40);
    assert_eq!(cases(7), cases(7));
    assert_ne!(cases(7), cases(8));
    let updates = cases(7).iter().filter(|it| it.old.is_some()).count();
    assert!((5..35).contains(&updates), "{updates} of 40");
}
