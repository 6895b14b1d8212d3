//! Schemas and objects: behaviour, properties, growth, and beside upstream's.

mod alike;
mod definitions;
mod depth;
mod growth;
mod objects;
mod program;
mod properties;
mod random;
mod ratcheting;
mod rules;
mod rules_of_definitions;
mod settled;
mod support;
mod upstream;
mod validation;
