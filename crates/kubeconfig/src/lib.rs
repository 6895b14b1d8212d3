//! Finds, merges and parses Kubernetes client configuration
