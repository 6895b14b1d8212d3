//! Tests of the plugins, in a registry of the built-in kinds in memory.
