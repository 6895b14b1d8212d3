//! A user who creates, reads, changes and deletes objects, and repeats what failed once.

use super::record::Record;
use super::web::Web;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The namespace of the objects.
pub(super) const NAMESPACE: &str = "soak-user";
/// How many objects there are at a time.
const OBJECTS: usize = 20;
/// The pause between two rounds.
const PAUSE: Duration = Duration::from_millis(200);
const NOT_FOUND: u16 = 404;
const CONFLICT: u16 = 409;

/// The user.
pub(super) struct User<'a> {
    web: &'a Web,
    record: &'a Record,
}

impl<'a> User<'a> {
    pub(super) fn new(web: &'a Web, record: &'a Record) -> Self {
        Self { web, record }
    }

    /// Goes on until a time.
    pub(super) fn run(&self, until: Instant) {
        let mut names = VecDeque::new();
        for number in 0_u64.. {
            if Instant::now() > until {
                return;
            }
            let name = format!("map-{number}");
            if self.round(&name).is_some() {
                names.push_back(name);
            }
            if names.len() > OBJECTS
                && let Some(name) = names.pop_front()
            {
                self.delete(&name);
            }
            self.list(&names);
            std::thread::sleep(PAUSE);
        }
    }

    /// Creates an object, reads it, changes it and reads it again.
    fn round(&self, name: &str) -> Option<()> {
        let created = self.create(name)?;
        self.read(name, &created)?;
        let changed = self.change(name, created)?;
        self.read(name, &changed)
    }

    fn create(&self, name: &str) -> Option<Value> {
        let map = json!({"metadata": {"name": name}, "data": {"value": "1"}});
        self.record
            .attempt(&format!("a create of {name}"), |again| {
                let answer = self.web.send("POST", &collection(), Some(&map))?;
                if again && answer.status == CONFLICT {
                    // The first one was carried out, though its answer was lost.
                    return self.web.get(&path(name));
                }
                answer.success()
            })
    }

    fn change(&self, name: &str, mut map: Value) -> Option<Value> {
        map["data"]["value"] = "2".into();
        self.record
            .attempt(&format!("an update of {name}"), |again| {
                let answer = self.web.send("PUT", &path(name), Some(&map))?;
                if again && answer.status == CONFLICT {
                    let stored = self.web.get(&path(name))?;
                    if stored["data"] == map["data"] {
                        return Ok(stored);
                    }
                }
                answer.success()
            })
    }

    fn delete(&self, name: &str) -> Option<()> {
        self.record
            .attempt(&format!("a delete of {name}"), |again| {
                let answer = self.web.send("DELETE", &path(name), None)?;
                if again && answer.status == NOT_FOUND {
                    return Ok(());
                }
                answer.success().map(drop)
            })
    }

    /// What was acknowledged is what any server shows from then on.
    fn read(&self, name: &str, expected: &Value) -> Option<()> {
        let read = self
            .record
            .attempt(&format!("a get of {name}"), |_| self.web.get(&path(name)));
        let read = read?;
        let same = ["data", "metadata"]
            .iter()
            .all(|it| read[it] == expected[it]);
        if !same {
            self.record.fail(&format!(
                "{name} was written as {expected}, and read as {read}"
            ));
        }
        Some(())
    }

    fn list(&self, names: &VecDeque<String>) {
        let listed = self.record.attempt("a list", |_| -> Outcome<Value> {
            self.web.get(&collection())
        });
        let Some(listed) = listed else { return };
        let items = listed["items"].as_array().into_iter().flatten();
        let listed: Vec<&str> = items
            .filter_map(|it| it["metadata"]["name"].as_str())
            .collect();
        for name in names {
            if !listed.contains(&name.as_str()) {
                self.record.fail(&format!(
                    "{name} was written, and is not in the list {listed:?}"
                ));
            }
        }
    }
}

fn collection() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

fn path(name: &str) -> String {
    format!("{}/{name}", collection())
}
