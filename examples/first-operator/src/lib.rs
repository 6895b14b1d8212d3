//! The operator of the guide: `docs/guide/README.md` explains it.

pub mod operator;
pub mod website;
