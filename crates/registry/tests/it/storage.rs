//! The behaviour of storage, tested on every engine, with and without a watch cache.
//!
//! `storage/RUNNERS.md` maps upstream's test runners to these tests, and `storage/DIFFERENCES.md`
//! lists the differences by design between a cache and storage.

#![expect(
    clippy::result_large_err,
    reason = "checks of deletes answer with a status"
)]

mod bookmarks;
mod cache;
mod cache_counts;
mod deletes;
mod differential;
mod encryption;
mod engine;
mod etcd_row;
mod events;
mod faulty;
pub(crate) mod gate;
mod held_back;
mod indexed;
mod lists;
mod pages;
mod snapshots;
mod stack;
mod unreadable;
mod updates;
mod watch_starts;
mod watches;
mod writes;

/// Generates a test of each runner for each engine, raw and cached. Each engine is one line. etcd
/// 3.4 has no cache here, as in a server: it reports no progress.
macro_rules! matrix {
    (@current [$($runner:ident)*]) => {
        matrix!(@stack memory_raw Memory false [$($runner)*]);
        matrix!(@stack memory_cached Memory true [$($runner)*]);
        matrix!(@stack redb_raw Redb false [$($runner)*]);
        matrix!(@stack redb_cached Redb true [$($runner)*]);
        matrix!(@etcd etcd_raw Current false [$($runner)*]);
        matrix!(@etcd etcd_cached Current true [$($runner)*]);
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
    (@etcd $stack:ident $release:ident $cached:literal [$($runner:ident)*]) => {
        mod $stack {
            use crate::etcd::Release;
            use crate::storage::etcd_row::on_etcd;
            $(
                #[test]
                fn $runner() {
                    on_etcd(Release::$release, $cached, async |s| super::$runner(s).await);
                }
            )*
        }
    };
    // For engines that report progress.
    (with progress: $($runner:ident),* $(,)?) => {
        matrix!(@current [$($runner)*]);
    };
    ($($runner:ident),* $(,)?) => {
        matrix!(@current [$($runner)*]);
        matrix!(@etcd etcd_3_4_raw Packaged false [$($runner)*]);
    };
}

use matrix;
