//! Every built-in kind: the JSON that is written from protobuf without an object between is byte
//! for byte that of decoding and encoding.

use kubist_api::{KINDS, Kind};
use kubist_apimachinery::wire::{
    DURATION, DecodeContext, Entry, FIELDS_V1, Field, FieldType, INT_OR_STRING, Json, JsonForm,
    MICRO_TIME, Message, QUANTITY, Schema, TIME, merge_protobuf, push_delimited, push_varint,
    to_protobuf,
};
use kubist_codec::envelope::Envelope;
use kubist_codec::transcode::{Irregular, Transcoder};
use proptest::prelude::*;
use std::cell::RefCell;
use std::path::Path;

/// Texts of all lengths, plain, with what JSON escapes, and beyond ASCII.
const TEXTS: [&str; 8] = [
    "",
    "a",
    "example.com/name",
    "a \"quoted\" \\ text",
    "lines\nand\ttabs\r\u{1}\u{7f}",
    "größer – 漢字 🦀",
    "<&>\u{2028}",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
];
const QUANTITIES: [&str; 9] = [
    "0", "100m", "1", "64Mi", "1500m", "1Gi", "1024Mi", "0.5", "-3",
];
const JSONS: [&str; 7] = [
    "{}",
    r#"{"f:metadata":{"f:labels":{".":{}}}}"#,
    " { \"a\" : [ 1 , 2 ] }\n",
    "[1.50,true,null]",
    "\"text\"",
    "no JSON",
    "",
];
const NUMBERS: [u64; 8] = [0, 1, 9, 10, 80, 1_700_000_000, u64::MAX, 1 << 40];

/// Numbers that look random.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn number(field: u32, value: u64, out: &mut Vec<u8>) {
    push_varint(u64::from(field) << 3, out);
    push_varint(value, out);
}

/// A message of any content.
fn message(schema: &'static Schema, chance: &mut Chance, depth: usize) -> Vec<u8> {
    let is = |other: &'static Schema| std::ptr::eq(schema, other);
    let mut out = Vec::new();
    if is(&QUANTITY) {
        push_delimited(1, chance.one_of(&QUANTITIES).as_bytes(), &mut out);
    } else if is(&TIME) || is(&MICRO_TIME) || is(&DURATION) {
        if chance.below(4) > 0 {
            number(1, chance.number() % 4_000_000_000, &mut out);
            number(2, chance.number() % 1_000_000_000, &mut out);
        }
    } else if is(&INT_OR_STRING) {
        number(1, chance.number() % 2, &mut out);
        number(2, chance.one_of(&NUMBERS), &mut out);
        push_delimited(3, chance.one_of(&TEXTS).as_bytes(), &mut out);
    } else if schema.form == JsonForm::Raw {
        let text = chance.one_of(&JSONS).as_bytes();
        if is(&FIELDS_V1) || chance.below(8) > 0 {
            push_delimited(1, text, &mut out);
        } else {
            push_delimited(1, b"k8s\0\xff", &mut out);
        }
    } else {
        entries(schema, schema.order, chance, depth, &mut out);
    }
    out
}

fn entries(
    schema: &'static Schema,
    order: &'static [Entry],
    chance: &mut Chance,
    depth: usize,
    out: &mut Vec<u8>,
) {
    for entry in order {
        // Deeper messages are smaller, so that recursion ends.
        if chance.below(1 << depth) > 0 {
            continue;
        }
        match *entry {
            Entry::Field(index) => field(&schema.fields[usize::from(index)], chance, depth, out),
            Entry::Group {
                number,
                entries: of,
            } => {
                let mut inner = Vec::new();
                entries(schema, of, chance, depth, &mut inner);
                push_delimited(number, &inner, out);
            }
        }
    }
}

fn field(field: &Field, chance: &mut Chance, depth: usize, out: &mut Vec<u8>) {
    let many = match field.ty {
        FieldType::StrList
        | FieldType::BoolList
        | FieldType::I32List
        | FieldType::I64List
        | FieldType::BytesList
        | FieldType::MessageList(_)
        | FieldType::StrMap
        | FieldType::BytesMap
        | FieldType::MessageMap(_) => chance.below(4),
        _ => 1,
    };
    for at in 0..many {
        let text = chance.one_of(&TEXTS).as_bytes();
        let key = format!("key {at}");
        let pair = |value: &[u8]| {
            let mut pair = Vec::new();
            push_delimited(1, key.as_bytes(), &mut pair);
            push_delimited(2, value, &mut pair);
            pair
        };
        match field.ty {
            FieldType::Bool | FieldType::BoolList => number(field.number, chance.number() % 2, out),
            FieldType::I32 | FieldType::I64 | FieldType::I32List | FieldType::I64List => {
                number(field.number, chance.one_of(&NUMBERS), out);
            }
            FieldType::F64 => {
                push_varint(u64::from(field.number) << 3 | 1, out);
                let value = chance.one_of(&[0.0, -0.0, 1.0, 0.5, 1e300, f64::NAN, 1e15]);
                out.extend_from_slice(&value.to_le_bytes());
            }
            FieldType::Str | FieldType::StrList | FieldType::Bytes | FieldType::BytesList => {
                push_delimited(field.number, text, out);
            }
            FieldType::StrMap | FieldType::BytesMap => {
                push_delimited(field.number, &pair(text), out);
            }
            FieldType::Message(schema) | FieldType::MessageList(schema) => {
                push_delimited(field.number, &message(schema, chance, depth + 1), out);
            }
            FieldType::MessageMap(schema) => {
                let value = message(schema, chance, depth + 1);
                push_delimited(field.number, &pair(&value), out);
            }
        }
    }
}

thread_local! {
    /// A transcoder that has seen other objects.
    static USED: RefCell<Transcoder> = RefCell::default();
}

/// Returns the JSON that a new transcoder writes. One that has seen the object, or a part of it,
/// writes the same.
fn transcoded(kind: &Kind, protobuf: &[u8]) -> Result<String, Irregular> {
    let text = |transcoder: &mut Transcoder| {
        let mut out = Vec::new();
        transcoder.transcode(kind.schema(), protobuf, &mut out)?;
        Ok(String::from_utf8(out).expect("JSON is text"))
    };
    let first = text(&mut Transcoder::default());
    for _ in 0..4 {
        assert_eq!(USED.with_borrow_mut(text), first);
    }
    first
}

fn decoded(kind: &Kind, protobuf: &[u8]) -> Option<(Box<dyn Message>, String)> {
    let mut object = kind.new_message();
    merge_protobuf(&mut *object, protobuf, &mut DecodeContext::new()).ok()?;
    let json = serde_json::to_string(&Json::part(&*object)).expect("everything has a JSON form");
    Some((object, json))
}

/// Checks one object; returns whether it decodes.
fn check(kind: &Kind, protobuf: &[u8]) -> bool {
    let name = kind.facts().kind;
    let Some((object, json)) = decoded(kind, protobuf) else {
        assert_eq!(transcoded(kind, protobuf), Err(Irregular), "{name}");
        return false;
    };
    if let Ok(found) = transcoded(kind, protobuf) {
        assert_eq!(found, json, "{name}");
    }
    // A decoded object is encoded canonically, and the transcoder accepts that.
    let canonical = to_protobuf(&*object);
    let (_, json) = decoded(kind, &canonical).expect("it was just written");
    assert_eq!(transcoded(kind, &canonical), Ok(json), "{name}");
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn json_of_any_object_of_every_kind_is_that_of_the_encoder(seed in 1_u64..) {
        let mut chance = Chance(seed);
        for kind in KINDS {
            check(kind, &message(kind.schema(), &mut chance, 0));
        }
    }

    #[test]
    fn broken_bytes_give_what_decoding_gives_or_nothing(seed in 1_u64.., kind in 0..KINDS.len()) {
        let (kind, mut chance) = (&KINDS[kind], Chance(seed));
        let mut bytes = message(kind.schema(), &mut chance, 0);
        for _ in 0..3 {
            if bytes.is_empty() {
                break;
            }
            let at = chance.below(bytes.len());
            match chance.below(3) {
                0 => bytes.truncate(at),
                1 => bytes[at] = bytes[at].wrapping_add(1),
                _ => drop(bytes.remove(at)),
            }
            if let Ok(found) = transcoded(kind, &bytes) {
                let (_, json) = decoded(kind, &bytes).expect("what has JSON decodes");
                prop_assert_eq!(found, json);
            }
        }
    }
}

#[test]
fn empty_objects_of_every_kind_have_the_same_json() {
    for kind in KINDS {
        assert!(check(kind, b""), "{}", kind.facts().kind);
    }
}

/// Checks the objects in the `.pb` files of a folder. How many there are.
fn check_folder(folder: &Path) -> usize {
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = file.expect("it has files").path();
        if path.extension().is_none_or(|it| it != "pb") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file can be read");
        let envelope = Envelope::open(&bytes).expect("it is protobuf");
        let kind = kubist_api::find_kind_by_api_version(envelope.api_version, envelope.kind);
        if let Some(kind) = kind {
            assert!(check(kind, envelope.raw), "{}", path.display());
            count += 1;
        }
    }
    count
}

#[test]
fn the_repositorys_objects_have_the_same_json() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(check_folder(&root.join("tests/testdata/objects")) > 0);
}

/// Every kind with every field set, as upstream writes it.
#[test]
fn filled_objects_of_every_kind_have_the_same_json() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(versions) = std::fs::read_dir(root.join("../shared/data/api-testdata")) else {
        println!("skipped: there is no ../shared/data/api-testdata");
        return;
    };
    let versions = versions.map(|it| it.expect("it has folders").path());
    let count: usize = versions.map(|version| check_folder(&version)).sum();
    assert!(count > 100, "{count} files");
}
