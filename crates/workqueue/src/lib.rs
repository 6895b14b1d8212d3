//! A de-duplicating, delaying, rate-limited work queue
