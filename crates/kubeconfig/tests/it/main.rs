//! Realistic kubeconfig files, and every error in them.

#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod files;
mod new_kubeconfig;
mod select;
