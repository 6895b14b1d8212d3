//! `kubist convert`: any encoding of any built-in object or list in, any out.
//!
//! What comes in is recognised by its content: JSON, YAML (also several documents), the protobuf
//! envelope, and values as a server keeps them in etcd.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, Json, Message, RawExtension, ReverseWriter, StrictProblem, Wire,
    merge_json, merge_protobuf, to_json_value, to_protobuf,
};
use kubist_codec::envelope::{self, Envelope};
use kubist_codec::list_stream::ListStream;
use kubist_codec::{Content, yaml};
use serde_json::Value;

use super::Outcome;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  kubist convert -f deployment.yaml -o json
  kubist convert -f pod.json -o protobuf > pod.pb
  etcdctl get /registry/pods/default/web --print-value-only | kubist convert -o yaml")]
pub(crate) struct Options {
    /// The file to read; `-` or nothing for standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The encoding to write
    #[arg(short, long, value_enum)]
    output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    Json,
    Yaml,
    Protobuf,
}

/// The most that is read, in bytes.
const INPUT_MAX: u64 = 256 << 20;

pub(crate) fn run(options: &Options) -> Outcome {
    let (name, bytes) = read(options)?;
    let documents = decode(&bytes).map_err(|error| format!("{name}: {error}"))?;
    let out = encode(&documents, options.output).map_err(|error| format!("{name}: {error}"))?;
    std::io::stdout().lock().write_all(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn read(options: &Options) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let name = match &options.file {
        Some(path) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
            file.take(INPUT_MAX + 1).read_to_end(&mut bytes)?;
            name
        }
        _ => {
            std::io::stdin()
                .lock()
                .take(INPUT_MAX + 1)
                .read_to_end(&mut bytes)?;
            "standard input".to_owned()
        }
    };
    if bytes.len() as u64 > INPUT_MAX {
        return Err(format!("{name}: more than {INPUT_MAX} bytes").into());
    }
    Ok((name, bytes))
}

/// One thing that was read.
enum Document {
    /// A message of a known kind.
    Message(Box<dyn Message>),
    /// A `v1` `List` of things of any kind.
    Mixed(Vec<Self>),
}

fn decode(bytes: &[u8]) -> Result<Vec<Document>, Box<dyn Error>> {
    match Content::of(bytes) {
        Content::Protobuf => Ok(vec![decode_protobuf(bytes)?]),
        Content::Json => {
            let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
            let mut found = Vec::new();
            while let Some(value) = stream.next().transpose()? {
                found.push(decode_value(&value)?);
            }
            Ok(found)
        }
        Content::Yaml => {
            let mut found = Vec::new();
            for document in yaml::parse_all(bytes)? {
                let decoded = decode_value(&document.value)
                    .map_err(|error| format!("line {}: {error}", document.line))?;
                found.push(decoded);
            }
            Ok(found)
        }
        Content::Empty => Err("nothing to convert".into()),
        Content::Encrypted => Err("the value is encrypted by the server that stored it".into()),
        other => Err(format!("{other:?} cannot be converted").into()),
    }
}

fn kind_of(api_version: &str, kind: &str) -> Result<&'static Kind, Box<dyn Error>> {
    find_kind_by_api_version(api_version, kind)
        .ok_or_else(|| format!("{api_version:?} {kind:?} is not a built-in kind").into())
}

fn decode_protobuf(bytes: &[u8]) -> Result<Document, Box<dyn Error>> {
    let envelope = Envelope::open(bytes)?;
    if (envelope.api_version, envelope.kind) == ("v1", "List") {
        return decode_mixed(bytes);
    }
    let mut message = kind_of(envelope.api_version, envelope.kind)?.new_message();
    merge_protobuf(&mut *message, envelope.raw, &mut DecodeContext::new())?;
    Ok(Document::Message(message))
}

/// The items of a protobuf `v1` `List`: each a `RawExtension` around an encoded object.
fn decode_mixed(bytes: &[u8]) -> Result<Document, Box<dyn Error>> {
    let mut list = ListStream::new(Encoding::Protobuf);
    list.push(bytes.to_vec().into());
    let mut items = Vec::new();
    while let Some(item) = list.next_item()? {
        let item = RawExtension::from_protobuf(&item, &mut DecodeContext::new())?;
        items.extend(decode(&item.raw)?);
    }
    Ok(Document::Mixed(items))
}

fn decode_value(value: &Value) -> Result<Document, Box<dyn Error>> {
    let text = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| format!("{name} is missing"))
    };
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    if (api_version, kind) == ("v1", "List") {
        let items = value
            .get("items")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        return Ok(Document::Mixed(
            items.iter().map(decode_value).collect::<Result<_, _>>()?,
        ));
    }
    let mut message = kind_of(api_version, kind)?.new_message();
    let mut cx = DecodeContext::new().strict();
    merge_json(&mut *message, &serde_json::to_vec(value)?, &mut cx)
        .map_err(|error| format!("{kind}: {error}"))?;
    warn(kind, &cx.take_problems());
    Ok(Document::Message(message))
}

#[expect(clippy::print_stderr, reason = "this is the command's own output")]
fn warn(kind: &str, problems: &[StrictProblem]) {
    for problem in problems {
        eprintln!("kubist: warning: {kind}: {problem}, which is left out");
    }
}

fn encode(documents: &[Document], output: Output) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut out = Vec::new();
    match output {
        Output::Json => {
            for document in documents {
                match document {
                    Document::Message(message) => {
                        serde_json::to_writer_pretty(&mut out, &Json::top(&**message))?;
                    }
                    mixed @ Document::Mixed(_) => {
                        serde_json::to_writer_pretty(&mut out, &to_value(mixed))?;
                    }
                }
                out.push(b'\n');
            }
        }
        Output::Yaml => {
            for (index, document) in documents.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b"---\n");
                }
                out.extend_from_slice(yaml::to_yaml(&to_value(document)).as_bytes());
            }
        }
        Output::Protobuf => {
            let [document] = documents else {
                let count = documents.len();
                return Err(format!(
                    "{count} documents cannot be one protobuf message; wrap them in a v1 List"
                )
                .into());
            };
            out = to_envelope(document);
        }
    }
    Ok(out)
}

fn to_value(document: &Document) -> Value {
    match document {
        Document::Message(message) => to_json_value(&**message),
        Document::Mixed(items) => serde_json::json!({
            "kind": "List",
            "apiVersion": "v1",
            "metadata": {},
            "items": items.iter().map(to_value).collect::<Vec<_>>(),
        }),
    }
}

fn to_envelope(document: &Document) -> Vec<u8> {
    match document {
        Document::Message(message) => match &message.schema().kind {
            Some(kind) => envelope::wrap(kind.api_version, kind.kind, &to_protobuf(&**message)),
            None => to_protobuf(&**message),
        },
        Document::Mixed(items) => {
            // `v1.List`: metadata is field 1, each item a RawExtension (raw: 1) in field 2.
            let mut out = ReverseWriter::default();
            for item in items.iter().rev() {
                let mark = out.len();
                out.prepend_delimited(1, &to_envelope(item));
                out.prepend_header(2, mark);
            }
            let metadata = kubist_apimachinery::ListMeta::default();
            out.prepend_delimited(1, &to_protobuf(&metadata));
            envelope::wrap("v1", "List", &out.into_vec())
        }
    }
}
