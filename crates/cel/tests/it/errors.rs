//! The words for what is wrong with an expression.

use kubist_cel::{Environment, Type, Version};

fn error(expression: &str) -> String {
    let environment = Environment::new(Version::minor(36))
        .extend([("i", Type::Int), ("m", Type::map(Type::String, Type::Int))]);
    environment
        .compile(expression)
        .expect_err("it does not compile")
        .to_string()
}

#[test]
fn an_error_shows_its_line_with_a_mark() {
    assert_eq!(
        error("i > 0 &&\n\ti.spec == 1"),
        "ERROR: <input>:2:3: type 'int' does not support field selection\n |  i.spec == 1\n | ..^"
    );
    assert_eq!(
        error("'é' + nope"),
        "ERROR: <input>:1:7: undeclared reference to 'nope' (in container '')\n | 'é' + nope\n | .．....^"
    );
}

#[test]
fn all_errors_of_types_are_reported_in_order() {
    let text = error("nope + i.a == other");
    let first: Vec<&str> = text.lines().filter(|it| it.starts_with("ERROR")).collect();
    assert_eq!(
        first,
        [
            "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')",
            "ERROR: <input>:1:9: type 'int' does not support field selection",
            "ERROR: <input>:1:15: undeclared reference to 'other' (in container '')",
        ]
    );
}

fn first(expression: &str) -> String {
    let text = error(expression);
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("ERROR: <input>:")
        .unwrap_or(line)
        .to_owned()
}

#[test]
fn overloads_that_do_not_fit_are_named_with_their_types() {
    assert_eq!(
        first("i + 'a'"),
        "1:3: found no matching overload for '_+_' applied to '(int, string)'"
    );
    assert_eq!(
        first("m.startsWith('a')"),
        "1:13: found no matching overload for 'startsWith' applied to 'map(string, int).(string)'"
    );
    assert_eq!(
        first("i.all(e, true)"),
        "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"
    );
}

#[test]
fn syntax_errors_have_the_words_of_the_grammar() {
    let start = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    assert_eq!(
        first("i +"),
        format!("1:4: Syntax error: mismatched input '<EOF>' expecting {start}")
    );
    assert_eq!(
        first("&& i"),
        format!("1:1: Syntax error: extraneous input '&&' expecting {start}")
    );
    assert_eq!(first("(i"), "1:3: Syntax error: missing ')' at '<EOF>'");
    assert_eq!(
        first("i i"),
        "1:3: Syntax error: extraneous input 'i' expecting <EOF>"
    );
    assert_eq!(
        first("[1, 2"),
        "1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}"
    );
    assert_eq!(first("{1 2}"), "1:4: Syntax error: missing ':' at '2'");
    assert_eq!(
        first("i."),
        "1:3: Syntax error: no viable alternative at input '.'"
    );
    assert_eq!(
        first("i @ i"),
        "1:3: Syntax error: token recognition error at: '@'"
    );
    assert_eq!(
        first("i == 'a"),
        "1:6: Syntax error: token recognition error at: ''a'"
    );
    assert_eq!(
        first("-!i"),
        "1:2: Syntax error: no viable alternative at input '-!'"
    );
    assert_eq!(
        first("i.true"),
        "1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"
    );
    assert_eq!(first("if + 1"), "1:1: reserved identifier: if");
}

#[test]
fn macros_check_their_arguments() {
    assert_eq!(first("has(i)"), "1:5: invalid argument to has() macro");
    assert_eq!(
        first("[1].all(1, true)"),
        "1:9: argument must be a simple name"
    );
    assert_eq!(
        first("[1].map(a.b, true)"),
        "1:10: argument is not an identifier"
    );
    assert_eq!(
        first("[1].all(a, a, true)"),
        "1:12: duplicate variable name: a"
    );
}

#[test]
fn constants_are_validated() {
    assert_eq!(
        first("duration('1x') > duration('1s')"),
        "1:10: invalid duration argument"
    );
    assert_eq!(
        first("[1, 'a'] == []"),
        "1:5: expected type 'int' but found 'string'"
    );
    assert_eq!(
        first("'%d'.format(['a'])"),
        "1:14: error during formatting: decimal clause can only be used on integers, was given string"
    );
}

#[test]
fn a_constant_without_a_value_is_an_error_of_its_own() {
    let environment = Environment::new(Version::minor(36));
    let error = environment
        .compile("int('a') == 1")
        .expect_err("it does not compile");
    assert!(error.is_instantiation());
    assert_eq!(
        error.to_string(),
        "type conversion error from 'string' to 'int'"
    );
}

#[test]
fn expressions_that_are_too_long_are_refused() {
    let text = format!("'{}'", "a".repeat(100_000));
    assert_eq!(
        error(&text),
        "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002, limit 100000"
    );
}
