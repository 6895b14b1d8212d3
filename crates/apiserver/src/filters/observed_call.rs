//! `ObservedCall`: the context of a request, which tells the observer how it ended.

use crate::filters::request_observer::{ObservedRequest, RequestObserver};
use crate::metrics::RequestLabels;
use http::StatusCode;
use kubist_registry::RequestContext;
use std::sync::Arc;

/// The context of a request. Dropping it before there is an answer is observed as well.
#[derive(Debug)]
pub(crate) struct ObservedCall<'a> {
    pub(crate) cx: RequestContext,
    labels: RequestLabels,
    path: &'a str,
    /// `None` without an observer, and once it was told.
    observer: Option<Arc<dyn RequestObserver>>,
}

impl<'a> ObservedCall<'a> {
    pub(crate) fn new(
        cx: RequestContext,
        labels: RequestLabels,
        path: &'a str,
        observer: Option<Arc<dyn RequestObserver>>,
    ) -> Self {
        Self {
            cx,
            labels,
            path,
            observer,
        }
    }

    /// Tells the observer; the response follows.
    pub(crate) fn answered(&mut self, code: StatusCode) {
        self.tell(Some(code.as_u16()));
    }

    fn tell(&mut self, code: Option<u16>) {
        let Some(observer) = self.observer.take() else {
            return;
        };
        let writes = self.cx.take_writes();
        observer.observe(ObservedRequest {
            received: self.cx.received,
            user: &self.cx.user,
            user_agent: &self.cx.user_agent,
            verb: self.labels.verb,
            path: self.path,
            group: self.labels.group,
            version: self.labels.version,
            resource: self.labels.resource,
            subresource: self.labels.subresource,
            code,
            writes: &writes,
        });
    }
}

impl Drop for ObservedCall<'_> {
    fn drop(&mut self) {
        self.tell(None);
    }
}
