//! `StorageStats`: the number and size of a resource's objects.

/// The number and size of a resource's objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageStats {
    /// The number of objects.
    pub object_count: usize,
    /// The total size of their stored values, in bytes.
    pub bytes: usize,
}

impl StorageStats {
    /// Returns the average size of a stored value in bytes; 0 if there are no objects.
    pub fn average_size(&self) -> usize {
        self.bytes.checked_div(self.object_count).unwrap_or(0)
    }
}
