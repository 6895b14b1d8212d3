//! The driver's handling of list responses.

use super::{Io, Out, Reflector};
use crate::Report;
use crate::machine::PageEnd;
use kubist_apimachinery::Object;
use kubist_cache::{FetchError, ListBatch, ListItem, ListStream};

impl<K: Object> Reflector<K> {
    pub(super) fn list_opened(
        &mut self,
        opened: Result<ListStream<K>, FetchError>,
        out: &mut Out<'_, K>,
    ) -> bool {
        match opened {
            Ok(stream) => {
                self.machine.list_goes_on(self.now());
                self.io = Io::List(stream);
                false
            }
            Err(error) => self.list_failed(error, out),
        }
    }

    pub(super) fn list_item(
        &mut self,
        item: Option<Result<ListBatch<K>, FetchError>>,
        out: &mut Out<'_, K>,
    ) -> bool {
        self.machine.list_goes_on(self.now());
        match item {
            Some(Ok(ListBatch::Items(items))) => {
                for item in items {
                    match item {
                        ListItem::Object(object) => self.list_buffer.add(object),
                        ListItem::Invalid(item) => {
                            self.list_buffer
                                .add_unreadable(item.name.clone().unwrap_or_default());
                            self.invalid(item, out);
                        }
                    }
                }
                false
            }
            Some(Ok(ListBatch::End(end))) => {
                self.io = Io::None;
                let was_refused = self.machine.is_streaming_refused();
                match self.machine.page_complete(&end) {
                    PageEnd::More => return false,
                    PageEnd::Complete => self.complete(out),
                    PageEnd::Stale => self.stale(out),
                }
                self.share(was_refused);
                true
            }
            Some(Err(error)) => self.list_failed(error, out),
            None => {
                let message = "the list ended early".into();
                let source = None;
                self.list_failed(FetchError::Other { message, source }, out)
            }
        }
    }

    fn list_failed(&mut self, error: FetchError, out: &mut Out<'_, K>) -> bool {
        self.io = Io::None;
        self.list_buffer.clear();
        let known = self.machine.is_not_served();
        self.machine.list_failed(self.now(), &error);
        if matches!(error, FetchError::NotServed { .. }) {
            return self.not_served(error, known, out);
        }
        self.stats.failures += 1;
        (out.report)(Report::ListFailed(error));
        true
    }

    pub(super) fn list_silent(&mut self, out: &mut Out<'_, K>) -> bool {
        self.io = Io::None;
        self.list_buffer.clear();
        self.stats.failures += 1;
        self.machine.list_silent(self.now());
        (out.report)(Report::ListSilent);
        true
    }
}
