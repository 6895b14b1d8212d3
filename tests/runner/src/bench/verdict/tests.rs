//! Verdicts: directions, the best peer, noise, goals and limits.

use super::{Verdict, table};
use crate::bench::samples::Samples;

fn once(value: f64) -> Samples {
    Samples::once(value)
}

#[test]
fn less_of_a_cost_and_more_of_a_rate_are_ahead() {
    let cost = Verdict::less("cpu", once(2.0)).beside([("go", once(9.0))]);
    assert_eq!(cost.cells()[1..3], ["go", "4.5 ×"]);
    let rate = Verdict::more("rate", once(9.0)).beside([("go", once(2.0))]);
    assert_eq!(rate.cells()[1..3], ["go", "4.5 ×"]);
    let cost = Verdict::less("cpu", once(9.0)).beside([("go", once(2.0))]);
    assert_eq!(cost.cells()[2], "**behind** by 4.5 ×");
    let rate = Verdict::more("rate", once(2.0)).beside([("go", once(9.0))]);
    assert_eq!(rate.cells()[2], "**behind** by 4.5 ×");
}

#[test]
fn the_best_of_the_peers_that_were_measured_is_compared() {
    let peers = || [("a", once(8.0)), ("b", once(6.0)), ("c", once(f64::NAN))];
    let cost = Verdict::less("cpu", once(2.0)).beside(peers());
    assert_eq!(cost.cells()[1..3], ["b", "3.0 ×"]);
    let rate = Verdict::more("rate", once(24.0)).beside(peers());
    assert_eq!(rate.cells()[1..3], ["a", "3.0 ×"]);
}

#[test]
fn what_is_within_the_noise_of_both_is_even() {
    let noisy = |middle: f64| Samples::new([middle * 0.9, middle, middle * 1.1]);
    let verdict = Verdict::less("cpu", noisy(100.0)).beside([("go", noisy(115.0))]);
    assert_eq!(verdict.cells()[2], "even");
    let verdict = Verdict::less("cpu", noisy(100.0)).beside([("go", noisy(130.0))]);
    assert_eq!(verdict.cells()[2], "1.30 ×");
    let verdict = Verdict::less("cpu", once(1.04)).beside([("go", once(1.0))]);
    assert_eq!(verdict.cells()[2], "even", "single runs are noisy, too");
}

#[test]
fn the_goal_is_reached_or_the_factor_to_it_is_named() {
    let verdict = |lead: f64| {
        let verdict = Verdict::less("cpu", once(1.0)).beside([("go", once(lead))]);
        verdict.goal(8.0)
    };
    assert_eq!(verdict(9.0).cells()[3..5], ["8 × ahead", "reached"]);
    assert_eq!(verdict(3.2).cells()[3..5], ["8 × ahead", "2.5 ×"]);
    let even = Verdict::less("heap", once(1.0)).beside([("go", once(1.0))]);
    assert_eq!(even.goal(1.0).cells()[3..5], ["not behind", "reached"]);
}

#[test]
fn a_limit_has_a_distance_where_its_figure_is_known() {
    let peak = |peak: f64| {
        let verdict = Verdict::less("peak", once(peak)).limit("steady state", 100.0);
        verdict.goal_of_limit(1.25)
    };
    let cells = ["1.25 × the limit", "reached", "steady state", "1.20 ×"];
    assert_eq!(peak(120.0).cells()[3..], cells);
    assert_eq!(peak(250.0).cells()[4], "2.0 ×");
    let rate = Verdict::more("rate", once(5.0)).limit("the wire", 20.0);
    assert_eq!(rate.cells()[6], "4.0 ×");
    let named = Verdict::more("rate", once(5.0)).limit("one lock", f64::NAN);
    assert_eq!(named.cells()[5..], ["one lock", "–"]);
}

#[test]
fn a_goal_of_nothing_is_reached_by_nothing_alone() {
    let lost = |count: f64| Verdict::less("lost", once(count)).goal_value("0", 0.0);
    assert_eq!(lost(0.0).cells()[3..5], ["0", "reached"]);
    assert_eq!(lost(3.0).cells()[3..5], ["0", "∞"]);
    let start = Verdict::less("start", once(100.0)).goal_value("50 ms", 50.0);
    assert_eq!(start.cells()[3..5], ["50 ms", "2.0 ×"]);
}

#[test]
fn what_was_not_measured_is_no_verdict() {
    let ours = Verdict::less("cpu", once(f64::NAN)).beside([("go", once(1.0))]);
    assert!(!ours.is_known());
    assert_eq!(ours.goal(8.0).cells()[2..5], ["–", "8 × ahead", "–"]);
    let peer = Verdict::less("cpu", once(1.0)).beside([("go", once(f64::NAN))]);
    assert!(!peer.is_known());
    assert!(!peer.limit("one lock", f64::NAN).is_known());
    let lost = Verdict::less("lost", once(f64::NAN)).goal_value("0", 0.0);
    assert!(!lost.is_known());
}

#[test]
fn columns_in_which_no_row_has_anything_are_left_out() {
    let verdicts = [
        Verdict::less("a", once(1.0)).beside([("go", once(3.0))]),
        Verdict::less("b", once(1.0)).goal_value("2 s", 2.0),
    ];
    let expected = "\
| verdict | best peer | ahead by | goal | short of it by |
|---------|----------:|---------:|-----:|---------------:|
| a       |        go |    3.0 × |    – |              – |
| b       |         – |        – |  2 s |        reached |
";
    assert_eq!(table(&verdicts.each_ref()).to_string(), expected);
}

#[test]
fn json_has_the_numbers_behind_the_words() {
    let verdict = Verdict::less("cpu", once(2.0)).beside([("go", once(8.0))]);
    let json = verdict.goal(8.0).json();
    assert_eq!(json["ahead_by"], 4.0);
    assert_eq!(json["short_of_goal_by"], 2.0);
    assert_eq!(json["best_peer"], "go");
    assert_eq!(json["theirs"]["rounds"][0], 8.0);
}
