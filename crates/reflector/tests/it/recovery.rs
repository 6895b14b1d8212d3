//! Every recovery as a script: what the reflector must ask for and when, what the server answers,
//! and what is to come of it.
//!
//! A line with `->` is an exchange. Before the arrow stands the request that must come next; it
//! must come at once after the last thing that the server did, or, with `after`, so many seconds
//! later. `list`, `stream` (a streaming list) and `watch` name the version they must name (`rv=`),
//! a list also its page (`limit=`, `continue=`). After the arrow stands the answer, in order:
//!
//! - `a@1` a listed object, `+a@1` added, `~a@2` modified, `-a@3` deleted, `?x` something that
//!   cannot be read, `mark@5` a bookmark, `end@5` the bookmark that ends a streaming list;
//! - `30s` a pause of the server, `close` a clean end, `fail expired` an error in mid-stream;
//! - `rv=9` the end of a list, `more=t` that there are more pages;
//! - instead of all that, `refuse expired` or, for no answer at all, `never`.
//!
//! What is not closed stays open. The other lines say what must hold at the end: `store` the
//! objects and the version, `told` what handlers would hear, `reports`, `stats`. `config` sets the
//! scene. Each script runs with several seeds, with events one by one and in batches, and with
//! steps that are dropped after each poll.

mod cancel;
mod list;
mod scene;
mod server;
mod service;
mod streaming;
mod watch;

/// Each name is a test, each text its script.
macro_rules! recoveries {
    ($($name:ident: $script:literal)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $name() {
                super::scene::play($script).await;
            }
        )*
    };
}
use recoveries;
