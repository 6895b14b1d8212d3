//! Tests of the plugins, in a registry of the built-in kinds in memory.

mod attempts;
mod configurations;
mod deletions;
mod fixture;
mod limit_ranges;
mod nodes;
mod own_plugin;
mod owners;
mod plugin_names;
mod pod_placement;
mod pod_security;
mod pods;
mod quotas;
mod recounts;
mod storage;
mod subresources;
