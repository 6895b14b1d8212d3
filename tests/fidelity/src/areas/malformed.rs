//! Bodies that are not objects, or not those of the path.

use crate::mutation;
use crate::plan::{Made, Plan};
use crate::step::{Body, Edit, Step};
use serde_json::{Value, json};

pub(super) fn advance(plan: &mut Plan<'_>) {
    let made = plan.some();
    let is_create = plan.random.percent(50);
    let step = if is_create {
        plan.step("POST", made.kind.collection())
    } else {
        plan.step("PUT", made.path.as_str())
    };
    let step = if plan.random.percent(60) {
        let mut object = made.object.clone();
        if is_create {
            let name = plan.next_name(made.kind);
            Edit::Set("/metadata/name".to_owned(), json!(name)).apply(&mut object);
        }
        let text = broken(plan, &object, made.kind.is_namespaced);
        step.body("application/json", Body::Text(text))
    } else {
        misplaced(plan, step, &made)
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}

/// Returns a name that no other sequence uses for the same kind.
fn own_name(word: &str, is_namespaced: bool) -> String {
    if is_namespaced {
        word.to_owned()
    } else {
        format!("{{{{tag}}}}-{word}")
    }
}

/// Returns a text that is nearly that of the object.
fn broken(plan: &mut Plan<'_>, object: &Value, is_namespaced: bool) -> String {
    let text = object.to_string();
    let head = text.strip_suffix('}').unwrap_or(&text);
    match plan.random.below(24) {
        0 => String::new(),
        1 => " \n".to_owned(),
        2 => "null".to_owned(),
        3 => "[]".to_owned(),
        4 => format!("[{text}]"),
        5 => "7".to_owned(),
        6 => "\"text\"".to_owned(),
        7 => "{}".to_owned(),
        8 => {
            let mut cut = plan.random.below(text.len());
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            text[..cut].to_owned()
        }
        9 => format!("{text} trailing"),
        10 => format!("{text}{text}"),
        11 => format!("{text},"),
        12 => {
            let name = own_name("second", is_namespaced);
            format!("{head},\"metadata\":{{\"name\":\"{name}\"}}}}")
        }
        13 => format!("{head},\"kind\":\"Second\"}}"),
        14 => format!("{head},\"unknownField\":{{\"a\":1e400}}}}"),
        15 => format!("{head},\"spec\":{{\"replicas\":12345678901234567890}}}}"),
        16 => format!("{head},\"unknownField\":01}}"),
        17 => format!("{head},\"unknownField\":\"\\ud800\"}}"),
        18 => format!("{head},\"unknownField\":\"\\x\"}}"),
        19 => format!("{head},}}"),
        20 => format!("{head},'unknownField':1}}"),
        21 => format!(
            "{head},\"metadata\":{}}}",
            mutation::wrong_type(&mut plan.random)
        ),
        22 => format!("{}{}", "[".repeat(200), "]".repeat(200)),
        _ => text.replacen(':', ";", 1),
    }
}

/// Returns a whole object that belongs elsewhere.
fn misplaced(plan: &mut Plan<'_>, step: Step, made: &Made<'_>) -> Step {
    let mut object = made.object.clone();
    let edit = match plan.random.below(16) {
        0 => Edit::Remove("/kind".to_owned()),
        1 => Edit::Remove("/apiVersion".to_owned()),
        2 => Edit::Set("/kind".to_owned(), json!("Unknown")),
        3 => Edit::Set("/kind".to_owned(), json!("ConfigMapList")),
        4 => Edit::Set("/kind".to_owned(), json!("")),
        5 => Edit::Set("/kind".to_owned(), json!(7)),
        6 => Edit::Set("/apiVersion".to_owned(), json!("v2")),
        7 => Edit::Set("/apiVersion".to_owned(), json!("apps/v1beta9")),
        8 => Edit::Set("/apiVersion".to_owned(), json!("a/b/c")),
        9 => Edit::Set("/apiVersion".to_owned(), json!("")),
        10 => Edit::Set("/apiVersion".to_owned(), json!({"a": 1})),
        11 => {
            let name = own_name("another", made.kind.is_namespaced);
            Edit::Set("/metadata/name".to_owned(), json!(name))
        }
        12 => Edit::Set("/metadata/namespace".to_owned(), json!("another")),
        13 => Edit::Remove("/metadata/name".to_owned()),
        14 => Edit::Remove("/metadata".to_owned()),
        _ => {
            let other = plan.catalogue.any(&mut plan.random);
            object = plan.object(other);
            Edit::Set("/metadata/labels".to_owned(), json!({"a": "b"}))
        }
    };
    edit.apply(&mut object);
    step.json(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_is_in_no_namespace_are_those_of_the_run() {
        assert_eq!(own_name("another", true), "another");
        assert_eq!(own_name("another", false), "{{tag}}-another");
    }
}
