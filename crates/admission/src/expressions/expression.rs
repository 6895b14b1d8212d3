//! `Expression`: the text of an expression, and its program or why it has none.

use kubist_cel::{CompileError, Environment, Program, Type};

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
            program: compiled(environment, text, wanted),
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

fn compiled(environment: &Environment, text: &str, wanted: &[Type]) -> Result<Program, String> {
    let program = environment.compile(text).map_err(|it| issues(&it))?;
    let found = program.output_type();
    if wanted.is_empty() || wanted.contains(found) {
        return Ok(program);
    }
    let found = words(found);
    Err(match wanted {
        [only] => format!("must evaluate to {} but got {found}", words(only)),
        several => {
            let several: Vec<String> = several.iter().map(words).collect();
            let several = several.join(" ");
            format!("must evaluate to one of [{several}] but got {found}")
        }
    })
}

fn issues(error: &CompileError) -> String {
    let what = if error.is_instantiation() {
        "program instantiation failed"
    } else {
        "compilation failed"
    };
    format!("{what}: {error}")
}

/// Returns a type in the words of upstream's environment, which differ from the checker's.
fn words(kind: &Type) -> String {
    match kind {
        Type::Null | Type::Timestamp | Type::Duration => kind.name().to_string(),
        other => other.to_string(),
    }
}
