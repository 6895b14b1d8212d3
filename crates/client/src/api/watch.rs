//! Watch: what happens to the objects that options select.

use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kubist_apimachinery::{ListOptions, Object};
use kubist_cache::WatchItem;

use super::Api;
use crate::decoder::SharedContext;
use crate::error::ApiError;

impl<K: Object> Api<K> {
    /// Watches, until the server ends it. It is one request: who needs to go on after its end, and
    /// not to miss anything, wants a reflector.
    ///
    /// An object that cannot be read is a [`WatchItem::Invalid`]; an error is the last item. The
    /// server ends every watch at some time, without an error.
    ///
    /// Cancel safety: dropping the stream ends the watch.
    pub async fn watch(
        &self,
        options: &ListOptions,
    ) -> Result<BoxStream<'static, Result<WatchItem<K>, ApiError>>, ApiError> {
        let query = ListOptions {
            watch: true,
            ..options.clone()
        }
        .to_query();
        let retries = self.client().retries_max();
        let cx = SharedContext::new();
        let batches = self.endpoint.watch(&query, cx, retries).await?;
        let each = |batch: Vec<_>| futures_util::stream::iter(batch.into_iter().map(Ok));
        Ok(batches.map_ok(each).try_flatten().boxed())
    }
}
