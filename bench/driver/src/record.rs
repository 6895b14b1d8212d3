//! Records the body of a streaming watch list of all objects of a workload: an ADDED event for
//! each, the bookmark that ends the initial state, MODIFIED events, and ADDED for the marker.
//!
//! Each event is a chunk, as a server flushes them, preceded by its length as a big-endian u32.

use crate::Failure;
use clap::{Args, ValueEnum};
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_api::core::v1::{ConfigMap, Pod};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};
use pods::Workload;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 20_000)]
    updates: u64,
    #[arg(long)]
    content: Content,
    /// pods, config-maps or definitions
    #[arg(long, default_value = "pods")]
    workload: Workload,
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Content {
    Protobuf,
    Json,
}

pub fn run(options: &Options, seed: u64, objects: u64) -> Result<(), Failure> {
    let mut out = BufWriter::new(File::create(&options.out)?);
    let workload = options.workload;
    let mut write = |kind, object: &Value| {
        let chunk = match workload {
            Workload::Pods => chunk::<Pod>(options, kind, object),
            Workload::ConfigMaps => chunk::<ConfigMap>(options, kind, object),
            Workload::Definitions => chunk::<CustomResourceDefinition>(options, kind, object),
        }?;
        out.write_all(&u32::try_from(chunk.len())?.to_be_bytes())?;
        Ok::<(), Failure>(out.write_all(&chunk)?)
    };
    for number in 0..objects {
        write(EventKind::Added, &workload.object(seed, number))?;
    }
    write(EventKind::Bookmark, &bookmark(objects))?;
    for update in 0..options.updates {
        let updated = workload.updated(seed, objects, update);
        write(EventKind::Modified, &updated)?;
    }
    write(
        EventKind::Added,
        &marker(workload, objects, options.updates),
    )?;
    Ok(out.flush()?)
}

fn bookmark(objects: u64) -> Value {
    json!({"metadata": {
        "resourceVersion": pods::list_version(objects).to_string(),
        "annotations": {"k8s.io/initial-events-end": "true"},
    }})
}

fn marker(workload: Workload, objects: u64, updates: u64) -> Value {
    let version = pods::list_version(objects) + updates + 1;
    let mut marker = workload.object(0, objects);
    marker["metadata"]["name"] = pods::MARKER.into();
    marker["metadata"]["resourceVersion"] = version.to_string().into();
    marker
}

/// Encodes an event as its kind is encoded.
fn chunk<K: Wire>(options: &Options, kind: EventKind, object: &Value) -> Result<Vec<u8>, Failure> {
    let json = serde_json::to_vec(object)?;
    let object = K::from_json(&json, &mut DecodeContext::new())?;
    let mut chunk = Vec::new();
    match options.content {
        Content::Protobuf => {
            let raw = object.to_protobuf();
            let object = FrameObject::Protobuf {
                api_version: options.workload.api_version(),
                kind: options.workload.kind(),
                raw: &raw,
            };
            encode_frame(kind, object, &mut chunk);
        }
        Content::Json => encode_frame(kind, FrameObject::Json(&object.to_json()), &mut chunk),
    }
    Ok(chunk)
}
