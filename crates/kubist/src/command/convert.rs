//! `kubist convert`: converts built-in objects and lists between encodings.
//!
//! The input format is detected: JSON, YAML (also several documents), the protobuf envelope, and
//! values as a server stores them in etcd.

use super::Outcome;
use super::input_files::{MANIFESTS, input_files};
use clap::{Args, ValueEnum};
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, Json, Message, RawExtension, ReverseWriter, StrictProblem, Wire,
    merge_json, merge_protobuf, to_json_value, to_protobuf,
};
use kubist_codec::envelope::{self, Envelope};
use kubist_codec::list_stream::ListStream;
use kubist_codec::yaml::{YamlError, YamlErrorKind};
use kubist_codec::{Content, yaml};
use serde_json::Value;
use std::borrow::Cow;
use std::error::Error;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  kubist convert -f deployment.yaml -o json
  kubist convert -f pod.json -o protobuf > pod.pb
  kubist convert -f namespace.yaml -f manifests/ -R -o yaml
  etcdctl get /registry/pods/default/web --print-value-only | kubist convert -o yaml")]
pub(crate) struct Options {
    /// The files to read, and folders with .json, .yaml and .yml files; `-` or nothing for standard
    /// input. Can be given several times
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Read the folders below folders, too
    #[arg(short = 'R', long)]
    recursive: bool,
    /// The encoding to write
    #[arg(short, long, value_enum)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Json,
    Yaml,
    Protobuf,
}

/// Maximum size of the input, in bytes.
const INPUT_MAX: u64 = 256 << 20;
/// The error for input without an object.
const NOTHING: &str = "nothing to convert: the input has no object";

pub(crate) fn run(options: &Options) -> Outcome {
    if options.output == Output::Protobuf && io::stdout().is_terminal() {
        return Err("protobuf is binary: redirect it to a file, as in > pod.pb".into());
    }
    let mut files = input_files(&options.file, options.recursive, &MANIFESTS)?;
    if files.is_empty() {
        files.push("-".into());
    }
    let (mut documents, mut left) = (Vec::new(), INPUT_MAX);
    for file in &files {
        let (name, bytes) = read(file, left)?;
        left -= bytes.len() as u64;
        documents.extend(decode(&bytes).map_err(|error| format!("{name}: {error}"))?);
    }
    let out = encode(&documents, options.output).map_err(|error| match &files[..] {
        [file] => format!("{}: {error}", name_of(file)),
        _ => error.to_string(),
    })?;
    io::stdout().lock().write_all(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a file of at most `left` bytes.
fn read(file: &Path, left: u64) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let name = name_of(file);
    let failed = |error: io::Error| format!("{name}: {error}");
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        let mut input = io::stdin().lock().take(left + 1);
        input.read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let input = std::fs::File::open(file).map_err(failed)?;
        input
            .take(left + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    if bytes.len() as u64 > left {
        return Err(format!("{name}: more than {INPUT_MAX} bytes in all").into());
    }
    Ok((name, bytes))
}

fn name_of(file: &Path) -> String {
    match file.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => file.display().to_string(),
    }
}

/// An item of the input.
enum Document {
    /// A message of a known kind.
    Message(Box<dyn Message>),
    /// A `v1` `List` of items of any kind.
    Mixed(Vec<Self>),
}

fn decode(bytes: &[u8]) -> Result<Vec<Document>, Box<dyn Error>> {
    match Content::of(bytes) {
        Content::Protobuf => Ok(vec![decode_protobuf(bytes)?]),
        Content::Json => match json_documents(bytes) {
            Ok(found) => found
                .into_iter()
                // As text, so that duplicate keys are detected.
                .map(|(value, text)| decode_value(&value, Some(text)))
                .collect(),
            // YAML may begin with a brace, too.
            Err(error) => {
                let documents = yaml::parse_all(bytes);
                let documents = documents.map_err(|_| format!("not valid JSON: {error}"))?;
                decode_yaml(&documents)
            }
        },
        Content::Yaml => decode_yaml(&yaml::parse_all(bytes).map_err(|error| not_yaml(&error))?),
        Content::Empty => Err(NOTHING.into()),
        Content::Encrypted => Err(
            "encrypted by the server that stored it; only that server, or \
                                   who has its keys, can read it"
                .into(),
        ),
        other => Err(format!("{other:?} cannot be converted").into()),
    }
}

/// Returns the values of a text, and their texts.
fn json_documents(bytes: &[u8]) -> serde_json::Result<Vec<(Value, &[u8])>> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let mut found = Vec::new();
    loop {
        let begun = stream.byte_offset();
        let Some(value) = stream.next().transpose()? else {
            return Ok(found);
        };
        let text = bytes.get(begun..stream.byte_offset()).unwrap_or_default();
        found.push((value, text));
    }
}

fn decode_yaml(documents: &[yaml::Document]) -> Result<Vec<Document>, Box<dyn Error>> {
    let mut found = Vec::new();
    for document in documents {
        for key in &document.duplicates {
            warn(&format!("{key}; the last one is used"));
        }
        let decoded = decode_value(&document.value, None)
            .map_err(|error| format!("document at line {}: {error}", document.line))?;
        found.push(decoded);
    }
    if found.is_empty() {
        return Err(NOTHING.into());
    }
    Ok(found)
}

/// Adds the location, also where upstream's text has none, and handles input that is no text.
fn not_yaml(error: &YamlError) -> String {
    if error.kind == YamlErrorKind::NotUtf8 {
        return "neither JSON nor YAML nor protobuf of Kubernetes (which begins with k8s and a zero \
                byte)"
            .to_owned();
    }
    let YamlError {
        line, column, kind, ..
    } = error;
    format!("not valid YAML: line {line} column {column}: {kind}")
}

fn kind_of(api_version: &str, kind: &str) -> Result<&'static Kind, Box<dyn Error>> {
    find_kind_by_api_version(api_version, kind).ok_or_else(|| {
        format!(
            "{kind} of {api_version} is not a built-in kind of Kubernetes v1.36, and others \
                 cannot be converted"
        )
        .into()
    })
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

/// `text` is the JSON of the value, if it is available.
fn decode_value(value: &Value, text: Option<&[u8]>) -> Result<Document, Box<dyn Error>> {
    let Value::Object(members) = value else {
        return Err("expected an object with apiVersion and kind".into());
    };
    let word = |name: &str| match members.get(name) {
        Some(Value::String(word)) => Ok(word.as_str()),
        Some(_) => Err(format!("{name} must be a string")),
        None => Err(format!("{name} is missing")),
    };
    let (api_version, kind) = (word("apiVersion")?, word("kind")?);
    if (api_version, kind) == ("v1", "List") {
        return decode_items(members.get("items")).map(Document::Mixed);
    }
    let mut message = kind_of(api_version, kind)?.new_message();
    let mut cx = DecodeContext::new().strict();
    let text = text.map_or_else(
        || serde_json::to_vec(value).map(Cow::Owned),
        |it| Ok(it.into()),
    )?;
    merge_json(&mut *message, &text, &mut cx).map_err(|error| format!("{kind}: {error}"))?;
    for problem in cx.take_problems() {
        warn(&match problem {
            StrictProblem::Duplicate(_) => format!("{kind}: {problem}; the last one is used"),
            _ => format!("{kind}: {problem}, which is omitted"),
        });
    }
    Ok(Document::Message(message))
}

fn decode_items(items: Option<&Value>) -> Result<Vec<Document>, Box<dyn Error>> {
    let items = match items {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(items)) => items,
        Some(_) => return Err("List: items must be an array".into()),
    };
    let decode = |(index, item)| {
        decode_value(item, None).map_err(|error| format!("items[{index}]: {error}").into())
    };
    items.iter().enumerate().map(decode).collect()
}

#[expect(clippy::print_stderr, reason = "this is the command's own output")]
fn warn(text: &str) {
    eprintln!("kubist: warning: {text}");
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
