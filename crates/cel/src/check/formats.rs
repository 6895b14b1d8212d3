//! Validation of constant formats against the types of their arguments.

use super::checker::Checked;
use crate::cel_type::Type;
use crate::library::{Piece, misfit, piece};
use crate::syntax::ast::{Ast, Expr, Id};

/// Validates a format. The error has the argument that does not fit, if it is one.
pub(super) fn validate(
    ast: &Ast,
    checked: &Checked,
    format: &str,
    arguments: &[Id],
) -> Result<(), (Option<Id>, String)> {
    let (mut rest, mut at) = (format, 0);
    while !rest.is_empty() {
        let (piece, tail) = piece(rest).map_err(|message| (None, message))?;
        if let Piece::Clause(verb, _) = piece {
            let Some(argument) = arguments.get(at) else {
                return Err((None, format!("index {at} out of range")));
            };
            check(ast, checked, verb, *argument)?;
            at += 1;
        }
        rest = tail;
    }
    if arguments.len() > at {
        let count = arguments.len();
        return Err((
            None,
            format!("too many arguments supplied to string.format (expected {at}, got {count})"),
        ));
    }
    Ok(())
}

fn check(ast: &Ast, checked: &Checked, verb: char, id: Id) -> Result<(), (Option<Id>, String)> {
    let kind = checked.types.get(id as usize).unwrap_or(&Type::Error);
    let fits = match verb {
        _ if matches!(kind, Type::Dyn) => true,
        's' => !matches!(
            kind,
            Type::Object(_) | Type::Opaque(_) | Type::Any | Type::Parameter(_) | Type::Error
        ),
        'd' | 'o' => matches!(kind, Type::Int | Type::Uint),
        'f' | 'e' => matches!(kind, Type::Double | Type::String),
        'b' => matches!(kind, Type::Int | Type::Uint | Type::Bool),
        _ => matches!(kind, Type::Int | Type::Uint | Type::String | Type::Bytes),
    };
    if !fits {
        return Err((Some(id), misfit(verb, &kind.name())));
    }
    let mut inner = Vec::new();
    if verb == 's' && matches!(ast.get(id), Expr::List(_) | Expr::Map(_)) {
        ast.get(id).children(&mut |child| inner.push(child));
    }
    inner
        .into_iter()
        .try_for_each(|it| check(ast, checked, verb, it))
}
