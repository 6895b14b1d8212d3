//! Every recovery as a script: the requests of the reflector and their times, the server's
//! responses, and the outcome.
//!
//! A line with `->` is an exchange. On the left is the expected request. It must follow at once
//! after the last action of the server or, with `after`, that many seconds later. `list`, `stream`
//! (a streaming list) and `watch` state the expected version (`rv=`), and a list also its page
//! (`limit=`, `continue=`). On the right is the response, in order:
//!
//! - `a@1` a listed object, `+a@1` added, `~a@2` modified, `-a@3` deleted, `?x` an undecodable
//!   object, `mark@5` a bookmark, `end@5` the bookmark that ends a streaming list;
//! - `30s` a pause of the server, `close` a normal end, `fail expired` an error in mid-stream;
//! - `rv=9` the end of a list, `more=t` that there are more pages;
//! - instead of all that, `refuse expired` or, for no response at all, `never`.
//!
//! A response that is not closed stays open. The other lines state the expected outcome: `store`
//! the objects and the version, `events` the events for handlers, `reports`, `stats`. `config` sets
//! the configuration. Each script runs with several seeds, with single events and with batches, and
//! with steps that are dropped after each poll.

mod cancel;
mod list;
mod scene;
mod server;
mod service;
mod streaming;
mod watch;

/// Turns each name and script into a test.
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
