//! Tests of valid and invalid configuration files.

use super::*;
use bytes::Bytes;

const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n";
/// Keys of 16 and 32 bytes.
const SHORT: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
const LONG: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn parse(rest: &str) -> Result<EncryptionConfiguration, String> {
    let text = format!("{HEAD}{rest}");
    EncryptionConfiguration::parse(text.as_bytes()).map_err(|error| error.to_string())
}

/// Returns a file with these resources and providers.
fn rule(resources: &str, providers: &str) -> String {
    format!("resources: [{{resources: [{resources}], providers: [{providers}]}}]")
}

fn key(name: &str, secret: &str) -> String {
    format!("{{aesgcm: {{keys: [{{name: {name}, secret: {secret}}}]}}}}")
}

fn only(configuration: &EncryptionConfiguration) -> Arc<dyn Transformer> {
    Arc::clone(&configuration.transformers()[0].1)
}

#[test]
fn the_first_provider_writes_and_all_read_in_order() {
    let old = parse(&rule("secrets", &key("old", SHORT))).expect("it is valid");
    let providers = format!(
        "{}, {}, {{identity: {{}}}}",
        key("new", LONG),
        key("old", SHORT)
    );
    let rotated = parse(&rule("secrets", &providers)).expect("it is valid");
    let (old, rotated) = (only(&old), only(&rotated));
    let value = Bytes::from_static(b"secret");
    let written = old.seal(value.clone(), b"/a").expect("it encrypts");
    assert!(written.starts_with(b"k8s:enc:aesgcm:v1:old:"));
    for (stored, stale) in [
        (written, true),
        (value.clone(), true),
        (
            rotated.seal(value.clone(), b"/a").expect("it encrypts"),
            false,
        ),
    ] {
        let read = rotated.open(&stored, b"/a").expect("it is known");
        assert_eq!((read.value, read.stale), (value.clone(), stale));
    }
}

#[test]
fn keys_of_one_provider_are_selected_by_name_and_two_providers_are_tried_in_turn() {
    let keys = format!(
        "{{aesgcm: {{keys: [{{name: b, secret: {LONG}}}, {{name: a, secret: {SHORT}}}]}}}}"
    );
    let both = only(&parse(&rule("secrets", &keys)).expect("it is valid"));
    let one = only(&parse(&rule("secrets", &key("a", SHORT))).expect("it is valid"));
    let value = Bytes::from_static(b"secret");
    let written = one.seal(value.clone(), b"/a").expect("it encrypts");
    let read = both.open(&written, b"/a").expect("it has the key");
    assert!(read.stale && read.value == value);
    // Two keys with one name, as after an operator error: if the first fails, the second is tried.
    let twice = rule(
        "secrets",
        &format!("{}, {}", key("a", LONG), key("a", SHORT)),
    );
    let twice = only(&parse(&twice).expect("it is valid"));
    assert_eq!(
        twice.open(&written, b"/a").expect("it is the second").value,
        value
    );
}

#[test]
fn unreadable_values_have_upstreams_errors() {
    let of = |providers: &str| only(&parse(&rule("secrets", providers)).expect("it is valid"));
    let written = of(&key("a", SHORT)).seal(Bytes::from_static(b"secret"), b"/a");
    let written = written.expect("it encrypts");
    for (providers, expected) in [
        (key("a", LONG), "cipher: message authentication failed"),
        (
            key("b", SHORT),
            "no matching key was found for the provided AES transformer",
        ),
        ("{identity: {}}".to_owned(), "no matching prefix found"),
    ] {
        let error = of(&providers)
            .open(&written, b"/a")
            .expect_err("it cannot be read");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn resources_are_named_with_stars_and_may_stand_in_several_rules() {
    let providers = "providers: [{identity: {}}]";
    let file = format!(
        "resources:\n- {{resources: [secrets, deployments.apps], {providers}}}\n\
         - {{resources: [secrets, '*.batch'], {providers}}}\n\
         - {{resources: ['*.'], {providers}}}\n\
         - {{resources: ['*.*'], {providers}}}\n"
    );
    let configuration = parse(&file).expect("it is valid");
    let names: Vec<String> = configuration
        .transformers()
        .iter()
        .map(|(of, _)| format!("{}.{}", of.resource, of.group))
        .collect();
    assert_eq!(
        names,
        ["secrets.", "deployments.apps", "*.batch", "*.", "*.*"]
    );
    let masked = format!(
        "resources:\n- {{resources: ['*.apps'], {providers}}}\n\
         - {{resources: [secrets, deployments.apps], {providers}}}\n"
    );
    assert_eq!(
        parse(&masked).expect_err("it is masked"),
        "resources[1].resources[1]: is masked by earlier rule \"*.apps\""
    );
}

#[test]
fn an_error_in_a_rule_is_reported_with_its_path() {
    let identity = "{identity: {}}";
    for (file, expected) in [
        (String::new(), "resources: is a mandatory field"),
        (
            "resources: []".into(),
            "resources: at least one resource is required",
        ),
        ("resources: {}".into(), "resources: expected a list"),
        ("more: 1".into(), "more: unknown field"),
        ("resources: [1]".into(), "resources[0]: expected a map"),
        (
            "resources: [{resources: [secrets]}]".into(),
            "resources[0].providers: is a mandatory field",
        ),
        (
            rule("secrets", ""),
            "resources[0].providers: at least one provider is required",
        ),
        (
            rule("'*'", identity),
            "resources[0].resources[0]: use '*.' to encrypt all the \
         resources from core API group or *.* to encrypt all resources",
        ),
        (
            rule("Secrets", identity),
            "resources[0].resources[0]: resource name should not contain capital letters",
        ),
        (
            rule("secrets, '*.'", identity),
            "resources[0].resources[0]: using overlapping resources such as 'secrets' and '*.' in \
             the same resource list is not allowed as they will be masked",
        ),
        (
            rule("secrets, secrets", identity),
            "resources[0].resources[1]: is a duplicate",
        ),
    ] {
        assert_eq!(parse(&file).expect_err(&file), expected, "{file}");
    }
}

#[test]
fn an_error_in_a_provider_is_reported_with_its_path() {
    for (file, expected) in [
        (
            rule("secrets", "{}"),
            "resources[0].providers[0]: at least one provider is required",
        ),
        (
            rule("secrets", "{identity: {}, aesgcm: {}}"),
            "resources[0].providers[0]: more than one provider specified in a single element, \
             should split into different list elements",
        ),
        (
            rule("secrets", "{kms: {name: x, endpoint: 'unix:///x'}}"),
            "resources[0].providers[0].kms: the provider kms is not supported; identity, \
             aesgcm, aescbc and secretbox are",
        ),
        (
            rule("secrets", "{rot13: {}}"),
            "resources[0].providers[0].rot13: unknown field",
        ),
        (
            rule("secrets", "{aesgcm: {keys: [{name: a}]}}"),
            "resources[0].providers[0].aesgcm.keys[0].secret: is a mandatory field",
        ),
        (
            rule("secrets", &key("a", "'%%'")),
            "resources[0].providers[0].aesgcm.keys[0].secret: secrets must be base64 encoded",
        ),
        (
            rule("secrets", &key("a", "c2hvcnQ=")),
            "resources[0].providers[0].aesgcm.keys[0].secret: secret is not of the expected \
             length, got 5, expected one of [16 32]",
        ),
        (
            rule("secrets", &key("'a:b'", SHORT)),
            "resources[0].providers[0].aesgcm.keys[0].name: a key name must not be empty or \
             contain a colon",
        ),
    ] {
        assert_eq!(parse(&file).expect_err(&file), expected, "{file}");
    }
}

#[test]
fn another_file_is_refused() {
    let other = EncryptionConfiguration::parse(b"apiVersion: v1\nkind: Secret\n");
    assert_eq!(
        other.expect_err("it is no such file").to_string(),
        "expected \"EncryptionConfiguration\" of \"apiserver.config.k8s.io/v1\", got \"Secret\" of \
         \"v1\""
    );
    EncryptionConfiguration::parse(b"{").expect_err("it is not YAML");
    parse("resources: []\nresources: []").expect_err("which one counts?");
}

#[test]
fn values_of_upstreams_oldest_provider_are_read_and_rewritten() {
    let cbc = |secret: &str| format!("{{aescbc: {{keys: [{{name: a, secret: {secret}}}]}}}}");
    let middle = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
    let value = Bytes::from_static(b"secret, and longer than one block");
    for secret in [SHORT, middle, LONG] {
        let old = only(&parse(&rule("secrets", &cbc(secret))).expect("it is valid"));
        let written = old.seal(value.clone(), b"/a").expect("it encrypts");
        assert!(written.starts_with(b"k8s:enc:aescbc:v1:a:"));
        assert!(!written.windows(6).any(|it| it == b"secret"));
        let new = rule("secrets", &format!("{}, {}", key("a", LONG), cbc(secret)));
        let new = only(&parse(&new).expect("it is valid"));
        let read = new.open(&written, b"/a").expect("it has the key");
        assert_eq!((read.value, read.stale), (value.clone(), true));
        let short = written.slice(..b"k8s:enc:aescbc:v1:a:".len() + 5);
        assert_eq!(new.open(&short, b"/a"), Err(TransformError::Short));
    }
    // A value encrypted by OpenSSL.
    let aes = super::super::AesCbc::new(&hex("2b7e151628aed2a6abf7158809cf4f3c"));
    let aes = aes.expect("it has 16 bytes");
    let mut stored = hex("000102030405060708090a0b0c0d0e0f49119a15e6eea54a0d69b118913ea29c");
    let read = aes
        .open(&stored.clone().into(), b"/a")
        .expect("it is padded");
    assert_eq!(&read.value[..], b"secret");
    stored[15] ^= 0xff;
    assert_eq!(
        aes.open(&stored.into(), b"/a"),
        Err(TransformError::Padding)
    );
    assert_eq!(
        parse(&rule("secrets", &cbc("c2hvcnQ="))).expect_err("it is short"),
        "resources[0].providers[0].aescbc.keys[0].secret: secret is not of the expected length, \
         got 5, expected one of [16 24 32]"
    );
}

#[test]
fn values_of_a_secretbox_are_those_of_upstream() {
    let of = |secret: &str| format!("{{secretbox: {{keys: [{{name: a, secret: {secret}}}]}}}}");
    let row = only(&parse(&rule("secrets", &of(LONG))).expect("it is valid"));
    let value = Bytes::from_static(b"secret");
    let written = row.seal(value.clone(), b"/a").expect("it encrypts");
    let prefix = b"k8s:enc:secretbox:v1:a:";
    assert!(written.starts_with(prefix));
    assert_eq!(written.len(), prefix.len() + 24 + 16 + value.len());
    let read = row.open(&written, b"/b").expect("it has the key");
    assert_eq!((read.value, read.stale), (value, false));
    for at in prefix.len()..written.len() {
        let mut changed = written.to_vec();
        changed[at] ^= 1;
        let opened = row.open(&changed.into(), b"/a");
        assert_eq!(opened, Err(TransformError::Unopened), "{at}");
    }
    let short = written.slice(..prefix.len() + 24 + 15);
    assert_eq!(row.open(&short, b"/a"), Err(TransformError::Short));
    let other =
        only(&parse(&rule("secrets", &of(LONG).replace("name: a", "name: b"))).expect("ok"));
    let unknown = other
        .open(&written, b"/a")
        .expect_err("the key is not there");
    assert_eq!(
        unknown.to_string(),
        "no matching key was found for the provided secretbox transformer"
    );
    // A value encrypted by upstream's package, with the key bytes 0 to 31.
    let key: Vec<u8> = (0..32).collect();
    let secretbox = super::super::Secretbox::new(&key).expect("it has 32 bytes");
    let stored = hex(
        "ad19b736272f528161d7c114e94fa72b796299427f9429b339f6ecb67f44325ede21970f59f25076d7031\
         02e8f4dfeed47345d07753f3217a4f684",
    );
    let read = secretbox
        .open(&stored.into(), b"/a")
        .expect("it is authentic");
    assert_eq!(&read.value[..], b"what upstream wrote");
    assert_eq!(
        parse(&rule("secrets", &of(SHORT))).expect_err("it is short"),
        "resources[0].providers[0].secretbox.keys[0].secret: secret is not of the expected \
         length, got 16, expected one of [32]"
    );
}

#[test]
fn a_replaced_configuration_applies_at_once() {
    let first = parse(&rule("secrets", &key("one", LONG))).expect("it is valid");
    let rotated = format!("{}, {}", key("two", SHORT), key("one", LONG));
    let second = parse(&rule("secrets", &rotated)).expect("it is valid");
    assert_ne!(first.hash(), second.hash());
    let live = super::super::LiveEncryption::new(first);
    let secrets = live.of(GroupResource::new("", "secrets"));
    let maps = live.of(GroupResource::new("", "configmaps"));
    let value = Bytes::from_static(b"secret");
    let old = secrets.seal(value.clone(), b"/a").expect("it encrypts");
    assert!(old.starts_with(b"k8s:enc:aesgcm:v1:one:"));
    assert_eq!(maps.seal(value.clone(), b"/b"), Ok(value.clone()));
    live.note_failure(7);
    let hash = second.hash().to_owned();
    live.replace(second, 9);
    let new = secrets.seal(value.clone(), b"/a").expect("it encrypts");
    assert!(new.starts_with(b"k8s:enc:aesgcm:v1:two:"));
    let read = |stored: &Bytes| {
        let read = secrets.open(stored, b"/a").expect("it has both keys");
        (read.value, read.stale)
    };
    assert_eq!(
        read(&old),
        (value.clone(), true),
        "its next write changes it"
    );
    assert_eq!(read(&new), (value, false));
    let reloads = live.reloads();
    assert_eq!((reloads.replaced, reloads.replaced_last), (1, 9));
    assert_eq!((reloads.failed, reloads.failed_last), (1, 7));
    assert_eq!(*reloads.hash, *hash);
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).expect("ASCII"), 16);
    digits
        .map(|it| byte(it).expect("it is hexadecimal"))
        .collect()
}
