//! Lists: version, match, limit and continue over one consistent snapshot.

mod converting;
mod indexed;

use self::converting::Converting;
use crate::storage::continue_token::ContinueToken;
use crate::storage::error::{Operation, StorageError};
use crate::storage::predicate::Predicate;
use crate::storage::reader::Reader;
use crate::storage::work_budget::{OBJECT, WorkBudget};
use crate::storage::{ListRequest, Listed, Scope, Unreadable};
use crate::stored::Stored;
use crate::stored::codec::StoredCodec;
use crate::stored::key::KeyLayout;
use bytes::Bytes;
use kubist_apimachinery::wire::DecodeContext;
use kubist_apimachinery::{
    ListMeta, ListOptions, ListPosition, OptionsError, ResourceVersion, Status, Str,
};
use kubist_storage::{KeyRange, KeyValue, RangeRequest, RangeResponse, ReadError, Revision};

/// The maximum of keys read at once while searching for matches.
const PAGE_MAX: usize = 10_000;

/// The position of a list.
struct Cursor {
    range: KeyRange,
    /// The prefix that token starts are relative to.
    prefix: String,
    /// The revision to read at; `None` for the newest.
    at: Option<Revision>,
    /// The revision of the result; `None` until the first read.
    revision: Option<u64>,
    continued: bool,
}

/// A list in progress.
struct Listing<'a> {
    codec: &'a StoredCodec,
    reader: &'a dyn Reader,
    request: ListRequest<'a>,
}

/// Lists the objects of `reader` that a predicate selects.
pub(crate) async fn list(
    codec: &StoredCodec,
    reader: &dyn Reader,
    request: ListRequest<'_>,
) -> Result<Listed, Status> {
    let listing = Listing {
        codec,
        reader,
        request,
    };
    listing.run().await
}

impl Listing<'_> {
    async fn run(&self) -> Result<Listed, Status> {
        let ListRequest {
            scope,
            predicate,
            options,
            ..
        } = self.request;
        let position = position(options)?;
        let keys = self.codec.keys();
        let range = narrow(keys, scope, predicate).unwrap_or_else(|| no_keys(keys));
        let mut cursor = self.cursor(range, &position).await?;
        // Upstream's cache, which serves these, ignores limits.
        let limited = options.limit > 0 && !options.resource_version.is_any();
        let limit = limited.then(|| usize::try_from(options.limit).unwrap_or(usize::MAX));
        if let Some(listed) = self.indexed(&mut cursor, &position, limit).await? {
            return Ok(listed);
        }
        let mut listed = Listed::default();
        let mut page = limit;
        let (mut fetched, mut examined) = (0, 0);
        let mut budget = WorkBudget::new();
        loop {
            let request = RangeRequest {
                range: cursor.range.clone(),
                at: cursor.at,
                limit: page,
            };
            let response = match self.reader.range(request).await {
                Ok(response) => response,
                Err(ReadError::Compacted { .. }) if cursor.continued => {
                    return Err(Status::continue_expired(cursor.inconsistent_token()));
                }
                Err(error) => return Err(self.failed(&error.into())),
            };
            if let ListPosition::NotOlderThan(version) = &position {
                not_older(version, response.revision.0).map_err(|error| self.failed(&error))?;
            }
            let revision = *cursor.revision.get_or_insert(response.revision.0);
            cursor.at = Some(Revision(revision));
            let left = limit.map(|limit| limit - listed.items.len());
            let evaluated = match predicate.conversion() {
                None => self.select(&response, left, &mut listed, &mut budget).await,
                Some(conversion) => {
                    let converting = Converting {
                        listing: self,
                        conversion: &**conversion,
                        budget: &mut budget,
                    };
                    converting.select(&response.kvs, left, &mut listed).await?
                }
            };
            (fetched, examined) = (fetched + response.kvs.len(), examined + evaluated);
            let more = response.more || evaluated < response.kvs.len();
            let last = evaluated.checked_sub(1).map(|it| &response.kvs[it].key);
            if let (true, Some(last)) = (more, last) {
                cursor.continue_after(last);
            }
            let full = limit.is_some_and(|limit| listed.items.len() >= limit);
            if !more || full {
                listed.metadata = cursor.metadata(more, predicate, &response, evaluated);
                self.counted(fetched, examined, listed.items.len());
                return Ok(listed);
            }
            page = page.map(|page| page.saturating_mul(2).min(PAGE_MAX));
        }
    }

    fn counted(&self, fetched: usize, evaluated: usize, returned: usize) {
        let metrics = self.codec.metrics();
        let of = if self.reader.is_cache() {
            &metrics.from_cache
        } else {
            &metrics.from_storage
        };
        of.listed(fetched, evaluated, returned);
    }

    fn failed(&self, error: &StorageError) -> Status {
        error.to_status(Operation::List, self.request.resource, "")
    }

    /// Appends at most `left` selected objects. Returns how many were examined.
    async fn select(
        &self,
        response: &RangeResponse,
        left: Option<usize>,
        listed: &mut Listed,
        budget: &mut WorkBudget,
    ) -> usize {
        let predicate = self.request.predicate;
        let everything = predicate.is_everything();
        let match_cost = OBJECT + predicate.cost();
        let items = &mut listed.items;
        if everything {
            items.reserve(response.kvs.len());
        }
        let end = left.map_or(usize::MAX, |left| items.len().saturating_add(left));
        let mut cx = DecodeContext::new();
        // More than the cache can hold would only evict other entries.
        let remember = self.codec.remembers(&response.kvs);
        for (index, kv) in response.kvs.iter().enumerate() {
            if items.len() >= end {
                return index;
            }
            let stored = if remember {
                self.codec.stored(kv)
            } else {
                self.codec.stored_uncached(kv)
            };
            let unread = !remember && !stored.is_sound();
            let looks = unread || !everything;
            budget
                .spend(match_cost + if looks { kv.value.len() } else { 0 })
                .await;
            if let Some(status) = self.codec.failure(&stored, &mut cx) {
                listed.unreadable.push(Unreadable {
                    key: String::from_utf8_lossy(&kv.key).into_owned(),
                    status: status.clone(),
                });
                continue;
            }
            if unread && stored.is_as_stored() {
                self.codec.note(kv);
            }
            if everything || self.is_selected(&stored, kv) {
                items.push(stored);
            }
        }
        response.kvs.len()
    }

    fn is_selected(&self, stored: &Stored, kv: &KeyValue) -> bool {
        let (namespace, name) = self.codec.keys().names(&kv.key);
        self.request.predicate.matches(stored, namespace, name)
    }

    async fn head(&self) -> Result<u64, Status> {
        let revision = self.reader.revision().await;
        Ok(revision.map_err(|error| self.failed(&error.into()))?.0)
    }

    async fn cursor(&self, range: KeyRange, position: &ListPosition) -> Result<Cursor, Status> {
        let scope = self.request.scope;
        let prefix = self.codec.keys().range_prefix(scope.namespace);
        let mut cursor = Cursor {
            range,
            prefix,
            at: None,
            revision: None,
            continued: false,
        };
        match position {
            ListPosition::MostRecent | ListPosition::Any => {}
            ListPosition::NotOlderThan(version) => {
                list_version(version)?;
            }
            ListPosition::Exact { version, .. } => {
                let revision = list_version(version)?;
                cursor.at = Some(Revision(revision));
                cursor.revision = Some(revision);
            }
            ListPosition::Continue(token) => {
                let token = ContinueToken::decode(token)?;
                let start = format!("{}{}", cursor.prefix, token.start);
                cursor.range = cursor.range.resumed_at(start);
                cursor.continued = true;
                let revision = if let Some(revision) = token.revision {
                    revision
                } else {
                    self.head().await?
                };
                cursor.at = Some(Revision(revision));
                cursor.revision = Some(revision);
            }
        }
        Ok(cursor)
    }
}

/// An empty key range that every engine can read.
pub(crate) fn no_keys(keys: &KeyLayout) -> KeyRange {
    let all = keys.range("");
    KeyRange::between(all.start().clone(), all.start().clone())
}

/// Returns the keys that the predicate can select; `None` if there are none.
pub(crate) fn narrow(
    keys: &KeyLayout,
    scope: Scope<'_>,
    predicate: &Predicate,
) -> Option<KeyRange> {
    let mut namespace = scope.namespace;
    if keys.namespaced()
        && let Some(selected) = predicate.namespace()
    {
        if namespace.is_empty() {
            namespace = selected;
        } else if namespace != selected {
            return None;
        }
    }
    let name = match (scope.name, predicate.name()) {
        (Some(name), Some(selected)) if name != selected => return None,
        (name, selected) => name.or(selected),
    };
    match name {
        Some(name) if !namespace.is_empty() || !keys.namespaced() => {
            let key = keys.key(namespace, name).ok()?;
            Some(KeyRange::key(Bytes::from(key)))
        }
        _ => Some(keys.range(namespace)),
    }
}

impl Cursor {
    fn continue_after(&mut self, last: &Bytes) {
        let mut next = last.to_vec();
        next.push(0);
        self.range = self.range.resumed_at(next);
    }

    fn start(&self) -> String {
        let start = self.range.start();
        let rest = start.strip_prefix(self.prefix.as_bytes()).unwrap_or(start);
        String::from_utf8_lossy(rest).into_owned()
    }

    fn inconsistent_token(&self) -> Str {
        let token = ContinueToken {
            revision: None,
            start: self.start(),
        };
        token.encode()
    }

    fn metadata(
        &self,
        more: bool,
        predicate: &Predicate,
        response: &RangeResponse,
        evaluated: usize,
    ) -> ListMeta {
        let mut metadata = list_meta(self.revision.unwrap_or_default());
        if more {
            let token = ContinueToken {
                revision: self.revision,
                start: self.start(),
            };
            metadata.continue_ = token.encode();
            if predicate.is_everything() {
                let remaining = response.count.saturating_sub(evaluated);
                metadata.remaining_item_count = i64::try_from(remaining).ok();
            }
        }
        metadata
    }
}

fn list_meta(revision: u64) -> ListMeta {
    ListMeta {
        resource_version: crate::stored::version_text(revision),
        ..ListMeta::default()
    }
}

fn not_older(version: &ResourceVersion, current: u64) -> Result<(), StorageError> {
    match version.to_u64() {
        Some(requested) if requested > current => {
            Err(StorageError::TooLarge { requested, current })
        }
        _ => Ok(()),
    }
}

/// Returns the read position. Errors of the token are reported before other errors, as upstream.
pub(crate) fn position(options: &ListOptions) -> Result<ListPosition, Status> {
    options.list_position().map_err(|error| {
        if matches!(error, OptionsError::ContinueWithVersion)
            && let Err(status) = ContinueToken::decode(&options.continue_)
        {
            return status;
        }
        error.to_status()
    })
}

/// Returns a list version as a number. 400 if it is invalid.
pub(crate) fn list_version(version: &ResourceVersion) -> Result<u64, Status> {
    parse_version(version).map_err(|status| {
        Status::bad_request(format!("invalid resource version: {}", status.message))
    })
}

/// Returns a resource version as a number. 400 if it is invalid.
pub(crate) fn parse_version(version: &ResourceVersion) -> Result<u64, Status> {
    let text = version.as_str();
    if text.is_empty() {
        return Ok(0);
    }
    // Upstream's parser accepts leading zeros, but no signs.
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    let parsed = digits.then(|| text.parse().ok()).flatten();
    parsed.ok_or_else(|| {
        let why = if digits {
            "value out of range"
        } else {
            "invalid syntax"
        };
        Status::bad_request(format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}"
        ))
    })
}
