//! `Expression`: the text of an expression, and its program or why it has none.

use kubist_cel::{Environment, Program, Type, admission};

/// An expression. One that does not compile fails when it is evaluated.
#[derive(Debug)]
pub(crate) struct Expression {
    text: String,
    program: Result<Program, String>,
}

impl Expression {
    /// Compiles an expression whose value is of one of these types; of any type if there are none.
    pub(crate) fn compile(environment: &Environment, text: &str, wanted: &[Type]) -> Self {
        Self {
            text: text.to_owned(),
            program: admission::compile(environment, text, wanted),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the program.
    ///
    /// # Errors
    /// Upstream's words for why it does not compile.
    pub(crate) fn program(&self) -> Result<&Program, &str> {
        self.program.as_ref().map_err(String::as_str)
    }

    /// Returns the program, as [`program`](Self::program).
    pub(crate) fn into_program(self) -> Result<Program, String> {
        self.program
    }
}
