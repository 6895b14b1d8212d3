//! A revisioned key-value store: the seam below the API server, and its in-memory engine
