//! Field sets and typed values beside upstream's.

mod built_in_schemas;
mod random;
mod same_types;
mod schemas;
mod upstream;
mod upstream_schemas;
