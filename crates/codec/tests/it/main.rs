//! Streams, patches and YAML from outside: every split, garbage, and recorded truth.

mod list_stream;
mod watch_stream;
mod yaml;
