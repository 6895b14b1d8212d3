//! The server as clients see it: over TLS with HTTP/1.1 and HTTP/2, and over in-memory streams.

mod capabilities;
mod client;
mod connections;
mod credentials;
mod custom;
mod health;
mod objects;
mod recorded;
mod service_accounts;
mod subresources;
mod watches;
