//! Explorations: controllers that are good, the guide's operator among them, and those that are
//! used in a way that cannot be explored; each is named, and nothing hangs.

mod bad_use;
mod first_operator;
mod good;
#[path = "../first/labeler.rs"]
mod labeler;
mod options;

// The guide's operator, as it is.
#[path = "../../../../examples/first-operator/src/kind.rs"]
mod kind;
#[path = "../../../../examples/first-operator/src/operator.rs"]
#[expect(
    clippy::disallowed_methods,
    reason = "an operator takes the date where programs take it"
)]
mod operator;
