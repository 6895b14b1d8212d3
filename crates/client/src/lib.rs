//! The Kubernetes API client: verbs, subresources, discovery
