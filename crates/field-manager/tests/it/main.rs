//! Field sets, typed values and sequences of writes beside upstream's.

mod program;
mod random;
mod schemas;
mod sequences;
mod upstream;
