//! Webhooks without sockets, over HTTPS, and with their certificates.

mod admission;
mod conversion;
#[cfg(feature = "server")]
mod https;
mod limits;
mod review;
