//! The server as clients see it: over TLS with HTTP/1.1 and HTTP/2, and over in-memory streams.

mod capabilities;
mod client;
mod clock;
mod connections;
mod corrupt;
mod credentials;
mod custom;
mod cut_lists;
mod full_store;
mod half_open;
mod health;
mod many_connections;
mod objects;
mod service_accounts;
mod subresources;
mod unread;
mod watches;
