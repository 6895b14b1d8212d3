//! `Snapshot`: all keys of a range at one revision, page by page.

use crate::memory::Tree;
use crate::{KeyRange, KeyValue, Kv, RangeRequest, ReadError, Revision};
use std::sync::Arc;

/// Keys per page of a remote engine.
const PAGE_KEYS_MAX: usize = 500;
/// Maximum bytes of a page; a single key always fits.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// All keys of a range at one revision. A snapshot of an in-process engine keeps that state,
/// whatever is written and compacted meanwhile; one of a remote engine ends with
/// [`ReadError::Compacted`] if the revision is compacted before everything is read.
#[derive(Debug)]
pub struct Snapshot {
    kv: Arc<dyn Kv>,
    held: Option<Tree>,
    revision: Revision,
    /// The rest; `None` at the end.
    rest: Option<KeyRange>,
}

impl Snapshot {
    /// Begins at the current revision.
    ///
    /// # Errors
    /// The engine is closed or unreachable.
    pub async fn begin(kv: Arc<dyn Kv>, range: KeyRange) -> Result<Self, ReadError> {
        let (held, revision) = match kv.head() {
            Some((tree, revision)) => (Some(tree), revision),
            None => (None, kv.revision().await?),
        };
        Ok(Self {
            kv,
            held,
            revision,
            rest: Some(range),
        })
    }

    /// Returns the revision of the snapshot.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the next keys in byte order, about a mebibyte; none at the end.
    ///
    /// # Errors
    /// The engine failed, or has compacted the revision.
    ///
    /// # Cancel safety
    ///
    /// A page whose future was dropped is returned again.
    pub async fn page(&mut self) -> Result<Vec<Arc<KeyValue>>, ReadError> {
        let Some(range) = self.rest.clone() else {
            return Ok(Vec::new());
        };
        let (kvs, more) = if let Some(tree) = &self.held {
            tree_page(tree, &range)
        } else {
            let request = RangeRequest::new(range.clone()).at(self.revision);
            let page = self.kv.range(request.limit(PAGE_KEYS_MAX)).await?;
            (page.kvs, page.more)
        };
        self.rest = kvs.last().filter(|_| more).map(|last| {
            let mut after = last.key.to_vec();
            after.push(0);
            range.resumed_at(after)
        });
        Ok(kvs)
    }
}

fn tree_page(tree: &Tree, range: &KeyRange) -> (Vec<Arc<KeyValue>>, bool) {
    let (mut page, mut bytes) = (Vec::new(), 0);
    for kv in tree.range(range) {
        if bytes >= PAGE_BYTES_MAX {
            return (page, true);
        }
        bytes += kv.key.len() + kv.value.len();
        page.push(Arc::clone(kv));
    }
    (page, false)
}
