//! Kubernetes client and API machinery for Rust: the facade.
