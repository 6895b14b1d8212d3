//! The built-in Kubernetes API types, generated
