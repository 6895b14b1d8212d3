//! Derived kinds as their users see them: JSON, definitions, and conversion between versions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conversion;
mod definitions;
mod objects;
mod resources;
