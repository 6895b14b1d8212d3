//! Whether the text of an expression selects a certain field of a variable.

use crate::syntax::ast::{Ast, Expr, Id};
use crate::syntax::parser::{self, Syntax};
use crate::value::Value;

/// Reports whether an expression selects a field of a variable anywhere, as `variable.field`,
/// `variable.?field` or `has(variable.field)`. Text that is no expression selects nothing.
///
/// ```
/// assert!(kubist_cel::selects("[1].all(x, claims.?email.orValue('') == '')", "claims", "email"));
/// assert!(!kubist_cel::selects("claims.name.email == 'claims.email'", "claims", "email"));
/// ```
pub fn selects(expression: &str, variable: &str, field: &str) -> bool {
    let syntax = Syntax {
        has_optionals: true,
        has_two_variables: true,
        has_sort_by: true,
    };
    parser::parse(expression, syntax).is_ok_and(|ast| found(&ast, ast.root, variable, field))
}

fn found(ast: &Ast, id: Id, variable: &str, field: &str) -> bool {
    let is_variable = |id: Id| matches!(ast.get(id), Expr::Ident(name) if **name == *variable);
    let expr = ast.get(id);
    let is_it = match expr {
        Expr::Select(it) => *it.field == *field && is_variable(it.operand),
        Expr::Call(it) if &*it.function == "_?._" => match it.arguments[..] {
            [operand, name] => {
                let name = match ast.get(name) {
                    Expr::Literal(name) => Value::as_str(name),
                    _ => None,
                };
                name == Some(field) && is_variable(operand)
            }
            _ => false,
        },
        _ => false,
    };
    let mut any = is_it;
    // The parser limits the depth.
    expr.children(&mut |child| any = any || found(ast, child, variable, field));
    any
}
