//! Runs client-go's informer and Kubist's on one server, with many writes and cut connections. At
//! the end both must equal the server.
//!
//! The reference history is that of a watch without cuts. The events that an informer reports for
//! an object must be a subsequence of it, and complete unless the informer listed again.

use super::report::Report;
use super::server::Server;
use crate::test_program;
use kubist_test_support::process::{self, Outcome, root};
use kubist_test_support::{FaultProxy, Faults};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The part's name, for `--only`.
pub(super) const PART: &str = "followers";
/// Writes during a run.
const WRITES: &str = "1500";

/// The events that an informer reported, and its state at the end.
#[derive(Deserialize)]
struct Seen {
    /// From this version on every event was reported, unless the informer listed again.
    synced_at: String,
    relists: u64,
    history: Vec<(Kind, String, String)>,
    state: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// The object has this version.
    Set,
    /// The object was deleted, at this version.
    Delete,
    /// The object was deleted, which a relist detected; the version is the last one known.
    Gone,
}

/// The events of one object: kind and version.
type Events = Vec<(Kind, u64)>;

/// Runs both on a server of their own.
pub(super) fn run(long: bool, binary: &Path, scratch: &Path, report: &mut Report) -> Outcome {
    let folder = scratch.join("followers");
    std::fs::create_dir_all(&folder)?;
    let go = folder.join("follow");
    let mut build = Command::new("go");
    build.arg("build").arg("-o").arg(&go).arg("./follow");
    process::run_with(build.current_dir(root().join("tests/interop/go")))?;
    let ours = test_program::build("follow")?;
    let seeds = if long { 1..=10 } else { 1..=2 };
    for seed in seeds {
        for manner in &MANNERS {
            report.step(&format!("{}, seed {seed}", manner.name), || {
                let name = format!("{}-{seed}", manner.name);
                let kubeconfig = folder.join(format!("{name}.kubeconfig"));
                let server = Server::start(binary, &kubeconfig, manner.server)?;
                let pair = Pair {
                    server: &server,
                    folder: &folder,
                    go: &go,
                    ours: &ours,
                    name,
                    seed,
                };
                pair.run(manner)?;
                server.stop()
            });
        }
    }
    Ok(())
}

/// How connections are cut, and the expected consequences.
struct Manner {
    name: &'static str,
    cuts: Faults,
    /// The fewest cuts of each follower; with fewer a run proves nothing.
    cuts_min: u64,
    /// Options of the server.
    server: &'static [&'static str],
    /// Whether followers list again: never, perhaps, or always.
    relists: Relists,
}

#[derive(Clone, Copy)]
enum Relists {
    Never,
    Perhaps,
    Surely,
}

/// Whether a follower may report the last version of an object again.
#[derive(Clone, Copy, PartialEq)]
enum Repeats {
    Never,
    /// client-go: a relist reports unchanged objects to every handler that is due a resync; without
    /// a resync period, that is every handler.
    AfterLists,
}

const MANNERS: [Manner; 3] = [
    Manner {
        name: "gentle",
        cuts: Faults::GENTLE,
        cuts_min: 5,
        server: &[],
        relists: Relists::Never,
    },
    Manner {
        name: "rough",
        cuts: Faults::ROUGH,
        cuts_min: 5,
        server: &[],
        relists: Relists::Perhaps,
    },
    // A server with a short history.
    Manner {
        name: "forgetful",
        cuts: Faults::OUTAGES,
        cuts_min: 1,
        server: &["--history", "50"],
        relists: Relists::Surely,
    },
];

/// One run of both.
struct Pair<'a> {
    server: &'a Server,
    folder: &'a Path,
    go: &'a Path,
    ours: &'a Path,
    name: String,
    seed: u64,
}

impl Pair<'_> {
    fn run(&self, manner: &Manner) -> Outcome {
        let cuts = manner.cuts;
        let (theirs_proxy, theirs_config) = self.proxy(cuts, "client-go", 2 * self.seed)?;
        let (ours_proxy, ours_config) = self.proxy(cuts, "ours", 2 * self.seed + 1)?;
        let mut ours = Killed(self.start_ours(&ours_config)?);
        let mut go = Killed(self.start_go(&theirs_config)?);
        for (name, child) in [("client-go's", &mut go.0), ("our", &mut ours.0)] {
            let status = child.wait()?;
            if !status.success() {
                return Err(format!("{name} follower ended with {status}").into());
            }
        }
        let server = self.seen("server")?;
        let (theirs, ours) = (self.seen("client-go")?, self.seen("ours")?);
        let truth = by_object(&server.history, 0)?;
        for (name, seen, proxy, repeats) in [
            ("client-go's", &theirs, &theirs_proxy, Repeats::AfterLists),
            ("our", &ours, &ours_proxy, Repeats::Never),
        ] {
            eprintln!(
                "          {name}: {} cuts, {} lists after the first, {} events",
                proxy.cuts(),
                seen.relists,
                seen.history.len()
            );
            seen.check(&server, &truth, repeats)
                .map_err(|error| format!("{name} follower: {error}"))?;
            match (manner.relists, seen.relists) {
                (Relists::Never, 1..) => return Err(format!("{name} listed again").into()),
                (Relists::Surely, 0) => return Err(format!("{name} did not list again").into()),
                _ => {}
            }
            if proxy.cuts() < manner.cuts_min {
                return Err(format!("only {} connections were cut", proxy.cuts()).into());
            }
        }
        if theirs.relists + ours.relists == 0 {
            let from = theirs.synced_at()?.max(ours.synced_at()?);
            if by_object(&theirs.history, from)? != by_object(&ours.history, from)? {
                return Err("the two saw different histories".into());
            }
        }
        Ok(())
    }

    fn path(&self, who: &str) -> PathBuf {
        self.folder.join(format!("{}-{who}.json", self.name))
    }

    fn seen(&self, who: &str) -> Outcome<Seen> {
        Ok(serde_json::from_slice(&std::fs::read(self.path(who))?)?)
    }

    /// Starts a proxy, and writes a kubeconfig that uses it.
    fn proxy(&self, cuts: Faults, who: &str, seed: u64) -> Outcome<(FaultProxy, PathBuf)> {
        let address: SocketAddr = self
            .server
            .url
            .strip_prefix("https://")
            .ok_or("the server's URL is none of https")?
            .parse()?;
        let proxy = FaultProxy::with_faults(address, cuts, seed)?;
        let kubeconfig = std::fs::read_to_string(&self.server.kubeconfig)?;
        let path = self.folder.join(format!("{}-{who}.kubeconfig", self.name));
        std::fs::write(
            &path,
            kubeconfig.replace(&self.server.url, &proxy.url("https")),
        )?;
        Ok((proxy, path))
    }

    fn start_ours(&self, kubeconfig: &Path) -> Outcome<Child> {
        let out = self.path("ours");
        let follow = json!({
            "kubeconfig": kubeconfig, "namespace": self.name, "last": "zz-end", "out": out,
        });
        let mut program = Command::new(self.ours);
        program
            .args(["--exact", "--nocapture"])
            .arg("what_happens_on_a_server_is_followed_over_cut_connections")
            .env("KUBIST_FOLLOW", follow.to_string())
            .stdout(Stdio::null());
        Ok(program.spawn()?)
    }

    fn start_go(&self, kubeconfig: &Path) -> Outcome<Child> {
        let mut program = Command::new(self.go);
        program
            .arg("-kubeconfig")
            .arg(&self.server.kubeconfig)
            .arg("-cut")
            .arg(kubeconfig)
            .args(["-namespace", &self.name, "-writes", WRITES])
            .args(["-seed", &self.seed.to_string()])
            .arg("-server")
            .arg(self.path("server"))
            .arg("-client")
            .arg(self.path("client-go"));
        Ok(program.spawn()?)
    }
}

impl Seen {
    fn synced_at(&self) -> Outcome<u64> {
        Ok(self.synced_at.parse()?)
    }

    /// Checks that the state is the server's, and the history a subsequence of the server's.
    fn check(&self, server: &Self, truth: &BTreeMap<String, Events>, repeats: Repeats) -> Outcome {
        if self.state != server.state {
            let differs = |name: &&String| self.state.get(*name) != server.state.get(*name);
            let names: Vec<_> = server.state.keys().chain(self.state.keys()).collect();
            let names: Vec<_> = names.into_iter().filter(differs).collect();
            return Err(format!("at the end it holds something else of {names:?}").into());
        }
        let complete_from = match self.relists {
            0 => Some(self.synced_at()?),
            _ => None,
        };
        let mut seen = by_object(&self.history, 0)?;
        if repeats == Repeats::AfterLists && self.relists > 0 {
            seen.values_mut().for_each(without_repeats);
        }
        if let Some(name) = seen.keys().find(|name| !truth.contains_key(*name)) {
            return Err(format!("there never was any {name}").into());
        }
        for (name, truth) in truth {
            let none = Events::new();
            is_part(seen.get(name).unwrap_or(&none), truth, complete_from)
                .map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(())
    }
}

/// Returns the events after a version, by object.
fn by_object(history: &[(Kind, String, String)], after: u64) -> Outcome<BTreeMap<String, Events>> {
    let mut objects: BTreeMap<String, Events> = BTreeMap::new();
    for (kind, name, version) in history {
        let version: u64 = version.parse()?;
        if version > after {
            let events = objects.entry(name.clone()).or_default();
            events.push((*kind, version));
        }
    }
    Ok(objects)
}

/// Removes events that repeat the version before them.
fn without_repeats(events: &mut Events) {
    events.dedup_by(|event, last| event.0 == Kind::Set && event == last);
}

/// Checks that `seen` is a subsequence of `truth`, and complete after the version `complete_from`.
fn is_part(seen: &[(Kind, u64)], truth: &[(Kind, u64)], complete_from: Option<u64>) -> Outcome {
    let mut rest = truth.iter();
    let mut may_miss = |missed: &(Kind, u64)| match complete_from {
        Some(version) if missed.1 > version => Err(format!("{missed:?} was not reported")),
        _ => Ok(()),
    };
    for event in seen {
        loop {
            let happened = rest.next().ok_or_else(|| {
                format!("{event:?} was reported, which did not happen, or not in this order")
            })?;
            let is_it = match event.0 {
                Kind::Gone => happened.0 == Kind::Delete,
                _ => event == happened,
            };
            if is_it && !(event.0 == Kind::Gone && complete_from.is_some()) {
                break;
            }
            may_miss(happened)?;
        }
    }
    rest.try_for_each(&mut may_miss)?;
    Ok(())
}

/// A child process, killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{Delete, Gone, Set};
    use super::*;

    const TRUTH: [(Kind, u64); 5] = [(Set, 1), (Set, 3), (Delete, 4), (Set, 6), (Delete, 9)];

    #[test]
    fn what_was_told_is_a_part_of_what_happened() {
        for (seen, complete_from, is_fine) in [
            (&TRUTH[..], Some(0), true),
            (&TRUTH[1..], Some(1), true),
            (&TRUTH[1..], Some(0), false),
            (&[], None, true),
            (&[], Some(8), false),
            (&[], Some(9), true),
            (&[(Set, 1), (Gone, 1), (Set, 6), (Gone, 6)], None, true),
            (&[(Set, 1), (Gone, 1)], Some(9), false),
            (&[(Set, 6), (Set, 3)], None, false),
            (&[(Set, 3), (Set, 3)], None, false),
            (&[(Set, 4)], None, false),
            (&[(Set, 1), (Set, 6), (Delete, 9), (Gone, 9)], None, false),
        ] {
            let result = is_part(seen, &TRUTH, complete_from);
            assert_eq!(result.is_ok(), is_fine, "{seen:?} {complete_from:?}");
        }
    }

    #[test]
    fn only_the_last_version_is_a_repeat() {
        for (events_before, left) in [
            (
                &[(Set, 1), (Set, 3), (Set, 3)][..],
                &[(Set, 1), (Set, 3)][..],
            ),
            (
                &[(Set, 1), (Set, 3), (Set, 1)],
                &[(Set, 1), (Set, 3), (Set, 1)],
            ),
            (
                &[(Set, 1), (Gone, 1), (Gone, 1)],
                &[(Set, 1), (Gone, 1), (Gone, 1)],
            ),
        ] {
            let mut events = events_before.to_vec();
            without_repeats(&mut events);
            assert_eq!(events, left);
        }
    }
}
