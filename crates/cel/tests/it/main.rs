//! Behaviour of `kubist-cel`, and its comparison with Kubernetes' own CEL.

mod encoding;
mod program;
mod upstream;
mod upstream_libraries;
