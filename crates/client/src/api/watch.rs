//! Watch: the changes of the objects that the options select.

use super::Api;
use crate::decoder::SharedContext;
use crate::error::ApiError;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kubist_apimachinery::{ListOptions, Object};
use kubist_cache::WatchItem;

impl<K: Object> Api<K> {
    /// Watches until the server ends the watch. It is a single request; to resume after its end
    /// without missing events use a reflector.
    ///
    /// An object that cannot be decoded is a [`WatchItem::Invalid`]. An error is the last item.
    /// Every watch ends eventually, without an error.
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
