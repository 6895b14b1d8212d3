//! List: the objects that the options select, whole or page by page.

use super::Api;
use crate::decoder::SharedContext;
use crate::error::{AnswerError, ApiError};
use crate::item_stream::{ItemStream, Piece};
use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use kubist_apimachinery::{List, ListMeta, ListOptions, Object, ResourceVersion, Str};
use kubist_cache::{InvalidItem, ListItem};

/// The default page size of [`Api::list_all`]; the same as in client-go.
pub const PAGE_SIZE: i64 = 500;

impl<K: Object> Api<K> {
    /// Lists objects: the whole list, or one page if the options have a limit.
    ///
    /// # Errors
    /// Fails if any item cannot be decoded, because the list would be incomplete.
    pub async fn list(&self, options: &ListOptions) -> Result<List<K>, ApiError> {
        let mut page = self.page(options).await?;
        let mut list = List {
            metadata: ListMeta::default(),
            items: Vec::new(),
        };
        while let Some(piece) = page.next().await {
            match piece? {
                Piece::Items(items) => {
                    list.items.reserve(items.len());
                    for item in items {
                        let index = list.items.len() as u64;
                        list.items.push(self.item(item, index)?);
                    }
                }
                Piece::End(metadata) => list.metadata = metadata,
            }
        }
        Ok(list)
    }

    /// Lists all objects as a stream, page by page. Pages have the options' limit or [`PAGE_SIZE`],
    /// and show one consistent state of the server.
    ///
    /// An item that cannot be decoded is an error with [`AnswerError::Item`], and the stream goes
    /// on. After any other error the stream ends; [`is_expired`](ApiError::is_expired) means that
    /// listing took too long.
    pub fn list_all(&self, options: &ListOptions) -> BoxStream<'static, Result<K, ApiError>> {
        let mut options = options.clone();
        if options.limit == 0 {
            options.limit = PAGE_SIZE;
        }
        let first = Pages {
            api: self.clone(),
            options,
            page: None,
            items: Vec::new().into_iter(),
            index: 0,
            done: false,
        };
        futures_util::stream::unfold(first, |mut pages| async move {
            let item = pages.next().await.transpose()?;
            Some((item, pages))
        })
        .boxed()
    }

    pub(super) async fn page(&self, options: &ListOptions) -> Result<ItemStream<K>, ApiError> {
        let query = ListOptions {
            watch: false,
            ..options.clone()
        }
        .to_query();
        let retries = self.client().retries_max();
        self.endpoint
            .list(&query, SharedContext::new(), retries)
            .await
    }

    fn item(&self, item: ListItem<K>, index: u64) -> Result<K, ApiError> {
        match item {
            ListItem::Object(object) => Ok(object),
            ListItem::Invalid(InvalidItem { name, error }) => {
                let path = self.endpoint.target(None).path().unwrap_or_default();
                let request: Str = format!("GET {path}").into();
                Err(ApiError::answer(
                    &request,
                    AnswerError::Item {
                        index,
                        name,
                        source: Box::new(error),
                    },
                ))
            }
        }
    }
}

/// The position in a paged list.
struct Pages<K> {
    api: Api<K>,
    /// The query of the next page.
    options: ListOptions,
    page: Option<ItemStream<K>>,
    items: std::vec::IntoIter<ListItem<K>>,
    /// The index of the next item on its page.
    index: u64,
    done: bool,
}

impl<K: Object> Pages<K> {
    async fn next(&mut self) -> Result<Option<K>, ApiError> {
        loop {
            if let Some(item) = self.items.next() {
                self.index += 1;
                return self.api.item(item, self.index - 1).map(Some);
            }
            if self.done {
                return Ok(None);
            }
            let piece = match &mut self.page {
                Some(page) => page.next().await,
                None => None,
            };
            match piece {
                Some(Ok(Piece::Items(items))) => self.items = items.into_iter(),
                Some(Ok(Piece::End(metadata))) => {
                    self.page = None;
                    self.done = metadata.continue_.is_empty();
                    self.options.continue_ = metadata.continue_;
                    // The continue token includes both, and servers refuse them beside it.
                    self.options.resource_version = ResourceVersion::default();
                    self.options.resource_version_match = Str::default();
                }
                Some(Err(error)) => {
                    self.done = true;
                    return Err(error);
                }
                None => match self.api.page(&self.options).await {
                    Ok(page) => {
                        self.index = 0;
                        self.page = Some(page);
                    }
                    Err(error) => {
                        self.done = true;
                        return Err(error);
                    }
                },
            }
        }
    }
}
