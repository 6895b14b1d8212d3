//! `cargo xtask soak`: a cluster of simulated nodes with Kubernetes' own controllers, for an hour.
//!
//! Two servers stand on one etcd, behind one address. Deployments are rolled out one after another
//! all the time, and the servers are killed and paused in turn. The run fails if
//!
//! - an operation of a user fails, and fails again when it is repeated once;
//! - a watch that never lists again misses an event, repeats one or has it out of order, by the
//!   history that etcd itself tells;
//! - the memory of a server grows;
//! - a rolling update does not end.
//!
//! With `--compare` there is no trouble: a fixed script runs on one server with a data directory
//! and on a kube-apiserver with etcd, and what their processors did is compared.
//!
//! `curl` and `openssl` must be installed. It takes the programs from a folder and builds none.

#![expect(
    clippy::disallowed_methods,
    reason = "it watches other processes by the clock of the machine"
)]

mod balancer;
mod compare;
mod controllers;
mod fleet;
mod follower;
mod history;
mod load;
mod memory;
mod record;
mod told;
mod trouble;
mod user;
mod web;

use crate::bench::table::Table;
use crate::interop::server;
use clap::Args;
use controllers::Controllers;
use fleet::Fleet;
use follower::Follower;
use kubist_test_support::process::{Outcome, root};
use load::Load;
use memory::Memory;
use record::Record;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trouble::Trouble;
use user::User;
use web::Web;

/// The administrator's token.
const TOKEN: &str = "of-the-soak";
/// The most Pods of a Deployment, which is what one rolling update replaces.
const REPLICAS_MAX: u32 = 100;
/// Shorter runs do not judge memory: their thirds are what a server needs to become warm.
const MEMORY_MINUTES_MIN: u32 = 10;
/// How long the watches may take to show the last writes.
const SETTLE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

/// Options of `cargo xtask soak`.
#[derive(Args)]
pub(crate) struct Options {
    /// Use this binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// A folder with etcd, kube-controller-manager, kube-scheduler and kwok, and with `--compare`
    /// kube-apiserver, as `interop --long` builds them
    #[arg(long, value_name = "DIR", default_value = "target/interop")]
    programs: PathBuf,
    /// This etcd instead of the one in that folder
    #[arg(long, value_name = "PATH")]
    etcd: Option<PathBuf>,
    /// This kube-apiserver instead of the one in that folder
    #[arg(long, value_name = "PATH", requires = "compare")]
    kube_apiserver: Option<PathBuf>,
    /// Nodes that kwok simulates
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    nodes: u32,
    /// Pods, in Deployments of at most 100 [default: 10000, with `--compare` 2000]
    #[arg(long, value_name = "N")]
    pods: Option<u32>,
    /// How long the rolling updates and the trouble go on
    #[arg(long, value_name = "N", default_value_t = 60)]
    minutes: u32,
    /// Compare the CPU of the servers with a kube-apiserver's and etcd's, without trouble
    #[arg(long)]
    compare: bool,
    /// Rolling updates of the comparison
    #[arg(long, value_name = "N", default_value_t = 10)]
    rollouts: u32,
}

impl Options {
    /// Returns a program: the given one, or the one of this name in the folder.
    fn program(&self, given: Option<&Path>, name: &str) -> Outcome<PathBuf> {
        let path = given.map_or_else(|| self.programs.join(name), Path::to_path_buf);
        Ok(std::fs::canonicalize(&path)
            .map_err(|error| format!("no {name} at {}: {error}", path.display()))?)
    }

    fn pods(&self) -> u32 {
        self.pods
            .unwrap_or(if self.compare { 2_000 } else { 10_000 })
    }
}

/// Runs the soak, or the comparison.
pub(crate) fn run(options: &Options) -> Outcome {
    let scratch = root().join("target/soak");
    let _gone = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    // Programs that are missing are told of before the server is built.
    let programs = controllers::Programs::find(options)?;
    let etcd = options.program(options.etcd.as_deref(), "etcd")?;
    if options.compare {
        let apiserver = options.program(options.kube_apiserver.as_deref(), "kube-apiserver")?;
        let kubist = server::binary(options.kubist.as_deref())?;
        return compare::run(options, &programs, &kubist, (&apiserver, &etcd), &scratch);
    }
    let kubist = server::binary(options.kubist.as_deref())?;
    soak(options, &programs, &kubist, &etcd, &scratch)
}

fn soak(
    options: &Options,
    programs: &controllers::Programs,
    kubist: &Path,
    etcd: &Path,
    scratch: &Path,
) -> Outcome {
    let record = Arc::new(Record::start());
    let fleet = Fleet::start(kubist, etcd, scratch)?;
    record.say("two servers are ready");
    let controllers = Controllers::start(programs, &fleet.credentials, scratch)?;
    let web = Web::new(&fleet.url(), TOKEN);
    let load = Load::new(&web, &record, scratch, options.nodes, options.pods());
    load.nodes()?;
    load.deployments()?;
    let pods = Follower::start(&web, &fleet.etcd_url, "pods", load::NAMESPACE, &record)?;
    let maps = Follower::start(
        &web,
        &fleet.etcd_url,
        "configmaps",
        user::NAMESPACE,
        &record,
    )?;
    let duration = Duration::from_secs(u64::from(options.minutes) * 60);
    record.say(&format!("the soak begins, for {} minutes", options.minutes));
    let begin = Instant::now();
    let until = begin + duration;
    let user = User::new(&web, &record);
    let trouble = Trouble::new(&fleet, &record, duration);
    let memory = Memory::new(duration);
    let rollouts = std::thread::scope(|scope| {
        scope.spawn(|| user.run(until));
        scope.spawn(|| trouble.run(until));
        scope.spawn(|| memory.run(&fleet, &record, until));
        load.roll_until(until)
    });
    record.say("the soak has ended; the watches catch up");
    for follower in [&pods, &maps] {
        settle(follower, &web, &record);
    }
    if options.minutes >= MEMORY_MINUTES_MIN {
        memory.judge(&record);
    }
    let lasted = begin.elapsed().as_secs();
    let mut table = Table::new(["soak", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("nodes", options.nodes.to_string());
    row("Pods", options.pods().to_string());
    row("duration", format!("{} min {} s", lasted / 60, lasted % 60));
    row("rolling updates", rollouts.to_string());
    for follower in [&pods, &maps] {
        for (name, value) in follower.rows() {
            row(&name, value);
        }
    }
    for (name, value) in trouble.rows().into_iter().chain(record.rows()) {
        row(&name, value);
    }
    for (name, value) in memory.rows() {
        row(&name, value);
    }
    let cpu = fleet.cpu().into_iter().chain(controllers.cpu());
    for (name, seconds) in cpu.chain([("this program", record::own_cpu())]) {
        row(
            &format!("CPU of {name}, since the start"),
            format!("{seconds:.0} s"),
        );
    }
    record::print(&table);
    record.end()
}

/// Waits until a watch shows what is stored.
fn settle(follower: &Follower, web: &Web, record: &Record) {
    let begin = Instant::now();
    loop {
        match follower.compare(web) {
            Ok(()) => return,
            Err(error) if begin.elapsed() > SETTLE => {
                return record.fail(&format!("at the end {error}"));
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}
