//! Shared informers and their factory
