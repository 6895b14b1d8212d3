//! One kind: its object in both formats, and how long each implementation takes for it.

use crate::fill;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::hint::black_box;
use std::time::Instant;

pub(crate) type Failure = Box<dyn std::error::Error>;

/// The operations and the peer of each.
pub(crate) const OPERATIONS: [(&str, &str); 4] = [
    ("decode/json", "k8s-openapi"),
    ("decode/protobuf", "prost"),
    ("encode/json", "k8s-openapi"),
    ("encode/protobuf", "prost"),
];

/// What operations take at least: a copy of the object, whose allocations whoever decodes makes,
/// except those of long texts, and a copy of the bytes, which whoever encodes makes.
pub(crate) const BASELINES: [&str; 2] = ["object", "bytes"];

/// What each operation takes: ours, and the peer's; and what each baseline does.
pub(crate) struct Case {
    pub(crate) microseconds: [[f64; 2]; 4],
    pub(crate) baselines: [f64; 2],
}

/// Measures a kind by its three types.
pub(crate) fn measure<O, S, P>(milliseconds: u64) -> Result<Case, Failure>
where
    O: Wire + Default + Clone,
    S: Serialize + DeserializeOwned,
    P: prost::Message + Default,
{
    let mut cx = DecodeContext::new();
    let object: O = fill::filled();
    let (json, protobuf) = (object.to_json(), object.to_protobuf());
    let serdes: S = serde_json::from_slice(&json)?;
    let prosts = P::decode(&*protobuf)?;
    let ours = [
        O::from_json(&json, &mut cx)?.to_protobuf(),
        O::from_protobuf(&protobuf, &mut cx)?.to_protobuf(),
    ];
    if ours != [protobuf.as_slice(); 2] {
        return Err("what we decode is not what was encoded".into());
    }
    Ok(Case {
        baselines: in_turn(
            milliseconds,
            [&mut || drop(black_box(object.clone())), &mut || {
                drop(black_box(protobuf.clone()))
            }],
        ),
        microseconds: [
            in_turn(
                milliseconds,
                [
                    &mut || drop(black_box(O::from_json(&json, &mut cx))),
                    &mut || drop(black_box(serde_json::from_slice::<S>(&json))),
                ],
            ),
            in_turn(
                milliseconds,
                [
                    &mut || {
                        drop(black_box(O::from_protobuf(
                            &protobuf,
                            &mut DecodeContext::new(),
                        )))
                    },
                    &mut || drop(black_box(P::decode(&*protobuf))),
                ],
            ),
            in_turn(
                milliseconds,
                [&mut || drop(black_box(object.to_json())), &mut || {
                    drop(black_box(serde_json::to_vec(&serdes)))
                }],
            ),
            in_turn(
                milliseconds,
                [&mut || drop(black_box(object.to_protobuf())), &mut || {
                    drop(black_box(prosts.encode_to_vec()))
                }],
            ),
        ],
    })
}

/// Batches of each, in turn; the fastest counts.
const BATCHES: u32 = 6;

/// Returns the microseconds of one run of each.
fn in_turn(milliseconds: u64, mut both: [&mut dyn FnMut(); 2]) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    let mut runs = [1_u32; 2];
    let batch = milliseconds as f64 / 1e3 / f64::from(BATCHES);
    for _ in 0..BATCHES {
        for (which, run) in both.iter_mut().enumerate() {
            loop {
                let start = Instant::now();
                for _ in 0..runs[which] {
                    run();
                }
                let wall = start.elapsed().as_secs_f64();
                best[which] = best[which].min(wall / f64::from(runs[which]) * 1e6);
                if wall >= batch / 2.0 {
                    break;
                }
                runs[which] *= 2;
            }
        }
    }
    best
}
