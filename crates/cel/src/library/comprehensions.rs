//! The functions of macros with two variables.

use super::Library;
use crate::error::EvalError;
use crate::function::Function;
use crate::value::Value;

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let insert = Function::new("cel.@mapInsert")
        .overload(
            "@mapInsert_map_key_value",
            "map(K, V), K, V -> map(K, V)",
            |arguments| {
                let [Value::Map(map), key, value] = arguments else {
                    return Err(EvalError::no_such_overload());
                };
                let mut map = std::mem::replace(
                    map,
                    crate::value::Map::from(std::collections::BTreeMap::new()),
                );
                map.insert(key, std::mem::take(value))?;
                Ok(Value::Map(map))
            },
        )
        .overload(
            "@mapInsert_map_map",
            "map(K, V), map(K, V) -> map(K, V)",
            |arguments| {
                let [Value::Map(map), Value::Map(added)] = arguments else {
                    return Err(EvalError::no_such_overload());
                };
                let mut map = std::mem::replace(
                    map,
                    crate::value::Map::from(std::collections::BTreeMap::new()),
                );
                for key in added.keys() {
                    let value = added.find(&key)?.unwrap_or_default();
                    map.insert(&key, value)?;
                }
                Ok(Value::Map(map))
            },
        );
    Library {
        functions: vec![insert],
        types: Vec::new(),
    }
}
