//! The behaviours of storage, each on every engine, with and without a watch cache.
//!
//! `storage/RUNNERS.md` says which of upstream's runners is which test, and
//! `storage/DIFFERENCES.md` where a cache answers otherwise than storage by design.

#![expect(
    clippy::result_large_err,
    reason = "checks of deletes answer with a status"
)]

mod bookmarks;
mod cache;
mod deletes;
mod differential;
mod encryption;
mod etcd_row;
mod events;
mod faulty;
mod gate;
mod held_back;
mod lists;
mod pages;
mod snapshots;
mod stack;
mod unreadable;
mod updates;
mod watch_starts;
mod watches;
mod writes;

/// Makes one test of each runner for each engine, raw and cached. An engine is one line.
macro_rules! matrix {
    ($($runner:ident),* $(,)?) => {
        matrix!(@rows [$($runner)*]);
    };
    (@rows $runners:tt) => {
        matrix!(@stack memory_raw Memory false $runners);
        matrix!(@stack memory_cached Memory true $runners);
        matrix!(@stack redb_raw Redb false $runners);
        matrix!(@stack redb_cached Redb true $runners);
        matrix!(@etcd etcd_raw false $runners);
        matrix!(@etcd etcd_cached true $runners);
    };
    (@stack $stack:ident $engine:ident $cached:literal [$($runner:ident)*]) => {
        mod $stack {
            use crate::storage::stack::{Engine, Stack};
            $(
                #[tokio::test(start_paused = true)]
                async fn $runner() {
                    super::$runner(&Stack::new(Engine::$engine, $cached).await).await;
                }
            )*
        }
    };
    (@etcd $stack:ident $cached:literal [$($runner:ident)*]) => {
        mod $stack {
            $(
                #[test]
                fn $runner() {
                    crate::storage::etcd_row::on_etcd($cached, async |s| super::$runner(s).await);
                }
            )*
        }
    };
}

use matrix;
