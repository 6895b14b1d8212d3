//! Kubeconfig files as people have them, and every way in which they can be wrong.

#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod files;
mod new_kubeconfig;
mod select;
