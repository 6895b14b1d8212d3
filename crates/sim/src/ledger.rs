//! `Ledger`: what storage has committed, with which everything else is compared.

use kubist_api::core::v1::{ConfigMap, Secret};
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{Object, ObjectName, Selector, Str};
use kubist_cache::Selection;
use kubist_codec::envelope::Envelope;
use std::collections::BTreeMap;
use std::fmt;

/// The annotation of a copy with the version of its original.
pub(crate) const COPY_OF: &str = "sim/copy-of";

/// The label in which an object names its owner in the same namespace.
pub(crate) const OWNER: &str = "owner";

/// One version of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) uid: Str,
    pub(crate) version: u64,
}

impl Stamp {
    pub(crate) fn of(object: &impl Object) -> Self {
        Self {
            uid: object.uid().into(),
            version: object.resource_version().parse().unwrap_or(0),
        }
    }
}

/// The beginning of the uid, and the version.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.uid.get(..4).unwrap_or("?"), self.version)
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Watched and copied.
    Original,
    /// Written by the controller.
    Copy,
}

/// An object in storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) stamp: Stamp,
    pub(crate) labels: BTreeMap<Str, Str>,
    /// The original's version that a copy names.
    pub(crate) copy_of: Option<Str>,
}

/// The existing objects.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    objects: BTreeMap<(Kind, ObjectName), Stored>,
}

impl Ledger {
    /// Records a write. Returns what it was for the trace; `None` for keys of no interest.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8], revision: u64) -> Option<String> {
        let (kind, name) = place(key)?;
        let stored = match kind {
            Kind::Original => read::<ConfigMap>(value, revision),
            Kind::Copy => read::<Secret>(value, revision),
        }?;
        let what = format!("{kind:?} {name} {}", stored.stamp);
        self.objects.insert((kind, name), stored);
        Some(what)
    }

    /// Records a deletion.
    pub(crate) fn delete(&mut self, key: &[u8], revision: u64) -> Option<String> {
        let place = place(key)?;
        self.objects.remove(&place);
        Some(format!("{:?} {} gone @{revision}", place.0, place.1))
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.objects.clear();
    }

    /// Returns an original, if it exists.
    pub(crate) fn original(&self, name: &ObjectName) -> Option<&Stored> {
        self.objects.get(&(Kind::Original, name.clone()))
    }

    /// Returns the objects of a kind.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = (&ObjectName, &Stored)> {
        let of_kind = self.objects.iter().filter(move |((it, _), _)| *it == kind);
        of_kind.map(|((_, name), stored)| (name, stored))
    }

    /// Returns the originals that match a selection.
    pub(crate) fn selected(&self, selection: &Selection) -> BTreeMap<ObjectName, Stamp> {
        let selector: Selector = selection
            .labels
            .parse()
            .expect("plans hold valid selectors");
        let namespace = selection.namespace.as_deref();
        self.all(Kind::Original)
            .filter(|(name, stored)| {
                namespace.is_none_or(|it| *name.namespace == *it)
                    && selector.matches(|key| stored.labels.get(key).map(|it| &**it))
            })
            .map(|(name, stored)| (name.clone(), stored.stamp.clone()))
            .collect()
    }
}

/// Returns kind and name of `/registry/configmaps/default/web`.
fn place(key: &[u8]) -> Option<(Kind, ObjectName)> {
    let text = std::str::from_utf8(key).ok()?;
    let mut parts = text.strip_prefix("/registry/")?.split('/');
    let kind = match parts.next()? {
        "configmaps" => Kind::Original,
        "secrets" => Kind::Copy,
        _ => return None,
    };
    Some((kind, ObjectName::new(parts.next()?, parts.next()?)))
}

fn read<K: Wire + Object>(value: &[u8], revision: u64) -> Option<Stored> {
    let envelope = Envelope::open(value).ok()?;
    let object = K::from_protobuf(envelope.raw, &mut DecodeContext::new()).ok()?;
    let pairs = object.labels();
    let labels = pairs.iter().map(|(key, value)| (key.into(), value.into()));
    Some(Stored {
        stamp: Stamp {
            uid: object.uid().into(),
            version: revision,
        },
        labels: labels.collect(),
        copy_of: object.annotations().get(COPY_OF).map(Str::from),
    })
}
