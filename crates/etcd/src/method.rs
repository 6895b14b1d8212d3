//! Adapters from functions to the services of the gRPC library.

use std::future::{Ready, ready};
use tonic::server::{StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};

/// A method with one request and one response.
pub(crate) struct Unary<F>(pub(crate) Option<F>);

impl<F, Fut, Q, A> UnaryService<Q> for Unary<F>
where
    F: FnOnce(Q) -> Fut,
    Fut: Future<Output = Result<A, Status>> + Send + 'static,
    A: Send + 'static,
{
    type Response = A;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response<A>, Status>> + Send>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        match self.0.take() {
            Some(method) => {
                let response = method(request.into_inner());
                Box::pin(async move { response.await.map(Response::new) })
            }
            None => Box::pin(ready(Err(Status::internal("a call is made once")))),
        }
    }
}

/// A method with a stream in both directions.
pub(crate) struct Streams<F>(pub(crate) Option<F>);

impl<F, S, Q, A> StreamingService<Q> for Streams<F>
where
    F: FnOnce(Streaming<Q>) -> S,
    S: futures_util::Stream<Item = Result<A, Status>>,
{
    type Response = A;
    type ResponseStream = S;
    type Future = Ready<Result<Response<S>, Status>>;

    fn call(&mut self, request: Request<Streaming<Q>>) -> Self::Future {
        ready(match self.0.take() {
            Some(method) => Ok(Response::new(method(request.into_inner()))),
            None => Err(Status::internal("a call is made once")),
        })
    }
}
