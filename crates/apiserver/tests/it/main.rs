//! The server as clients see it: over TLS with HTTP/1.1 and HTTP/2, and over in-memory streams.

mod away;
mod backups;
mod capabilities;
mod client;
mod clock;
mod connections;
mod corrupt;
mod credentials;
mod crowds;
mod custom;
mod cut_lists;
mod endings;
mod full_store;
mod half_open;
mod health;
mod in_flight;
mod log;
mod long_lists;
mod many_connections;
mod metrics;
mod objects;
mod recorded;
mod service_accounts;
mod subresources;
mod unread;
mod watches;
