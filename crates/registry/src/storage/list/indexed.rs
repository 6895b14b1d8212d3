//! A list that reads the objects that an index finds, and no others.
//!
//! The result is that of a scan, with its order, its pages and its errors: the index also finds
//! what cannot be read, and the state says whether any key follows a page.

use super::{Cursor, Listing, not_older};
use crate::storage::Listed;
use crate::storage::work_budget::WorkBudget;
use kubist_apimachinery::{ListPosition, Status};
use kubist_storage::{RangeResponse, Revision};

impl Listing<'_> {
    /// Lists by the index; `None` if that is not possible.
    pub(super) async fn indexed(
        &self,
        cursor: &mut Cursor,
        position: &ListPosition,
        limit: Option<usize>,
    ) -> Result<Option<Listed>, Status> {
        let predicate = self.request.predicate;
        // A conversion may change what the objects are selected by.
        if predicate.conversion().is_some() {
            return Ok(None);
        }
        let Some(view) = self.reader.indexed() else {
            return Ok(None);
        };
        let at = cursor.at.map(|it| it.0);
        let Some(mut found) = view.find(predicate, &cursor.range, at).await else {
            return Ok(None);
        };
        if let ListPosition::NotOlderThan(version) = position {
            not_older(version, found.revision).map_err(|error| self.failed(&error))?;
        }
        cursor.revision.get_or_insert(found.revision);
        let mut listed = Listed::default();
        let mut budget = WorkBudget::new();
        let response = RangeResponse {
            more: false,
            count: found.kvs.len(),
            revision: Revision(found.revision),
            kvs: std::mem::take(&mut found.kvs),
        };
        let examined = self
            .select(&response, limit, &mut listed, &mut budget)
            .await;
        let is_full = limit.is_some_and(|limit| listed.items.len() >= limit);
        let last = examined.checked_sub(1).and_then(|it| response.kvs.get(it));
        let mut more = false;
        if let (true, Some(last)) = (is_full, last) {
            cursor.continue_after(&last.key);
            more = found.count(&cursor.range) > 0;
        }
        self.counted(response.kvs.len(), examined, listed.items.len());
        listed.metadata = cursor.metadata(more, predicate, &response, examined);
        Ok(Some(listed))
    }
}
