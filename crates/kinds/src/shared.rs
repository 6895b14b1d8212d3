//! Checks and defaults that many kinds share.

pub(crate) mod address_warnings;
pub(crate) mod addresses;
pub(crate) mod annotations;
pub(crate) mod conditions;
pub(crate) mod downward_api;
pub(crate) mod fill;
pub(crate) mod go_struct;
pub(crate) mod image;
pub(crate) mod metadata_checks;
pub(crate) mod node_label_warnings;
pub(crate) mod plain;
pub(crate) mod resources;
pub(crate) mod rules;
pub(crate) mod signer;
pub(crate) mod text_diff;
