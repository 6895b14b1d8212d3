//! The quick pass, compared with the decoder that goes through serde.

use super::*;
use crate::wire::json::merge_with_serde;
use crate::wire::{
    Field, FieldFlags, FieldType as T, Limits, RawExtension, RawJson, StrictProblem, WireError,
    merge_json, to_protobuf,
};
use crate::{
    ByteString, Duration, IntOrString, ListMeta, Quantity, Time, message, message_debug, schema,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A message with a field of each type.
#[derive(Clone, Default, PartialEq)]
pub(in crate::wire) struct All {
    text: Str,
    opt_text: Option<Str>,
    flag: bool,
    opt_flag: Option<bool>,
    small: i32,
    opt_small: Option<i32>,
    large: i64,
    opt_large: Option<i64>,
    double: f64,
    opt_double: Option<f64>,
    bytes: ByteString,
    opt_bytes: Option<ByteString>,
    meta: ListMeta,
    next: Option<Box<Self>>,
    others: Vec<Self>,
    texts: Vec<Str>,
    flags: Vec<bool>,
    smalls: Vec<i32>,
    larges: Vec<i64>,
    byte_lists: Vec<ByteString>,
    pairs: BTreeMap<Str, Str>,
    byte_map: BTreeMap<Str, ByteString>,
    map: BTreeMap<Str, Self>,
    time: Option<Time>,
    quantity: Option<Quantity>,
    port: IntOrString,
    wait: Duration,
    raw: Option<RawExtension>,
    json: Option<RawJson>,
    either: Option<Either>,
}

/// A bool, an object or a list.
#[derive(Clone, Default, PartialEq)]
pub(in crate::wire) struct Either {
    allows: bool,
    one: Option<Box<All>>,
    many: Vec<Str>,
}

const NONE: FieldFlags = FieldFlags::OMIT_EMPTY;
const POINTER: FieldFlags = FieldFlags::OMIT_EMPTY.or(FieldFlags::POINTER);

schema!(
    ALL = "All",
    "test.All",
    JsonForm::Object,
    None,
    [
        Field::new("text", 1, T::Str, NONE),
        Field::new("optText", 2, T::Str, POINTER),
        Field::new("flag", 3, T::Bool, NONE),
        Field::new("optFlag", 4, T::Bool, POINTER),
        Field::new("small", 5, T::I32, NONE),
        Field::new("optSmall", 6, T::I32, POINTER),
        Field::new("large", 7, T::I64, NONE),
        Field::new("optLarge", 8, T::I64, POINTER),
        Field::new("double", 9, T::F64, NONE),
        Field::new("optDouble", 10, T::F64, POINTER),
        Field::new("bytes", 11, T::Bytes, NONE),
        Field::new("optBytes", 12, T::Bytes, POINTER),
        Field::new("meta", 13, T::Message(&crate::list_meta::LIST_META), NONE),
        Field::new("next", 14, T::Message(&ALL), POINTER),
        Field::new("others", 15, T::MessageList(&ALL), NONE),
        Field::new("texts", 16, T::StrList, NONE),
        Field::new("flags", 17, T::BoolList, NONE),
        Field::new("smalls", 18, T::I32List, NONE),
        Field::new("larges", 19, T::I64List, NONE),
        Field::new("byteLists", 20, T::BytesList, NONE),
        Field::new("pairs", 21, T::StrMap, NONE),
        Field::new("byteMap", 22, T::BytesMap, NONE),
        Field::new("map", 23, T::MessageMap(&ALL), NONE),
        Field::new("time", 24, T::Message(&crate::wire::TIME), NONE),
        Field::new("quantity", 25, T::Message(&crate::wire::QUANTITY), POINTER),
        Field::new("port", 26, T::Message(&crate::wire::INT_OR_STRING), NONE),
        Field::new("wait", 27, T::Message(&crate::wire::DURATION), NONE),
        Field::new("raw", 28, T::Message(&crate::wire::RAW_EXTENSION), POINTER),
        Field::new("json", 29, T::Message(&crate::wire::RAW_JSON), POINTER),
        Field::new("either", 30, T::Message(&EITHER), POINTER),
    ]
);
schema!(
    EITHER = "Either",
    "test.Either",
    JsonForm::Union,
    None,
    [
        Field::new("allows", 1, T::Bool, NONE),
        Field::new("one", 2, T::Message(&ALL), POINTER),
        Field::new("many", 3, T::StrList, NONE),
    ]
);
message!(All, ALL, [
    0 text, 1 opt_text, 2 flag, 3 opt_flag, 4 small, 5 opt_small, 6 large, 7 opt_large, 8 double,
    9 opt_double, 10 bytes, 11 opt_bytes, 12 meta, 13 next, 14 others, 15 texts, 16 flags, 17 smalls,
    18 larges, 19 byte_lists, 20 pairs, 21 byte_map, 22 map, 23 time, 24 quantity, 25 port,
    26 wait, 27 raw, 28 json, 29 either,
]);
message!(Either, EITHER, [0 allows, 1 one, 2 many]);
message_debug!(All);
message_debug!(Either);

/// Texts of values for every field, most of which fit only some.
pub(in crate::wire) const VALUES: [&str; 46] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-17",
    "01",
    "2147483648",
    "9223372036854775807",
    "123456789012345678",
    "1234567890123456789",
    "18446744073709551616",
    "1.0",
    "0.5",
    "-0.0",
    "1e3",
    "1E-2",
    "1.",
    ".5",
    "-",
    "\"\"",
    "\"a\"",
    "\"a text of more than sixteen bytes\"",
    "\"\\u00e9\\n\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\x\"",
    "\"é😀\"",
    "\"\t\"",
    "\"YWJj\"",
    "\"YWJ\"",
    "\"2026-05-04T08:00:00Z\"",
    "\"100m\"",
    "\"1h\"",
    "[]",
    "[null]",
    "{}",
    "[\"a\",\"b\"]",
    "[true,null]",
    "[1,2]",
    "[{\"text\":\"x\"},null,{}]",
    "{\"k\":\"v\",\"l\":null}",
    "{\"k\":{\"small\":1},\"k\":{\"large\":2}}",
    "{\"text\":1}",
    "{\"f:a\":{\".\":{}}, \"x\" : [1.5, \"\\\"\"]}",
];

pub(in crate::wire) fn members(depth: u32) -> impl Strategy<Value = String> {
    let names: Vec<String> = ALL
        .fields
        .iter()
        .map(|field| field.json.to_owned())
        .chain(["unknown", "kind", "Text", "te\\u0078t"].map(String::from))
        .collect();
    let leaf = select(VALUES.to_vec()).prop_map(String::from);
    let value = leaf.prop_recursive(depth, 24, 4, move |inner| {
        let member = (select(names.clone()), inner);
        prop::collection::vec(member, 0..4).prop_map(|members| {
            let members = members
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        })
    });
    value.prop_filter("an object", |it| it.starts_with('{'))
}

type Decoded = Result<(All, Vec<StrictProblem>), WireError>;

fn decode(
    text: &str,
    strict: bool,
    merge: fn(&mut All, &str, &mut DecodeContext) -> Result<(), WireError>,
) -> Decoded {
    let mut cx = DecodeContext::new();
    if strict {
        cx = cx.strict();
    }
    let mut all = All::default();
    merge(&mut all, text, &mut cx)?;
    Ok((all, cx.take_problems()))
}

/// Checks that both decoders agree, and returns whether the quick one gave up.
fn agree(text: &str) -> bool {
    for strict in [false, true] {
        let ours = decode(text, strict, |all, text, cx| {
            merge_json(all, text.as_bytes(), cx)
        });
        let serdes = decode(text, strict, |all, text, cx| {
            merge_with_serde(all, text, cx)
        });
        // A zero has a sign, which `==` does not see.
        let exact = |it: &Decoded| it.as_ref().ok().map(|(all, _)| to_protobuf(all));
        assert_eq!(ours, serdes, "{text}");
        assert_eq!(exact(&ours), exact(&serdes), "{text}");
    }
    !merge_quickly(&mut All::default(), text, &mut DecodeContext::new())
}

#[test]
fn every_value_in_every_field_is_decoded_alike() {
    for field in ALL.fields {
        for value in VALUES {
            let name = field.json;
            agree(&format!("{{\"{name}\":{value}}}"));
            agree(&format!(
                " {{ \"text\" : \"x\" , \"{name}\" : {value} , \"flag\":true }}\n"
            ));
            agree(&format!(
                "{{\"next\":{{\"{name}\":{value},\"{name}\":{value}}}}}"
            ));
            agree(&format!("{{\"{name}\":[{value},{value}]}}"));
            agree(&format!("{{\"{name}\":{{\"k\":{value}}}}}"));
        }
    }
}

#[test]
fn usual_text_is_decoded_without_serde() {
    let usual = concat!(
        r#"{"text":"a","optText":"\u00e9\n","flag":true,"optFlag":false,"small":-1,"large":17,"#,
        r#""double":0.5,"bytes":"YWJj","meta":{"resourceVersion":"7"},"next":{"others":[{},null]},"#,
        r#""texts":["a"],"pairs":{"k":"v"},"map":{"k":{"texts":null}},"port":"http","wait":"1h","#,
        r#""time":"2026-05-04T08:00:00Z","quantity":"1Gi","raw":{"kind":"X"},"json":[1,{"a":2}],"#,
        r#""either":{"text":"x"},"unknown":[{"a":"b"}]}"#,
    );
    assert!(!agree(usual));
    assert!(!agree(r#"{"either":true}"#));
    assert!(!agree(r#"{"either":["a"]}"#));
    for unusual in [
        "{} x",
        "{\"small\":1e0}",
        "{\"quantity\":\"x\"}",
        "[]",
        "",
        "{\"text\":",
    ] {
        assert!(agree(unusual), "{unusual}");
    }
}

#[test]
fn nesting_is_limited_alike() {
    for depth_max in [1, 2, 5, 100] {
        for depth in (0..12).chain(90..135) {
            for inner in [
                "{}",
                "{\"time\":\"2026-05-04T08:00:00Z\"}",
                "{\"json\":[[1]]}",
            ] {
                let text = format!("{}{inner}{}", "{\"next\":".repeat(depth), "}".repeat(depth));
                let limits = Limits {
                    depth_max,
                    ..Limits::default()
                };
                let mut quick = DecodeContext::new().with_limits(limits);
                let mut serde = DecodeContext::new().with_limits(limits);
                let (mut left, mut right) = (All::default(), All::default());
                let left_result = merge_json(&mut left, text.as_bytes(), &mut quick);
                let right_result = merge_with_serde(&mut right, &text, &mut serde);
                assert_eq!(
                    left_result.is_ok(),
                    right_result.is_ok(),
                    "{depth_max} {depth}"
                );
                assert!(left_result.is_err() || left == right, "{depth_max} {depth}");
            }
        }
    }
}

#[test]
fn messages_with_contents_merge_alike() {
    let texts = [
        r#"{"text":"a","pairs":{"a":"1"},"next":{"small":1},"others":[{},{}]}"#,
        r#"{"pairs":{"b":"2","a":"3"},"next":{"large":2},"others":[{"small":1}]}"#,
        r#"{"map":{"a":{"small":1}}}"#,
        r#"{"map":{"b":{"small":1},"a":{"large":1}}}"#,
        r#"{"text":null,"others":null,"either":false,"small":1e3}"#,
    ];
    let (mut left, mut right) = (All::default(), All::default());
    for text in texts {
        let (quick, serde) = (&mut DecodeContext::new(), &mut DecodeContext::new());
        let ours = merge_json(&mut left, text.as_bytes(), quick);
        assert_eq!(ours, merge_with_serde(&mut right, text, serde));
        assert_eq!(left, right);
    }
}

proptest! {
    #[test]
    fn objects_are_decoded_alike(text in members(4)) {
        agree(&text);
    }

    #[test]
    fn damaged_text_is_decoded_alike(
        text in members(3),
        at in any::<Index>(),
        with in select(vec!["", "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "0", "é", "\u{1}"]),
        length in 0..3usize,
    ) {
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let end = (at + length).min(characters.len());
        let before: String = characters[..at].iter().collect();
        let after: String = characters[end..].iter().collect();
        agree(&format!("{before}{with}{after}"));
    }
}
