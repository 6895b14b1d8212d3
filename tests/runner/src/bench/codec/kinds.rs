//! The part of `bench codec` about one object of every kind that all implementations know.

use super::{Figure, OURS, System, TIME, Table, Verdict, limit_of};

/// The operations with their titles, and the peer of each.
const OPERATIONS: [(&str, &str, &str); 4] = [
    ("decode/json", "decode JSON", "k8s-openapi"),
    ("decode/protobuf", "decode protobuf", "prost"),
    ("encode/json", "encode JSON", "k8s-openapi"),
    ("encode/protobuf", "encode protobuf", "prost"),
];

/// What the kinds add to the report.
pub(super) struct Kinds {
    pub(super) table: Table,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) ours: Vec<Figure>,
}

/// Every kind should be no slower, in the geometric mean.
const GOAL: f64 = 1.0;

pub(super) fn report(system: &System) -> Kinds {
    let mut kinds = Kinds {
        table: Table::new([
            "geometric mean of all kinds",
            "Kubist, µs",
            "peer, µs",
            "peer",
            "ahead in",
            "furthest behind, or least ahead",
        ]),
        verdicts: Vec::new(),
        ours: Vec::new(),
    };
    for (operation, title, peer) in OPERATIONS {
        let time = |of: &str| system.samples(&format!("kinds/{operation}/{of}"), TIME);
        kinds.table.row([
            title.to_owned(),
            time(OURS).fixed(2),
            time(peer).fixed(2),
            peer.to_owned(),
            ahead(system, operation),
            worst(system, operation),
        ]);
        let what = format!("{title}, all kinds");
        let verdict = Verdict::less(&*what, time(OURS)).beside([(peer, time(peer))]);
        let (limit, limit_title) = limit_of(operation.split('/').next().unwrap_or_default());
        let limit = system.samples(&format!("kinds/baseline/{limit}"), TIME);
        let verdict = verdict.goal(GOAL).limit(limit_title, limit.median());
        kinds.verdicts.push(verdict);
        kinds
            .ours
            .push(Figure::less(format!("{what}, µs"), time(OURS)));
    }
    kinds
}

/// In how many kinds ours is no slower, in the last round.
fn ahead(system: &System, operation: &str) -> String {
    let count = |of: &str, key: &str| {
        let line = system.last(&format!("kinds/{operation}/{of}"))?;
        line[key].as_u64()
    };
    match (count("worst", "ahead"), count(OURS, "kinds")) {
        (Some(ahead), Some(all)) => format!("{ahead} of {all}"),
        _ => "–".to_owned(),
    }
}

/// The kinds with the least ratios in the last round: how many times as fast as the peer.
fn worst(system: &System, operation: &str) -> String {
    let line = system.last(&format!("kinds/{operation}/worst"));
    let kinds = line.and_then(|line| line["kinds"].as_array());
    let named = kinds.into_iter().flatten().filter_map(|it| {
        let (kind, times) = (it["kind"].as_str()?, it["times"].as_f64()?);
        Some(format!("{} {times:.2}", kind.replace("core/", "")))
    });
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_worst_kinds_are_named_with_their_ratios() {
        let lines = vec![
            json!({"case": "kinds/decode/json/kubist", "kinds": 92, "microseconds_each": 2.0}),
            json!({"case": "kinds/baseline/object", "kinds": 92, "microseconds_each": 0.5}),
            json!({"case": "kinds/decode/json/worst", "ahead": 90, "kinds": [
                {"kind": "core/v1/Pod", "times": 0.9}, {"kind": "apps/v1/Scale", "times": 1.05},
            ]}),
        ];
        let system = System::of("kinds", vec![lines]);
        assert_eq!(ahead(&system, "decode/json"), "90 of 92");
        assert_eq!(
            worst(&system, "decode/json"),
            "v1/Pod 0.90, apps/v1/Scale 1.05"
        );
        assert_eq!(ahead(&system, "encode/json"), "–");
        let verdicts = report(&system).verdicts;
        assert_eq!(verdicts.len(), OPERATIONS.len());
        assert_eq!(verdicts[0].json()["distance_to_limit"], 4.0);
    }
}
