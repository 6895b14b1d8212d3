//! Constants: lists, maps and conversions of them are evaluated once, and membership in a list of
//! them becomes a look-up.

use super::{MapEntry, Node};
use crate::function::Function;
use crate::value::{Key, List, Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The functions that are evaluated when their argument is a constant.
const CONVERSIONS: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Returns a list of constants as a constant.
pub(crate) fn list(elements: Vec<(Node, bool)>) -> Node {
    let is_constant = |(node, _): &(Node, bool)| matches!(node, Node::Constant(_));
    if !elements.iter().all(is_constant) || elements.iter().any(|it| it.1) {
        return Node::List(elements.into());
    }
    let values = elements.into_iter().map(|(node, _)| match node {
        Node::Constant(value) => value,
        _ => Value::Null,
    });
    Node::Constant(Value::List(List::from(values.collect::<Vec<_>>())))
}

/// Returns a map of constants as a constant.
pub(crate) fn map(entries: Vec<MapEntry>) -> Node {
    let mut constant = BTreeMap::new();
    for entry in &entries {
        let (Node::Constant(key), Node::Constant(value), false) =
            (&entry.key, &entry.value, entry.is_optional)
        else {
            return Node::Map(entries.into());
        };
        let Some(key) = Key::new(key) else {
            return Node::Map(entries.into());
        };
        constant.insert(key, value.clone());
    }
    Node::Constant(Value::Map(Map::from(constant)))
}

/// Evaluates a conversion of a constant. Fails if the conversion does.
pub(crate) fn conversion(
    function: &Function,
    argument: &Value<'static>,
) -> Option<Result<Node, String>> {
    if !CONVERSIONS.contains(&function.name) {
        return None;
    }
    let mut arguments = [argument.clone()];
    let mut overloads = function.overloads.iter();
    let overload = overloads.find(|it| argument.fits(&it.arguments[0]));
    let Some(implementation) = function.singleton.or_else(|| overload?.implementation) else {
        let kind = argument.type_name();
        return Some(Err(format!("no such overload: {}({kind})", function.name)));
    };
    Some(
        implementation(&mut arguments)
            .map(Node::Constant)
            .map_err(|it| it.to_string()),
    )
}

/// Returns the look-up of a value in constants; none if one of them has no simple type.
pub(crate) fn membership(value: Node, list: &List<'static>) -> Result<Node, Node> {
    if list.is_empty() {
        return Ok(Node::Constant(Value::Bool(false)));
    }
    let mut keys = BTreeSet::new();
    for element in list.iter() {
        let key = match element {
            Ok(it) if !matches!(it, Value::Null) => Key::new(&it),
            _ => None,
        };
        let Some(key) = key else { return Err(value) };
        insert(&mut keys, key);
    }
    Ok(Node::Member(Box::new((value, keys))))
}

/// Inserts a key, and the same number as keys of other types.
#[expect(
    clippy::cast_precision_loss,
    reason = "upstream's conversion to double loses precision as well"
)]
fn insert(keys: &mut BTreeSet<Key<'static>>, key: Key<'static>) {
    match &key {
        Key::Int(it) => {
            keys.insert(Key::Double(*it as f64));
            keys.extend(u64::try_from(*it).ok().map(Key::Uint));
        }
        Key::Uint(it) => {
            keys.insert(Key::Double(*it as f64));
            keys.extend(i64::try_from(*it).ok().map(Key::Int));
        }
        Key::Double(it) if it.is_nan() => return,
        Key::Double(_) => keys.extend(key.alternatives().into_iter().flatten()),
        _ => {}
    }
    keys.insert(match key {
        Key::Double(0.0) => Key::Double(0.0),
        other => other,
    });
}
