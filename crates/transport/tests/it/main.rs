//! Transports against hyper servers, in memory on a paused clock where possible.

#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod auth;
mod http1;
mod http2;
mod proxy;
mod responder;
mod server;
mod service;
mod tls;
mod upgrade;
