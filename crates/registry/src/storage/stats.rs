//! How much a resource holds.

/// How much a resource holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageStats {
    /// How many objects there are.
    pub object_count: usize,
    /// The sizes of their stored values together, in bytes.
    pub bytes: usize,
}

impl StorageStats {
    /// The average size of a stored value in bytes; 0 if there are no objects.
    pub fn average_size(&self) -> usize {
        self.bytes.checked_div(self.object_count).unwrap_or(0)
    }
}
