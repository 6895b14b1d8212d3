//! `ItemStream`: the objects of one list response, in batches, as its bytes arrive.
//!
//! It holds one chunk of the body and one batch of items, never the whole body. Items that have
//! arrived are delivered before more bytes are awaited.

use crate::decoder::Decoder;
use crate::error::{AnswerError, ApiError};
use futures_core::Stream;
use http_body::Body as _;
use kubist_apimachinery::wire::Encoding;
use kubist_apimachinery::{ListMeta, Object};
use kubist_cache::ListItem;
use kubist_codec::list_stream::{ListStream, ListStreamError};
use kubist_transport::ResponseBody;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The most items in one batch; after that the reader is polled again.
pub(crate) const BATCH_ITEMS_MAX: usize = 256;

/// A part of a list.
pub(crate) enum Piece<K> {
    Items(Vec<ListItem<K>>),
    /// The list is complete.
    End(ListMeta),
}

pub(crate) struct ItemStream<K> {
    body: ResponseBody,
    decoder: Decoder<K>,
    state: State,
}

enum State {
    Reading(Box<ListStream>),
    /// Delivered after the items before it.
    Ending(Result<ListMeta, ApiError>),
    Done,
}

impl<K: Object> ItemStream<K> {
    pub(crate) fn new(body: ResponseBody, encoding: Encoding, decoder: Decoder<K>) -> Self {
        Self {
            body,
            decoder,
            state: State::Reading(Box::new(ListStream::new(encoding))),
        }
    }

    /// Decodes the complete items that have arrived.
    fn take(&mut self, items: &mut Vec<ListItem<K>>) {
        let State::Reading(list) = &mut self.state else {
            return;
        };
        let encoding = list.encoding();
        let mut cx = self.decoder.cx.lock();
        while items.len() < BATCH_ITEMS_MAX {
            match list.next_item() {
                Ok(Some(bytes)) => items.push(
                    self.decoder
                        .object(bytes, encoding, &mut cx)
                        .map_or_else(ListItem::Invalid, ListItem::Object),
                ),
                Ok(None) => return,
                Err(error) => {
                    let error = broken(error, &self.decoder);
                    self.state = State::Ending(Err(error));
                    return;
                }
            }
        }
    }

    /// Reads more of the body.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let State::Reading(list) = &mut self.state else {
            return Poll::Ready(());
        };
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    list.push(data);
                }
            }
            Poll::Ready(Some(Err(error))) => {
                let error = ApiError::transport(&self.decoder.request, error);
                self.state = State::Ending(Err(error));
            }
            Poll::Ready(None) => {
                let State::Reading(list) = std::mem::replace(&mut self.state, State::Done) else {
                    return Poll::Ready(());
                };
                let end = list.finish().map(|facts| facts.metadata);
                self.state = State::Ending(end.map_err(|error| broken(error, &self.decoder)));
            }
        }
        Poll::Ready(())
    }
}

fn broken<K>(error: ListStreamError, decoder: &Decoder<K>) -> ApiError {
    ApiError::answer(&decoder.request, AnswerError::List(error))
}

impl<K: Object> Stream for ItemStream<K> {
    type Item = Result<Piece<K>, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let mut items = Vec::new();
        while let State::Reading(_) = this.state {
            this.take(&mut items);
            if items.len() >= BATCH_ITEMS_MAX {
                break;
            }
            if this.poll_fill(cx).is_pending() {
                if items.is_empty() {
                    return Poll::Pending;
                }
                break;
            }
        }
        if !items.is_empty() {
            return Poll::Ready(Some(Ok(Piece::Items(items))));
        }
        match std::mem::replace(&mut this.state, State::Done) {
            State::Ending(end) => Poll::Ready(Some(end.map(Piece::End))),
            _ => Poll::Ready(None),
        }
    }
}
