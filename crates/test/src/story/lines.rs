//! `Teller`: turns what happened into lines.

use super::caches::Caches;
use super::entry::{Entry, What, title};
use std::fmt;
use std::time::Duration;

/// One line of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// When, since the world began.
    pub time: Duration,
    /// What.
    pub text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9.3} s  {}", self.time.as_secs_f64(), self.text)
    }
}

/// Hears what happened, in order.
#[derive(Debug, Default)]
pub(super) struct Teller {
    lines: Vec<Line>,
    caches: Caches,
    /// Nothing is told after what is wrong.
    behind: Option<Vec<String>>,
}

impl Teller {
    pub(super) fn hear(&mut self, entry: &Entry) {
        if self.behind.is_some() {
            return;
        }
        let text = match &entry.what {
            What::Step(name) => format!("the user: {name}"),
            What::Fault(text) | What::FaultAfterWrite { text, .. } => format!("FAULT: {text}"),
            What::Controller(text) => text.clone(),
            What::Refused {
                client,
                call,
                code,
                is_lost,
            } => {
                let lost = ["", ", which it did not get"][usize::from(*is_lost)];
                format!("{client}: {call} was answered {code}{lost}")
            }
            What::Saw {
                client,
                resource,
                name,
                revision,
                is_deleted,
            } => {
                self.caches
                    .show(client, resource, name, *revision, *is_deleted);
                return;
            }
            What::Wrote { .. } => match self.wrote(&entry.what) {
                Some(text) => text,
                None => return,
            },
            What::Broke(text) => {
                self.behind = Some(self.caches.behind());
                format!("BROKEN: {text}")
            }
        };
        let time = entry.time;
        self.lines.push(Line { time, text });
    }

    fn wrote(&mut self, what: &What) -> Option<String> {
        let What::Wrote {
            client,
            kind,
            name,
            verb,
            before,
            revision,
            fields,
        } = what
        else {
            return None;
        };
        let shown = self.caches.shown_to(client, kind, name);
        self.caches.store(kind, name, *revision, *verb == "deleted");
        if matches!(kind.kind.as_str(), "Lease" | "Event") {
            return None;
        }
        let who = match client.as_str() {
            "" => "the server",
            client => client,
        };
        let title = title(kind, name);
        let mut text = format!("{who} {verb} {title} (revision {revision})");
        if !fields.is_empty() {
            text = format!("{text}: {fields}");
        }
        match shown {
            Some((0, _)) if *before > 0 => text.push_str("; its cache had not shown it"),
            Some((shown, true)) if shown < *before => {
                text.push_str("; its cache showed it as deleted");
            }
            Some((shown, false)) if shown > 0 && shown < *before => {
                text = format!("{text}; its cache showed revision {shown}, and it was at {before}");
            }
            _ => {}
        }
        Some(text)
    }

    /// Returns the lines, and in what caches differed from the store at the end.
    pub(super) fn end(self) -> (Vec<Line>, Vec<String>) {
        let behind = self.behind.unwrap_or_else(|| self.caches.behind());
        (self.lines, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::apimachinery::{GroupKind, ObjectName};

    fn entry(what: What) -> Entry {
        Entry {
            time: Duration::from_millis(1500),
            what,
        }
    }

    #[test]
    fn a_write_on_a_stale_cache_says_what_the_cache_showed() {
        let mut teller = Teller::default();
        let name = ObjectName::new("shop", "web");
        let saw = What::Saw {
            client: "operator".into(),
            resource: "pods".into(),
            name: name.clone(),
            revision: 5,
            is_deleted: false,
        };
        let wrote = |client: &str, verb, before, revision| What::Wrote {
            client: client.into(),
            kind: GroupKind::new("", "Pod"),
            name: name.clone(),
            verb,
            before,
            revision,
            fields: String::new(),
        };
        teller.hear(&entry(saw));
        teller.hear(&entry(wrote("user", "changed", 5, 7)));
        teller.hear(&entry(wrote("operator", "deleted", 7, 8)));
        teller.hear(&entry(What::Broke("it is gone".to_owned())));
        teller.hear(&entry(What::Step("too late".to_owned())));
        let (lines, caches) = teller.end();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[0],
            "    1.500 s  user changed Pod shop/web (revision 7)"
        );
        let told = "operator deleted Pod shop/web (revision 8); its cache showed revision 5, and \
                    it was at 7";
        assert_eq!(lines[1], format!("    1.500 s  {told}"));
        assert_eq!(lines[2], "    1.500 s  BROKEN: it is gone");
        assert_eq!(lines.len(), 3);
        assert_eq!(
            caches,
            ["operator: Pod shop/web at revision 5; stored: deleted"]
        );
    }
}
