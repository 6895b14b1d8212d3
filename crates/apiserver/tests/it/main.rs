//! The server as clients see it: over TLS with HTTP/1.1 and HTTP/2, and over in-memory streams.

mod backups;
mod capabilities;
mod client;
mod connections;
mod credentials;
mod crowds;
mod custom;
mod endings;
mod health;
mod log;
mod metrics;
mod objects;
mod service_accounts;
mod subresources;
mod watches;
