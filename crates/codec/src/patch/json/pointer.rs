//! `Pointer`: a JSON pointer (RFC 6901), and the operations at the place that it names.
//!
//! Unlike in the RFC, negative indexes count from the end of a list.

use super::Failure;
use super::usage::Usage;
use serde_json::Value;

/// A JSON pointer, split into the path of a container and the key in it.
pub(super) struct Pointer {
    way: Vec<String>,
    key: String,
}

impl Pointer {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let parts = text
            .strip_prefix('/')
            .ok_or("the path does not begin with a slash")?;
        let mut way: Vec<String> = parts
            .split('/')
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let key = way.pop().unwrap_or_default();
        Ok(Self { way, key })
    }

    fn container<'d>(&self, document: &'d mut Value) -> Result<&'d mut Value, Failure> {
        let mut place = document;
        for part in &self.way {
            place = match place {
                Value::Object(map) => map.get_mut(part),
                Value::Array(list) => index(part, list.len()).and_then(|i| list.get_mut(i)),
                _ => None,
            }
            .ok_or_else(|| format!("doc is missing path: {part:?}"))?;
        }
        Ok(place)
    }

    /// Returns the value; none if a member is missing.
    pub(super) fn read<'d>(&self, document: &'d mut Value) -> Result<Option<&'d Value>, Failure> {
        match self.container(document)? {
            Value::Object(map) => Ok(map.get(&self.key)),
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                Ok(list.get(index))
            }
            _ => Err("the container is a scalar".into()),
        }
    }

    pub(super) fn add(
        &self,
        document: &mut Value,
        value: Value,
        usage: &mut Usage,
    ) -> Result<(), Failure> {
        usage.put(&value, self.way.len())?;
        match self.container(document)? {
            Value::Object(map) => {
                map.insert(self.key.clone(), value);
            }
            Value::Array(list) if self.key == "-" => list.push(value),
            Value::Array(list) => {
                let index = index(&self.key, list.len() + 1).ok_or_else(|| self.bad_index())?;
                usage.move_from(index, list)?;
                list.insert(index, value);
            }
            _ => return Err("the container is a scalar".into()),
        }
        Ok(())
    }

    pub(super) fn replace(
        &self,
        document: &mut Value,
        value: Value,
        usage: &mut Usage,
    ) -> Result<(), Failure> {
        usage.put(&value, self.way.len())?;
        match self.container(document)? {
            Value::Object(map) => {
                map.insert(self.key.clone(), value);
            }
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                list[index] = value;
            }
            _ => return Err("the container is a scalar".into()),
        }
        Ok(())
    }

    pub(super) fn remove(&self, document: &mut Value, usage: &mut Usage) -> Result<Value, Failure> {
        match self.container(document)? {
            Value::Object(map) => map
                .remove(&self.key)
                .ok_or_else(|| format!("unable to remove nonexistent key: {}", self.key).into()),
            Value::Array(list) => {
                let index = index(&self.key, list.len()).ok_or_else(|| self.bad_index())?;
                usage.move_from(index, list)?;
                Ok(list.remove(index))
            }
            _ => Err("the container is a scalar".into()),
        }
    }

    fn bad_index(&self) -> Failure {
        format!("unable to access invalid index: {}", self.key).into()
    }
}

/// Parses an index below `length`; negative ones count from the end.
fn index(text: &str, length: usize) -> Option<usize> {
    let index = match text.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok().filter(|&back| back > 0)?)?,
        None => text.parse().ok()?,
    };
    (index < length).then_some(index)
}
