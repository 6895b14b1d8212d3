//! `Observed`: what the collector keeps of an object, in as few bytes as that takes: a server with
//! a million objects has a million of them.
//!
//! The names are one text, which most objects have nothing but. It is not the metadata: labels,
//! annotations and finalizers are gone, and what they say about a deletion is the phase.

use super::node::Phase;
use kubist_apimachinery::wire::{DecodeContext, Encoding, WireError, scan};
use kubist_apimachinery::{ApiResource, KeyValues, Object, ObjectMeta, OwnerReference, Owners};
use kubist_cache::IngestAny;

/// What is kept of an object.
#[derive(Debug)]
pub(super) struct Observed {
    /// Namespace, name, uid and resource version, one after another.
    text: Box<str>,
    /// Where the first three of them end.
    ends: [u32; 3],
    phase: Phase,
    owners: Box<[OwnerReference]>,
}

impl Observed {
    pub(super) fn new(metadata: &ObjectMeta) -> Self {
        let parts = [
            &metadata.namespace,
            &metadata.name,
            &metadata.uid,
            &metadata.resource_version,
        ];
        let mut text = String::with_capacity(parts.iter().map(|it| it.len()).sum());
        let mut ends = [0; 3];
        for (at, part) in parts.into_iter().enumerate() {
            text.push_str(part);
            if let Some(end) = ends.get_mut(at) {
                // Objects are far smaller than 4 GiB.
                *end = u32::try_from(text.len()).unwrap_or(u32::MAX);
            }
        }
        Self {
            text: text.into_boxed_str(),
            ends,
            phase: Phase::of(metadata),
            owners: metadata.owner_references.clone().into_boxed_slice(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn owner_references(&self) -> &[OwnerReference] {
        &self.owners
    }

    fn part(&self, from: u32, to: Option<u32>) -> &str {
        let end = to.map_or(self.text.len(), |it| it as usize);
        self.text.get(from as usize..end).unwrap_or_default()
    }
}

impl IngestAny for Observed {
    const METADATA_ONLY: bool = true;
    const PROTOBUF: bool = true;

    fn ingest_any(
        bytes: bytes::Bytes,
        encoding: Encoding,
        _resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError> {
        scan::metadata(&bytes, encoding, cx).map(|it| Self::new(&it))
    }
}

impl Object for Observed {
    fn name(&self) -> &str {
        self.part(self.ends[0], Some(self.ends[1]))
    }

    fn namespace(&self) -> &str {
        self.part(0, Some(self.ends[0]))
    }

    fn uid(&self) -> &str {
        self.part(self.ends[1], Some(self.ends[2]))
    }

    fn resource_version(&self) -> &str {
        self.part(self.ends[2], None)
    }

    fn labels(&self) -> KeyValues<'_> {
        KeyValues::Empty
    }

    fn annotations(&self) -> KeyValues<'_> {
        KeyValues::Empty
    }

    fn owners(&self) -> Owners<'_> {
        Owners::List(&self.owners)
    }

    fn is_terminating(&self) -> bool {
        self.phase != Phase::Alive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_metadata() {
        let mut metadata = ObjectMeta {
            namespace: "shop".into(),
            name: "cart".into(),
            uid: "u-1".into(),
            resource_version: "7".into(),
            ..ObjectMeta::default()
        };
        let parts = |it: &Observed| {
            [it.namespace(), it.name(), it.uid(), it.resource_version()].map(ToOwned::to_owned)
        };
        assert_eq!(
            parts(&Observed::new(&metadata)),
            ["shop", "cart", "u-1", "7"]
        );
        metadata.namespace = "".into();
        metadata.resource_version = "".into();
        assert_eq!(parts(&Observed::new(&metadata)), ["", "cart", "u-1", ""]);
    }
}
