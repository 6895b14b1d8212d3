//! `script`: a sequence as a shell script, to be run by hand on either server.
//!
//! It needs `curl` and `jq`, and two variables: `S` is the server's address, `T` a token.

use crate::memory::encoded_around_references;
use crate::step::{Body, Edit, Sequence, Step};
use serde_json::{Value, json};
use std::fmt;

/// A sequence, shown as a script.
#[derive(Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a Sequence);

const HEAD: &str = r#"# S=https://127.0.0.1:6443 T=token
NS=fid-by-hand; TAG=tag-by-hand; D=$(mktemp -d)
c() { f=$1; shift; curl -sSki --path-as-is -H "Authorization: Bearer $T" "$@" | tee "$D/$f.txt"; echo
  tr -d '\r' < "$D/$f.txt" | sed '1,/^$/d' > "$D/$f"; }
r() { jq -r ".metadata.$2 // \"missing\"" "$D/$1"; }
c ns -d '{"metadata":{"name":"'"$NS"'"}}' -H 'Content-Type: application/json' "$S/api/v1/namespaces"
"#;

impl fmt::Display for Script<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for step in &self.0.steps {
            writeln!(f, "{}", line(step))?;
        }
        Ok(())
    }
}

fn line(step: &Step) -> String {
    let mut words = vec![format!("c {}", step.id)];
    match step.method {
        "GET" => {}
        "HEAD" => words.push("-I".to_owned()),
        method => words.push(format!("-X {method}")),
    }
    if step.is_watch {
        words.push("-N -m 3".to_owned());
    }
    let has_accept = step.headers.iter().any(|(name, _)| *name == "accept");
    if !has_accept {
        words.push("-H 'accept: application/json'".to_owned());
    }
    for (name, value) in &step.headers {
        // Without a value curl would omit the header.
        let end = if value.is_empty() { ";" } else { ": " };
        words.push(format!("-H {}", quoted(&format!("{name}{end}{value}"))));
    }
    match &step.body {
        Body::None => {}
        Body::Json(value) => words.push(format!("-d {}", quoted(&value.to_string()))),
        Body::Text(text) => words.push(format!("--data-binary {}", quoted(text))),
        Body::Answer { step, edits } => {
            let program = jq(edits);
            words.push(format!(
                "-d \"$(jq -c {} \"$D/{step}\")\"",
                quoted(&program)
            ));
        }
    }
    let mut target = step.path.clone();
    let mut separator = if target.contains('?') { '&' } else { '?' };
    for (name, value) in &step.query {
        target.push(separator);
        separator = '&';
        target.push_str(&encoded_around_references(name));
        target.push('=');
        target.push_str(&encoded_around_references(value));
    }
    words.push(format!("\"$S\"{}", quoted(&target)));
    words.join(" ")
}

/// Returns a shell word with references replaced by variables.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else {
            break;
        };
        let word = &rest[start + 2..start + length];
        let value = match (word, word.split_once('.')) {
            ("ns", _) => Some("$NS".to_owned()),
            ("tag", _) => Some("$TAG".to_owned()),
            (_, Some((step, field))) if step.parse::<usize>().is_ok() => {
                let field = if field == "rv" {
                    "resourceVersion"
                } else {
                    field
                };
                Some(format!("$(r {step} {field})"))
            }
            _ => None,
        };
        quoted.push_str(&escaped(&rest[..start]));
        if let Some(value) = value {
            quoted.extend(["'\"", value.as_str(), "\"'"]);
            rest = &rest[start + length + 2..];
        } else {
            quoted.push_str("{{");
            rest = &rest[start + 2..];
        }
    }
    quoted.push_str(&escaped(rest));
    quoted.push('\'');
    quoted
}

fn escaped(text: &str) -> String {
    text.replace('\'', "'\\''")
}

/// Returns a jq program for these edits.
fn jq(edits: &[Edit]) -> String {
    let path = |pointer: &str| {
        let names = pointer
            .split('/')
            .skip(1)
            .map(|name| match name.parse::<usize>() {
                Ok(number) => json!(number),
                Err(_) => json!(name.replace("~1", "/").replace("~0", "~")),
            });
        Value::Array(names.collect()).to_string()
    };
    let steps = edits.iter().map(|edit| match edit {
        Edit::Set(pointer, value) => match pointer.strip_suffix("/-") {
            Some(list) => {
                let list = path(list);
                format!("setpath({list}; getpath({list}) + [{value}])")
            }
            None => format!("setpath({}; {value})", path(pointer)),
        },
        Edit::Remove(pointer) => format!("delpaths([{}])", path(pointer)),
    });
    std::iter::once(".".to_owned())
        .chain(steps)
        .collect::<Vec<_>>()
        .join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::Area;

    #[test]
    fn a_step_is_one_command_whose_references_are_read_from_earlier_answers() {
        let mut step = Step::new(4, Area::Objects, "PUT", "/api/{{ns}}/{{3.name}}")
            .query("labelSelector", "a=b");
        step.body = Body::Answer {
            step: 3,
            edits: vec![
                Edit::Set("/metadata/labels/a".to_owned(), json!("it's {{3.rv}}")),
                Edit::Remove("/spec/0".to_owned()),
            ],
        };
        let shown = line(&step);
        assert!(shown.starts_with("c 4 -X PUT "), "{shown}");
        assert!(
            shown.contains(r#""$S"'/api/'"$NS"'/'"$(r 3 name)"'?labelSelector=a%3Db'"#),
            "{shown}"
        );
        assert!(
            shown.contains(
                r#"setpath(["metadata","labels","a"]; "it'\''s '"$(r 3 resourceVersion)"'")"#
            ),
            "{shown}"
        );
        assert!(shown.contains(r#"delpaths([["spec",0]])"#), "{shown}");
    }

    #[test]
    fn a_script_has_a_line_for_each_step_after_its_head() {
        let steps = (0..3)
            .map(|id| Step::new(id, Area::Paths, "GET", "/api"))
            .collect();
        let text = Script(&Sequence { seed: 1, steps }).to_string();
        assert_eq!(text.lines().count(), HEAD.lines().count() + 3);
    }
}
