//! What each kind does differently: one module a kind, found by group and plural.

mod plain;

use crate::Strategy;
use std::sync::Arc;

/// The strategy of a resource, by the group and plural that it is stored under.
pub(crate) fn strategy(group: &str, plural: &str) -> Arc<dyn Strategy> {
    plain::strategy(group, plural)
}
