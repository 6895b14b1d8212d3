//! The vocabulary of the Kubernetes API: metadata, selectors, quantities, statuses and the wire trait
