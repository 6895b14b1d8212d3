//! Field sets, typed values, schemas and sequences of writes beside upstream's.

mod built_in_schemas;
mod extracts;
mod growth;
mod program;
mod random;
mod same_types;
mod schemas;
mod sequences;
mod upstream;
mod upstream_schemas;
