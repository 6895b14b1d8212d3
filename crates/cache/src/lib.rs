//! Stores, indexers, listers and delta queues for Kubernetes objects
