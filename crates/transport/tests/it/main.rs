//! Transports against hyper servers, in memory on a paused clock where possible.

mod auth;
mod http1;
mod http2;
mod proxy;
mod server;
mod tls;
mod upgrade;
