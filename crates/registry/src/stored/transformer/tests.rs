//! Tests of the transformers.

use super::*;
use proptest::prelude::*;

fn key(name: &str, byte: u8) -> AesGcm {
    AesGcm::new(name, &[byte; 32]).expect("32 bytes are a key")
}

fn read(
    from: &dyn Transformer,
    value: &Bytes,
    key: &[u8],
) -> Result<(Bytes, bool), TransformError> {
    let transformed = from.open(value, key)?;
    Ok((transformed.value, transformed.stale))
}

#[test]
fn identity_refuses_what_is_encrypted() {
    let value = Bytes::from_static(b"k8s\0...");
    assert_eq!(read(&Identity, &value, b"/k"), Ok((value, false)));
    let encrypted = Bytes::from_static(b"k8s:enc:aesgcm:v1:a:...");
    assert_eq!(
        read(&Identity, &encrypted, b"/k"),
        Err(TransformError::Encrypted)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn encrypted_values_are_decrypted(value in prop::collection::vec(any::<u8>(), 0..300)) {
        let row = Transformers::encrypting(key("a", 1));
        let value = Bytes::from(value);
        let stored = row.seal(value.clone(), b"/registry/x").expect("it encrypts");
        prop_assert!(stored.starts_with(b"k8s:enc:aesgcm:v1:a:"));
        prop_assert_eq!(read(&row, &stored, b"/registry/x"), Ok((value, false)));
    }
}

#[test]
fn a_changed_or_moved_value_is_not_read() {
    let row = Transformers::encrypting(key("a", 1));
    let stored = row
        .seal(Bytes::from_static(b"secret"), b"/a")
        .expect("it encrypts");
    assert!(!stored.windows(6).any(|it| it == b"secret"));
    assert_eq!(
        read(&row, &stored, b"/b"),
        Err(TransformError::NotAuthentic)
    );
    for at in b"k8s:enc:aesgcm:v1:a:".len()..stored.len() {
        let mut changed = stored.to_vec();
        changed[at] ^= 1;
        let changed = Bytes::from(changed);
        assert_eq!(
            read(&row, &changed, b"/a"),
            Err(TransformError::NotAuthentic),
            "{at}"
        );
    }
    let short = stored.slice(..b"k8s:enc:aesgcm:v1:a:".len() + 5);
    assert_eq!(read(&row, &short, b"/a"), Err(TransformError::NotAuthentic));
}

#[test]
fn values_of_another_key_than_the_first_are_stale() {
    let old = Transformers::encrypting(key("old", 1));
    let value = Bytes::from_static(b"secret");
    let stored = old.seal(value.clone(), b"/a").expect("it encrypts");
    let rotated = Transformers::encrypting(key("new", 2))
        .decrypting(key("old", 1))
        .reading("", Identity);
    assert_eq!(read(&rotated, &stored, b"/a"), Ok((value.clone(), true)));
    assert_eq!(
        read(&rotated, &value, b"/a"),
        Ok((value.clone(), true)),
        "it was plain"
    );
    let again = rotated.seal(value.clone(), b"/a").expect("it encrypts");
    assert_eq!(read(&rotated, &again, b"/a"), Ok((value, false)));
    let without = Transformers::encrypting(key("new", 2));
    assert_eq!(
        read(&without, &stored, b"/a"),
        Err(TransformError::UnknownForm)
    );
}

#[test]
fn decrypting_everything_is_identity_in_front() {
    let old = Transformers::encrypting(key("a", 1));
    let value = Bytes::from_static(b"secret");
    let stored = old.seal(value.clone(), b"/a").expect("it encrypts");
    let row = Transformers::writing("", Identity).decrypting(key("a", 1));
    assert_eq!(read(&row, &stored, b"/a"), Ok((value.clone(), true)));
    assert_eq!(row.seal(value.clone(), b"/a"), Ok(value));
}

#[test]
fn a_key_has_a_length_and_a_name() {
    let length = |bytes| Some(AesKeyError::Length { bytes });
    assert_eq!(AesGcm::new("a", &[0; 24]).err(), length(24));
    assert_eq!(AesGcm::new("a", &[]).err(), length(0));
    assert!(AesGcm::new("a", &[0; 16]).is_ok());
    assert_eq!(AesGcm::new("a:b", &[0; 16]).err(), Some(AesKeyError::Name));
    assert_eq!(format!("{:?}", key("a", 7)), "AesGcm { name: \"a\", .. }");
}
