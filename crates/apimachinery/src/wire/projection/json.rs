//! Decoding of projections from JSON.

mod take;

use self::take::{Take, append};
use super::{ProjectionFields, ProjectionPlan, Step};
use crate::wire::json::{json_error, mismatch};
use crate::wire::{DecodeContext, Segment, WireError, WireErrorKind};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Fills a projection from the JSON text of a node.
pub(in crate::wire) fn project(
    fields: &mut dyn ProjectionFields,
    plan: &ProjectionPlan,
    node: usize,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    // The whole text must be UTF-8, including skipped parts, as in every other decode.
    let text = std::str::from_utf8(bytes).map_err(|_| cx.fail(WireErrorKind::NotUtf8))?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let walk = Walk {
        fields,
        plan,
        cx: &mut *cx,
    };
    let result = In {
        walk,
        at: At::Node(node),
    }
    .deserialize(&mut deserializer)
    .and_then(|()| deserializer.end());
    result.map_err(|error| json_error(cx, &error))
}

/// The state shared by all steps.
struct Walk<'a> {
    fields: &'a mut dyn ProjectionFields,
    plan: &'a ProjectionPlan,
    cx: &'a mut DecodeContext,
}

impl Walk<'_> {
    fn again(&mut self) -> Walk<'_> {
        Walk {
            fields: &mut *self.fields,
            plan: self.plan,
            cx: &mut *self.cx,
        }
    }
}

/// The role of the current value in the plan.
#[derive(Clone, Copy)]
enum At {
    /// A message.
    Node(usize),
    /// A list of messages.
    Each(usize),
    /// A map with some selected keys.
    Keys(usize),
    /// A list whose items are appended.
    Append(usize),
}

struct In<'a> {
    walk: Walk<'a>,
    at: At,
}

impl<'de> DeserializeSeed<'de> for In<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl In<'_> {
    fn wrong<E: de::Error>(self, found: &str) -> E {
        let (expected, owner) = match self.at {
            At::Node(node) => (
                self.walk.plan.owner(node).to_owned(),
                self.walk.plan.owner(node),
            ),
            At::Each(node) => {
                let owner = self.walk.plan.owner(node);
                (format!("[]{owner}"), owner)
            }
            At::Keys(_) => ("map".to_owned(), ""),
            At::Append(_) => ("array".to_owned(), ""),
        };
        mismatch(self.walk.cx, found, expected, owner)
    }
}

impl<'de> Visitor<'de> for In<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of the object")
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Err(self.wrong("bool"))
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Err(self.wrong("number"))
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Err(self.wrong("number"))
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Err(self.wrong("number"))
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        Err(self.wrong("string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut walk = self.walk;
        match self.at {
            At::Each(node) => {
                let mut index = 0;
                loop {
                    walk.cx.path.push(Segment::Index(index));
                    let at = At::Node(node);
                    let item = In {
                        walk: walk.again(),
                        at,
                    };
                    let more = seq.next_element_seed(item)?;
                    walk.cx.path.pop();
                    index += 1;
                    if more.is_none() {
                        return Ok(());
                    }
                }
            }
            At::Append(slot) => match walk.fields.slot(slot) {
                Some(slot) => append(slot, &mut seq, walk.cx),
                None => Ok(()),
            },
            at => Err(In { walk, at }.wrong("array")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut walk = self.walk;
        match self.at {
            At::Node(node) => {
                let plan = walk.plan;
                while let Some(found) =
                    map.next_key_seed(Find(|name: &str| plan.by_name(node, name)))?
                {
                    let Some((name, step)) = found else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    walk.cx.path.push(Segment::Field(name));
                    match step {
                        Step::Take(leaf) => {
                            let owner = plan.owner(node);
                            let walk = walk.again();
                            map.next_value_seed(Take { walk, leaf, owner })?;
                        }
                        Step::Enter { node, list } => {
                            let at = if list { At::Each(node) } else { At::Node(node) };
                            map.next_value_seed(In {
                                walk: walk.again(),
                                at,
                            })?;
                        }
                        Step::Keys(keys) => {
                            let at = At::Keys(keys);
                            map.next_value_seed(In {
                                walk: walk.again(),
                                at,
                            })?;
                        }
                    }
                    walk.cx.path.pop();
                }
                Ok(())
            }
            At::Keys(keys) => {
                let plan = walk.plan;
                while let Some(found) = map.next_key_seed(Find(|key: &str| plan.key(keys, key)))? {
                    if let Some(leaf) = found {
                        let walk = walk.again();
                        let owner = "map";
                        map.next_value_seed(Take { walk, leaf, owner })?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(())
            }
            at => Err(In { walk, at }.wrong("object")),
        }
    }
}

/// A key, looked up without copying it.
struct Find<F>(F);

impl<'de, T, F: Fn(&str) -> Option<T>> DeserializeSeed<'de> for Find<F> {
    type Value = Option<T>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<T, F: Fn(&str) -> Option<T>> Visitor<'_> for Find<F> {
    type Value = Option<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Option<T>, E> {
        Ok((self.0)(name))
    }
}
