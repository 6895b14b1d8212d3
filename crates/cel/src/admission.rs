//! The expressions of admission: webhooks' match conditions and policies.
//!
//! They have the variables of [`Uses`], and each has a value of certain types. The same rules check
//! them when they are written and compile them when they are obeyed.

mod environment;

pub use environment::{
    AUTHORIZER, NAMESPACE, OBJECT, OLD_OBJECT, PARAMS, REQUEST, REQUEST_RESOURCE, Uses, new,
    stored, typed,
};

use crate::cel_type::Type;
use crate::environment::Environment;
use crate::error::CompileError;
use crate::library::patches;
use crate::program::Program;

/// Compiles an expression whose value is of one of these types; of any type if there are none.
///
/// # Errors
/// Upstream's words for why it does not compile.
pub fn compile(environment: &Environment, text: &str, wanted: &[Type]) -> Result<Program, String> {
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

/// Returns the type of a list of JSON patch operations.
pub fn json_patch_type() -> Type {
    Type::list(message("JSONPatch"))
}

/// Returns the type of a configuration that is applied.
pub fn apply_configuration_type() -> Type {
    message("Object")
}

fn message(name: &str) -> Type {
    patches::message(name).map_or(Type::Error, Type::Object)
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
