//! A parsed scrape of `/metrics`.

use crate::client::Client;
use http::Version;
use kubist_apiserver::RunningServer;
use std::collections::BTreeMap;

/// The samples of a scrape by name and labels.
pub(super) struct Scrape {
    pub(super) text: String,
    pub(super) samples: BTreeMap<String, f64>,
}

impl Scrape {
    pub(super) async fn of(server: &RunningServer) -> Self {
        let mut client = Client::in_memory(server, Version::HTTP_2).await;
        let answer = client.get("/metrics").await;
        assert_eq!(answer.code, 200);
        assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4");
        Self::parse(std::str::from_utf8(&answer.bytes).expect("it is text"))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            (name.to_owned(), value.parse().expect("it is a number"))
        };
        Self {
            text: text.to_owned(),
            samples: lines.map(sample).collect(),
        }
    }

    /// Returns the sample with exactly these labels, in any order.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let mut wanted: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{v}\"")).collect();
        wanted.sort();
        let found = self.samples.iter().find(|(key, _)| {
            let (found, rest) = key.split_once('{').unwrap_or((key, "}"));
            let mut pairs: Vec<&str> = rest.trim_end_matches('}').split(',').collect();
            pairs.retain(|it| !it.is_empty());
            pairs.sort_unstable();
            found == name && pairs == wanted
        });
        found.map(|(_, value)| *value)
    }

    pub(super) fn has_type(&self, name: &str, kind: &str) {
        let line = format!("# TYPE {name} {kind}\n");
        assert!(self.text.contains(&line), "no {line}");
    }

    pub(super) fn sets_of(&self, name: &str) -> usize {
        let prefix = format!("{name}{{");
        self.samples
            .keys()
            .filter(|key| key.starts_with(&prefix))
            .count()
    }
}
