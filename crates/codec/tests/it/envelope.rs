//! Envelopes of upstream's own encoder, where they are at hand.

use kubist_codec::Content;
use kubist_codec::envelope::{Envelope, wrap};
use std::path::PathBuf;

#[test]
fn upstreams_envelopes_open_and_are_written_the_same() {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/api-testdata/v1.36.0");
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("skipped: ../shared/data/api-testdata is not there");
        return;
    };
    let mut opened = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pb") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Content::of(&bytes), Content::Protobuf);
        let envelope = Envelope::open(&bytes).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name.contains(&format!(".{}", envelope.kind)), "{name}");
        assert_eq!(
            wrap(envelope.api_version, envelope.kind, envelope.raw),
            bytes,
            "{name}"
        );
        opened += 1;
    }
    assert!(opened > 100, "{opened}");
}
