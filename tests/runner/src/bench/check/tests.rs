//! Comparisons with a stored run: what is worse, what is noise, what cannot be compared.

use super::Comparison;
use crate::bench::figure::{self, Figure};
use crate::bench::samples::Samples;
use serde_json::{Value, json};

const NAME: &str = "update, ns";

/// A run of one part with these figures, each of which is a cost.
fn run(figures: &[(&str, &[f64])]) -> Value {
    let figures: Vec<Figure> = figures
        .iter()
        .map(|&(name, rounds)| Figure::less(name, Samples::new(rounds.iter().copied())))
        .collect();
    json!({
        "machine": {"processor": "P", "cores": 2, "kernel": "6.1", "memory": "1 kB"},
        "cache": {"sizes": {"objects": 10}, "ours": figure::json(&figures)},
    })
}

fn one(value: f64) -> Value {
    run(&[(NAME, &[value])])
}

fn rate(value: f64) -> Value {
    let mut run = one(value);
    run["cache"]["ours"][0]["better"] = "more".into();
    run
}

#[test]
fn a_cost_that_grows_by_more_than_a_tenth_became_worse() {
    let comparison = Comparison::of(&one(100.0), &one(112.0));
    assert!(comparison.is_worse());
    let text = comparison.to_string();
    assert!(
        text.contains("| cache: update, ns |  100 | 112 | 12 % |"),
        "{text}"
    );
    assert!(!Comparison::of(&one(100.0), &one(109.0)).is_worse());
    let better = Comparison::of(&one(112.0), &one(100.0));
    assert!(!better.is_worse());
    assert!(better.to_string().contains("became better"));
}

#[test]
fn a_rate_that_falls_by_more_than_a_tenth_became_worse() {
    assert!(Comparison::of(&rate(112.0), &rate(100.0)).is_worse());
    assert!(!Comparison::of(&rate(100.0), &rate(112.0)).is_worse());
}

#[test]
fn a_difference_within_the_spread_of_either_run_is_none() {
    let noisy = run(&[(NAME, &[80.0, 100.0, 120.0])]);
    assert!(!Comparison::of(&noisy, &one(125.0)).is_worse());
    assert!(!Comparison::of(&one(83.0), &noisy).is_worse());
    assert!(Comparison::of(&noisy, &one(135.0)).is_worse(), "beyond it");
}

#[test]
fn something_where_nothing_was_became_worse_and_nothing_again_did_not() {
    assert!(Comparison::of(&one(0.0), &one(3.0)).is_worse());
    let same = Comparison::of(&one(0.0), &one(0.0));
    assert!(!same.is_worse() && same.compared == 1);
}

#[test]
fn figures_that_only_one_run_has_are_named_and_not_worse() {
    let (then, now) = (run(&[("old", &[1.0])]), run(&[("new", &[1.0])]));
    let comparison = Comparison::of(&then, &now);
    assert!(!comparison.is_worse());
    assert_eq!(
        comparison.notices,
        [
            "cache: new: the stored run does not have it",
            "cache: old: not measured in this run"
        ]
    );
}

#[test]
fn a_figure_without_rounds_is_named() {
    let mut then = one(1.0);
    then["cache"]["ours"][0]["rounds"] = json!([]);
    let comparison = Comparison::of(&then, &one(9.0));
    assert_eq!(comparison.notices, ["cache: update, ns: it cannot be read"]);
    assert!(!comparison.is_worse());
}

#[test]
fn parts_that_only_one_run_has_are_named() {
    let (mut then, mut now) = (one(1.0), one(1.0));
    then["queue"] = json!({"ours": []});
    now["codec"] = json!({"ours": []});
    let notices = Comparison::of(&then, &now).notices;
    assert_eq!(
        notices,
        [
            "codec: the stored run does not have it",
            "queue: not measured in this run"
        ]
    );
}

#[test]
fn other_sizes_and_runs_of_older_versions_are_not_compared() {
    let mut then = one(1.0);
    then["cache"]["sizes"]["objects"] = 20.into();
    let comparison = Comparison::of(&then, &one(9.0));
    assert!(!comparison.is_worse());
    assert!(comparison.notices[0].starts_with("cache: other sizes"));
    then["cache"] = json!({"figures": {}});
    let comparison = Comparison::of(&then, &one(9.0));
    assert!(comparison.notices[0].contains("older version"));
    assert_eq!(comparison.compared, 0);
}

#[test]
fn on_another_machine_differences_are_shown_and_not_judged() {
    for (key, value) in [("processor", json!("Q")), ("cores", json!(4))] {
        let mut then = one(100.0);
        then["machine"][key] = value;
        let comparison = Comparison::of(&then, &one(200.0));
        assert!(!comparison.is_worse());
        let text = comparison.to_string();
        assert!(text.contains(&format!("another {key}")), "{text}");
        assert!(
            text.contains("nothing is judged") && text.contains("100 %"),
            "{text}"
        );
    }
}

#[test]
fn another_kernel_is_named_and_the_figures_are_judged() {
    let mut then = one(100.0);
    then["machine"]["kernel"] = "6.2".into();
    let comparison = Comparison::of(&then, &one(200.0));
    assert_eq!(
        comparison.notices,
        [r#"machine: another kernel: "6.2" then, "6.1" now"#]
    );
    assert!(comparison.is_worse());
}
