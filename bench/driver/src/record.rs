//! Records the body of a streaming watch list of all Pods: an ADDED event for each, the bookmark
//! that ends the initial state, MODIFIED events, and ADDED for the marker.
//!
//! Each event is a chunk, as a server flushes them, preceded by its length as a big-endian u32.

use crate::Failure;
use clap::{Args, ValueEnum};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use kubist_codec::watch_stream::{EventKind, FrameObject, encode_frame};
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
    let mut write = |kind, object: &Value| chunk(options.content, kind, object, &mut out);
    for number in 0..objects {
        write(EventKind::Added, &pods::pod(seed, number))?;
    }
    write(EventKind::Bookmark, &bookmark(objects))?;
    for update in 0..options.updates {
        write(EventKind::Modified, &pods::updated(seed, objects, update))?;
    }
    write(EventKind::Added, &marker(objects, options.updates))?;
    Ok(out.flush()?)
}

fn bookmark(objects: u64) -> Value {
    json!({"metadata": {
        "resourceVersion": pods::list_version(objects).to_string(),
        "annotations": {"k8s.io/initial-events-end": "true"},
    }})
}

fn marker(objects: u64, updates: u64) -> Value {
    let version = pods::list_version(objects) + updates + 1;
    let mut marker = pods::pod(0, objects);
    marker["metadata"]["name"] = pods::MARKER.into();
    marker["metadata"]["resourceVersion"] = version.to_string().into();
    marker
}

fn chunk(
    content: Content,
    kind: EventKind,
    object: &Value,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let json = serde_json::to_vec(object)?;
    let pod = Pod::from_json(&json, &mut DecodeContext::new())?;
    let mut chunk = Vec::new();
    match content {
        Content::Protobuf => {
            let raw = pod.to_protobuf();
            let object = FrameObject::Protobuf {
                api_version: "v1",
                kind: "Pod",
                raw: &raw,
            };
            encode_frame(kind, object, &mut chunk);
        }
        Content::Json => encode_frame(kind, FrameObject::Json(&pod.to_json()), &mut chunk),
    }
    out.write_all(&u32::try_from(chunk.len())?.to_be_bytes())?;
    Ok(out.write_all(&chunk)?)
}
