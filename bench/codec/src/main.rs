//! Decodes and encodes Pods: Kubist, serde with k8s-openapi, and prost with k8s-pb.
//!
//! Each case runs in its own process, so that its memory can be measured. Prints a line of JSON for
//! each case.

use bytes::Bytes;
use clap::Parser;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, Wire};
use kubist_cache::Encoded;
use meter::Usage;
use prost::Message as _;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 5_000)]
    objects: u64,
    /// How often each case processes all Pods
    #[arg(long, default_value_t = 4)]
    rounds: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this case only, in this process
    #[arg(long)]
    case: Option<String>,
}

type Failure = Box<dyn std::error::Error>;

/// The cases: operation, format, implementation.
///
/// The baseline is a copy of the bytes, which whoever encodes makes. A copy of the object is what
/// whoever decodes makes at least: all its allocations, except those of long texts, which the copy
/// shares.
const CASES: [&str; 12] = [
    "decode/json/kubist",
    "decode/json/k8s-openapi",
    "ingest/json/kubist",
    "decode/protobuf/kubist",
    "decode/protobuf/prost",
    "ingest/protobuf/kubist",
    "encode/json/kubist",
    "encode/json/k8s-openapi",
    "encode/protobuf/kubist",
    "encode/protobuf/prost",
    "baseline/bytes/none",
    "baseline/object/none",
];

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if let Some(case) = &arguments.case {
        return run(case, &arguments);
    }
    let own = std::env::current_exe()?;
    for case in CASES {
        let status = Command::new(&own)
            .args(["--case", case])
            .args(["--objects", &arguments.objects.to_string()])
            .args(["--rounds", &arguments.rounds.to_string()])
            .args(["--seed", &arguments.seed.to_string()])
            .status()?;
        if !status.success() {
            return Err(format!("{case}: {status}").into());
        }
    }
    Ok(())
}

/// The input of a case: the bytes of each Pod.
fn inputs(arguments: &Arguments, encoding: Encoding) -> Result<Vec<Bytes>, Failure> {
    let mut all = Vec::new();
    for number in 0..arguments.objects {
        let json = serde_json::to_vec(&pods::pod(arguments.seed, number))?;
        all.push(match encoding {
            Encoding::Json => Bytes::from(json),
            _ => Bytes::from(Pod::from_json(&json, &mut DecodeContext::new())?.to_protobuf()),
        });
    }
    Ok(all)
}

fn run(case: &str, arguments: &Arguments) -> Result<(), Failure> {
    let encoding = if case.contains("/json/") {
        Encoding::Json
    } else {
        Encoding::Protobuf
    };
    let inputs = inputs(arguments, encoding)?;
    let mut cx = DecodeContext::new();
    match case {
        "decode/json/kubist" => decode(case, arguments, &inputs, |bytes| {
            Ok(Pod::from_json(bytes, &mut cx)?)
        }),
        "decode/json/k8s-openapi" => decode(case, arguments, &inputs, |bytes| {
            Ok(serde_json::from_slice::<k8s_openapi::api::core::v1::Pod>(
                bytes,
            )?)
        }),
        "decode/protobuf/kubist" => decode(case, arguments, &inputs, |bytes| {
            Ok(Pod::from_protobuf(bytes, &mut cx)?)
        }),
        "decode/protobuf/prost" => decode(case, arguments, &inputs, |bytes| {
            Ok(k8s_pb::api::core::v1::Pod::decode(&**bytes)?)
        }),
        "ingest/json/kubist" | "ingest/protobuf/kubist" => {
            decode(case, arguments, &inputs, |bytes| {
                Ok(Encoded::<Pod>::ingest(bytes.clone(), encoding, &mut cx)?)
            })
        }
        "baseline/bytes/none" => decode(case, arguments, &inputs, |bytes| {
            Ok(Bytes::copy_from_slice(bytes))
        }),
        _ => run_encode(case, arguments, &inputs),
    }
}

fn run_encode(case: &str, arguments: &Arguments, inputs: &[Bytes]) -> Result<(), Failure> {
    let mut cx = DecodeContext::new();
    match case {
        "encode/json/kubist" => encode(
            case,
            arguments,
            inputs,
            |bytes| Ok(Pod::from_json(bytes, &mut cx)?),
            |pod| Ok(pod.to_json()),
        ),
        "encode/json/k8s-openapi" => encode(
            case,
            arguments,
            inputs,
            |bytes| {
                Ok(serde_json::from_slice::<k8s_openapi::api::core::v1::Pod>(
                    bytes,
                )?)
            },
            |pod| Ok(serde_json::to_vec(pod)?),
        ),
        "encode/protobuf/kubist" => encode(
            case,
            arguments,
            inputs,
            |bytes| Ok(Pod::from_protobuf(bytes, &mut cx)?),
            |pod| Ok(pod.to_protobuf()),
        ),
        "encode/protobuf/prost" => encode(
            case,
            arguments,
            inputs,
            |bytes| Ok(k8s_pb::api::core::v1::Pod::decode(&**bytes)?),
            |pod| Ok(pod.encode_to_vec()),
        ),
        "baseline/object/none" => copy(case, arguments, inputs),
        _ => Err(format!("there is no case {case}").into()),
    }
}

/// Keeps what the first round decodes, to measure its memory, and drops the results of the others.
fn decode<T>(
    case: &str,
    arguments: &Arguments,
    inputs: &[Bytes],
    mut decode: impl FnMut(&Bytes) -> Result<T, Failure>,
) -> Result<(), Failure> {
    let before = Usage::now();
    let mut held = Vec::with_capacity(inputs.len());
    for bytes in inputs {
        held.push(decode(bytes)?);
    }
    let memory = Usage::now().rss.saturating_sub(before.rss);
    let start = Usage::now();
    for _ in 0..arguments.rounds {
        for bytes in inputs {
            black_box(decode(bytes)?);
        }
    }
    let wall = start.at.elapsed();
    report(case, arguments, inputs, wall, Some(memory));
    drop(black_box(held));
    Ok(())
}

fn encode<T>(
    case: &str,
    arguments: &Arguments,
    inputs: &[Bytes],
    mut decode: impl FnMut(&Bytes) -> Result<T, Failure>,
    encode: impl Fn(&T) -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    let mut decoded = Vec::with_capacity(inputs.len());
    for bytes in inputs {
        decoded.push(decode(bytes)?);
    }
    let start = Usage::now();
    for _ in 0..arguments.rounds {
        for value in &decoded {
            black_box(encode(value)?);
        }
    }
    let wall = start.at.elapsed();
    report(case, arguments, inputs, wall, None);
    Ok(())
}

/// Copies each object twice and measures the second copy: decoding does not wait for an object that
/// is not in the processor's caches.
fn copy(case: &str, arguments: &Arguments, inputs: &[Bytes]) -> Result<(), Failure> {
    let mut cx = DecodeContext::new();
    let mut wall = Duration::ZERO;
    for bytes in inputs {
        let pod = Pod::from_protobuf(bytes, &mut cx)?;
        for _ in 0..arguments.rounds {
            black_box(pod.clone());
            let start = Instant::now();
            black_box(pod.clone());
            wall += start.elapsed();
        }
    }
    report(case, arguments, inputs, wall, None);
    Ok(())
}

fn report(
    case: &str,
    arguments: &Arguments,
    inputs: &[Bytes],
    wall: Duration,
    memory_kb: Option<u64>,
) {
    let objects = arguments.objects as f64;
    let count = objects * f64::from(arguments.rounds);
    let bytes: usize = inputs.iter().map(Bytes::len).sum();
    let wall = wall.as_secs_f64();
    let line = serde_json::json!({
        "case": case,
        "microseconds_each": wall / count * 1e6,
        "megabytes_per_second": bytes as f64 * f64::from(arguments.rounds) / wall / 1e6,
        "bytes_in_each": bytes as f64 / objects,
        "bytes_held_each": memory_kb.map(|it| it as f64 * 1024.0 / objects),
    });
    println!("{line}");
}
