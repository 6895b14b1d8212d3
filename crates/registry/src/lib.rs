//! The storage stack of the API server
