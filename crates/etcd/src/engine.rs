//! `Engine`: what the server needs of a store.

use kubist_storage::{Kv, KvLeases, KvTransact};

/// A store in this process. Implemented for every type with the three traits.
pub trait Engine: Kv + KvTransact + KvLeases {}

impl<E: Kv + KvTransact + KvLeases + ?Sized> Engine for E {}
