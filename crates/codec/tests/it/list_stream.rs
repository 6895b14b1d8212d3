//! Lists: the same items come out, however the body is split; broken bodies end in errors.

use bytes::Bytes;
use kubist_apimachinery::ListMeta;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Wire, decode};
use kubist_codec::list_encoder::{ListHead, encode_list};
use kubist_codec::list_stream::{ListFacts, ListLimits, ListStream, ListStreamError};
use proptest::prelude::*;

const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];

fn metadata() -> ListMeta {
    ListMeta {
        resource_version: "4711".into(),
        continue_: "next".into(),
        remaining_item_count: Some(3),
        ..ListMeta::default()
    }
}

fn body(encoding: Encoding, items: &[Vec<u8>]) -> Vec<u8> {
    let head = ListHead {
        api_version: "v1",
        kind: "PodList",
        metadata: &metadata(),
    };
    encode_list(encoding, head, items)
}

/// Pushes chunks, drains after each.
fn cut<'b>(
    encoding: Encoding,
    chunks: impl IntoIterator<Item = &'b [u8]>,
) -> Result<(Vec<Bytes>, ListFacts), ListStreamError> {
    let mut list = ListStream::new(encoding);
    let mut items = Vec::new();
    for chunk in chunks {
        list.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = list.next_item()? {
            items.push(item);
        }
    }
    Ok((items, list.finish()?))
}

fn json(body: &str) -> Result<(Vec<Bytes>, ListFacts), ListStreamError> {
    cut(Encoding::Json, [body.as_bytes()])
}

fn samples(encoding: Encoding) -> Vec<Vec<u8>> {
    match encoding {
        Encoding::Json => [
            r#"{"metadata":{"name":"a \" } ] \\"}}"#,
            "{}",
            r#"{ "spec" : [ [ ], {"x":"{[,"} , 1.5e3, null ] }"#,
            "\"text\"",
            "17",
            "null",
            r#"{"kind":"Pod","apiVersion":"v1","items":[1,2]}"#,
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec(),
        _ => vec![
            b"\x0a\x03abc".to_vec(),
            vec![],
            vec![0x12; 200],
            vec![1],
            vec![0xff; 20_000],
        ],
    }
}

#[test]
fn items_come_out_whole_at_every_split() {
    for encoding in BOTH {
        let mut items = samples(encoding);
        items.truncate(5);
        items.retain(|item| item.len() < 1000);
        let body = body(encoding, &items);
        for first in 0..=body.len() {
            for second in [
                first,
                (first + 1).min(body.len()),
                (first + 13).min(body.len()),
            ] {
                let chunks = [&body[..first], &body[first..second], &body[second..]];
                let (found, facts) = cut(encoding, chunks).unwrap();
                assert_eq!(found, items, "{encoding:?} split at {first} and {second}");
                assert_eq!(facts.metadata, metadata());
                assert_eq!((&*facts.api_version, &*facts.kind), ("v1", "PodList"));
                assert_eq!(facts.items, items.len() as u64);
            }
        }
    }
}

#[test]
fn items_come_out_byte_by_byte() {
    for encoding in BOTH {
        let items = samples(encoding);
        let body = body(encoding, &items);
        let (found, facts) = cut(encoding, body.chunks(1)).unwrap();
        assert_eq!(found, items);
        assert_eq!(facts.metadata, metadata());
    }
}

#[test]
fn an_item_inside_one_chunk_is_not_copied() {
    for encoding in BOTH {
        let body = Bytes::from(body(encoding, &samples(encoding)));
        let range = body.as_ptr_range();
        let mut list = ListStream::new(encoding);
        list.push(body.clone());
        while let Some(item) = list.next_item().unwrap() {
            assert!(item.is_empty() || range.contains(&item.as_ptr()));
        }
    }
}

#[test]
fn an_item_leaves_before_the_rest_arrives() {
    for encoding in BOTH {
        let items = samples(encoding);
        let body = body(encoding, &items);
        let mut list = ListStream::new(encoding);
        list.push(Bytes::copy_from_slice(&body[..body.len() * 3 / 4]));
        assert_eq!(list.next_item().unwrap().unwrap(), items[0]);
    }
}

#[test]
fn metadata_may_stand_after_the_items_and_unknown_members_anywhere() {
    let (items, facts) = json(
        " {\"x\":[{\"items\":[9]}], \"items\" : [ {\"a\":1} ,\n{\"b\":2} ] , \"y\": \"}\",\
         \"metadata\":{\"resourceVersion\":\"8\",\"selfLink\":\"\"},\"kind\":\"List\",\
         \"apiVersion\":\"v1\"} \n",
    )
    .unwrap();
    assert_eq!(items, ["{\"a\":1}", "{\"b\":2}"]);
    assert_eq!(facts.metadata.resource_version, "8");
    assert_eq!(facts.kind, "List");
}

#[test]
fn empty_and_null_lists_have_no_items() {
    for body in [
        "{\"items\":[]}",
        "{\"items\":null,\"metadata\":null}",
        "{ \"items\" : [ ] }",
    ] {
        let (items, _) = json(body).unwrap();
        assert!(items.is_empty(), "{body}");
    }
    let (items, _) = cut(Encoding::Protobuf, [&*body(Encoding::Protobuf, &[])]).unwrap();
    assert!(items.is_empty());
}

#[test]
fn tables_and_objects_that_are_not_lists_are_refused() {
    let table = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}"#;
    assert_eq!(json(table), Err(ListStreamError::Table));
    let late = r#"{"columnDefinitions":[],"rows":[],"kind":"Table"}"#;
    assert_eq!(json(late), Err(ListStreamError::Table));
    let status = r#"{"kind":"Status","apiVersion":"v1","code":500}"#;
    assert!(
        matches!(json(status), Err(ListStreamError::NotAList { kind, .. }) if kind == "Status")
    );
    assert_eq!(json("{}"), Err(ListStreamError::ItemsCount { count: 0 }));
    assert_eq!(
        json(r#"{"items":[],"items":[]}"#),
        Err(ListStreamError::ItemsCount { count: 2 })
    );
    let table = kubist_codec::envelope::wrap("meta.k8s.io/v1", "Table", b"");
    assert_eq!(
        cut(Encoding::Protobuf, [&*table]),
        Err(ListStreamError::Table)
    );
}

#[test]
fn broken_json_is_named_by_place() {
    let error = json(r#"{"items":[{"a":1} {"b":2}]}"#).unwrap_err();
    let ListStreamError::Syntax {
        place,
        expected,
        found,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(
        (place.offset, place.item, expected, found),
        (18, 1, "`,` or `]`", '{')
    );
    for body in [
        "[1]",
        "nope",
        "{\"items\":{}}",
        "{\"items\":nil}",
        "{\"items\":[,]}",
        "{,}",
        "{\"a\" 1}",
        "{\"items\":[]} x",
        "{\"items\":[}",
    ] {
        assert!(
            matches!(json(body), Err(ListStreamError::Syntax { .. })),
            "{body}"
        );
    }
}

#[test]
fn every_truncation_is_reported_and_an_error_comes_again() {
    for encoding in BOTH {
        let body = body(encoding, &samples(encoding)[..4]);
        let ends = match encoding {
            // The line break, and the two empty fields of the envelope.
            Encoding::Json => vec![body.len() - 1],
            _ => vec![body.len() - 4, body.len() - 2],
        };
        for length in 0..body.len() {
            let result = cut(encoding, [&body[..length]]);
            assert_eq!(
                result.is_ok(),
                ends.contains(&length),
                "{encoding:?} {length}"
            );
        }
    }
    let mut list = ListStream::new(Encoding::Protobuf);
    list.push(Bytes::from_static(b"{\"items\":[]}"));
    assert_eq!(list.next_item(), Err(ListStreamError::NoMagic));
    assert_eq!(list.next_item(), Err(ListStreamError::NoMagic));
}

#[test]
fn items_beyond_the_limit_end_the_list() {
    let limits = ListLimits {
        item_bytes_max: 10,
        ..ListLimits::default()
    };
    for encoding in BOTH {
        let fits = match encoding {
            Encoding::Json => b"\"12345678\"".to_vec(),
            _ => vec![7; 10],
        };
        let mut long = fits.clone();
        long.insert(1, b'9');
        let body = body(encoding, &[fits.clone(), long]);
        for chunk_size in [1, 7, 1000] {
            let mut list = ListStream::with_limits(encoding, limits);
            let mut found = Vec::new();
            let error = body.chunks(chunk_size).find_map(|chunk| {
                list.push(Bytes::copy_from_slice(chunk));
                loop {
                    match list.next_item() {
                        Ok(Some(item)) => found.push(item),
                        Ok(None) => return None,
                        Err(error) => return Some(error),
                    }
                }
            });
            assert!(
                matches!(error, Some(ListStreamError::TooLong { max: 10, .. })),
                "{error:?}"
            );
            assert_eq!(found, std::slice::from_ref(&fits));
        }
    }
}

#[test]
fn a_claimed_length_beyond_the_message_is_an_error_before_it_arrives() {
    let body = kubist_codec::envelope::wrap("v1", "PodList", b"\x12\xff\xff\xff\x0f");
    let error = cut(Encoding::Protobuf, [&*body]).unwrap_err();
    assert!(matches!(error, ListStreamError::Protobuf { .. }), "{error}");
}

/// A thousand list metadata, which serve as items; number 500 is `corrupt`.
fn thousand(encoding: Encoding, corrupt: &[u8]) -> Vec<u8> {
    let mut items: Vec<Vec<u8>> = (0..1000)
        .map(|i| ListMeta {
            resource_version: i.to_string().into(),
            ..ListMeta::default()
        })
        .map(|item| match encoding {
            Encoding::Json => item.to_json(),
            _ => item.to_protobuf(),
        })
        .collect();
    items[500] = corrupt.to_vec();
    body(encoding, &items)
}

#[test]
fn one_corrupt_item_among_a_thousand_costs_only_itself() {
    let cases: [(_, &[u8]); 4] = [
        (Encoding::Json, b"{\"resourceVersion\":{]}"),
        (Encoding::Json, b"{\"resourceVersion\":7}"),
        (Encoding::Json, b"\"text\""),
        (Encoding::Protobuf, &[0x12, 0x7f, 1]),
    ];
    for (encoding, corrupt) in cases {
        let body = thousand(encoding, corrupt);
        for size in [1, 37, 4096, body.len()] {
            let (found, _) = cut(encoding, body.chunks(size)).unwrap();
            assert_eq!(found.len(), 1000);
            let cx = &mut DecodeContext::new();
            let decoded: Vec<_> = found
                .iter()
                .map(|item| decode::<ListMeta>(item, encoding, cx))
                .collect();
            assert_eq!(decoded.iter().filter(|item| item.is_ok()).count(), 999);
            assert!(decoded[500].is_err());
            assert_eq!(decoded[999].as_ref().unwrap().resource_version, "999");
        }
    }
}

#[test]
fn an_item_that_moves_the_borders_is_garbage() {
    let body = thousand(Encoding::Json, b"{\"resourceVersion\":[}");
    assert!(cut(Encoding::Json, [&body[..]]).is_err());
}

fn chunked(body: &[u8], sizes: &[usize]) -> Vec<Bytes> {
    let mut chunks = Vec::new();
    let mut rest = body;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = (*sizes.next().unwrap()).clamp(1, rest.len());
        chunks.push(Bytes::copy_from_slice(&rest[..size]));
        rest = &rest[size..];
    }
    chunks
}

proptest! {
    #[test]
    fn any_items_survive_any_chunking(
        texts in prop::collection::vec("[a-z\\\\\"{}\\[\\],: \\PC]{0,60}", 0..20),
        sizes in prop::collection::vec(1usize..200, 1..8),
        protobuf: bool,
    ) {
        let (encoding, items): (_, Vec<Vec<u8>>) = if protobuf {
            (Encoding::Protobuf, texts.iter().map(|text| text.as_bytes().to_vec()).collect())
        } else {
            let item = |text: &String| serde_json::json!({ text: [text, {"x": text}] });
            (Encoding::Json, texts.iter().map(|text| item(text).to_string().into()).collect())
        };
        let body = body(encoding, &items);
        let chunks = chunked(&body, &sizes);
        let (found, facts) = cut(encoding, chunks.iter().map(|chunk| &chunk[..])).unwrap();
        prop_assert_eq!(found, items);
        prop_assert_eq!(facts.metadata, metadata());
    }

    #[test]
    fn garbage_and_flipped_bytes_never_panic(
        mut noise in prop::collection::vec(any::<u8>(), 0..300),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        encoded: bool,
        protobuf: bool,
        sizes in prop::collection::vec(1usize..50, 1..4),
    ) {
        let encoding = if protobuf { Encoding::Protobuf } else { Encoding::Json };
        if encoded {
            noise = body(encoding, &samples(encoding)[..3]);
            for (index, byte) in flips {
                let index = index.index(noise.len());
                noise[index] = byte;
            }
        }
        let chunks = chunked(&noise, &sizes);
        let whole = cut(encoding, [&noise[..]]);
        let parts = cut(encoding, chunks.iter().map(|chunk| &chunk[..]));
        match (whole, parts) {
            (Ok(whole), Ok(parts)) => prop_assert_eq!(whole, parts),
            (whole, parts) => prop_assert_eq!(whole.is_ok(), parts.is_ok()),
        }
    }
}
