//! Field sets and typed values beside upstream's.

mod random;
mod schemas;
mod upstream;
