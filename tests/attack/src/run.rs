//! Runs one attack, from its server's start to its end.

use crate::Outcome;
use crate::access::{Access, Who};
use crate::attack::Attack;
use crate::call::Call;
use crate::connection::{Connection, Windows};
use crate::honest::{self, Honest, Served};
use crate::limits::{Cost, Limits};
use crate::memory::{self, Memory};
use crate::report::Measured;
use crate::server::{Engine, Server};
use crate::stage::Stage;
use crate::tally;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The pause before a new server is measured.
const REST: Duration = Duration::from_millis(200);
/// Requests in flight when the time is over are cut off after this.
const GRACE: Duration = Duration::from_millis(500);
/// The time limit for memory to be released.
const BACK_LIMIT: Duration = Duration::from_secs(10);
/// The same in the short form.
const BACK_LIMIT_SHORT: Duration = Duration::from_secs(8);
/// The interval of memory readings.
const LOOK: Duration = Duration::from_millis(20);
/// A server that has grown by this much, in kB, is killed, to protect the machine.
const RUNAWAY_KB: u64 = 1536 << 10;

/// How attacks run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The path of the server's program.
    pub(crate) kubist: PathBuf,
    /// Whether to run the short form.
    pub(crate) short: bool,
    /// Where the server stores its objects.
    pub(crate) engine: Engine,
}

/// Runs an attack against a new server. Fails if it could not run; exceeded limits are in its
/// result.
pub(crate) async fn play(attack: Attack, options: &Options) -> Outcome<Measured> {
    let folder = tempfile::tempdir()?;
    let mut server = Server::start(&options.kubist, folder.path(), options.engine)?;
    let access = Arc::new(Access::read(&server.kubeconfig)?);
    let stage = Stage::set(Arc::clone(&access), options.short).await?;
    honest::prepare(&stage).await?;
    attack.prepare(&stage).await?;
    tokio::time::sleep(REST).await;
    let id = server.id();
    let before = Memory::of(id)?;
    memory::forget_peak(id)?;
    let honest = Honest::start(Arc::clone(&access)).await?;
    let stage = Arc::new(stage.begin(attack.time(options.short)));

    let ended = attacked(attack, &stage, id, before).await;
    let mut broken: Vec<String> = ended.into_iter().collect();
    let seen = Memory::of(id).map_or(before.resident, |it| it.peak);
    if broken.iter().any(|it| it.starts_with(RUNAWAY)) {
        server.kill();
    }
    let served = honest.end().await;
    let peak = Memory::of(id).map_or(seen, |it| it.peak);
    let limits = Limits::of(attack, options.short);
    let after = came_back(id, limits.back(before), options.short).await;
    broken.extend(is_well(&mut server, &access).await);
    let served = served.unwrap_or_else(|error| {
        broken.push(error.to_string());
        Served::default()
    });
    let cost = Cost {
        before,
        peak,
        after: after.unwrap_or_default(),
    };
    let answers = stage.tally.entries();
    broken.extend(limits.broken(cost, &served));
    broken.extend(tally::faults(&answers));
    Ok(Measured {
        attack,
        limits,
        cost,
        served,
        answers,
        broken,
    })
}

/// The prefix of the message when an attack is stopped early.
const RUNAWAY: &str = "stopped";

/// Attacks until the time is over, or returns why it stopped early. The clients stop when this
/// returns.
async fn attacked(attack: Attack, stage: &Arc<Stage>, id: u32, before: Memory) -> Option<String> {
    let attacking = Box::pin(attack.run(Arc::clone(stage)));
    tokio::select! {
        ended = attacking => {
            ended.err().map(|error| format!("the attack itself failed: {error}"))
        }
        () = tokio::time::sleep_until(stage.until + GRACE) => None,
        grown = runaway(id, before) => {
            Some(format!("{RUNAWAY} when the server had grown by {} MB", grown >> 10))
        }
    }
}

/// Waits until the server exceeds the growth limit; returns its growth, in kB.
async fn runaway(id: u32, before: Memory) -> u64 {
    loop {
        tokio::time::sleep(LOOK).await;
        // A server that has exited does not grow; its exit is detected later.
        let resident = Memory::of(id).map_or(0, |it| it.resident);
        let grown = resident.saturating_sub(before.resident);
        if grown > RUNAWAY_KB {
            return grown;
        }
    }
}

/// Waits until resident memory is at most this, or the time is over; returns it. Returns none if
/// the server has exited.
async fn came_back(id: u32, limit: u64, short: bool) -> Option<u64> {
    let time = if short { BACK_LIMIT_SHORT } else { BACK_LIMIT };
    let until = Instant::now() + time;
    loop {
        let resident = Memory::of(id).ok()?.resident;
        if resident <= limit || Instant::now() >= until {
            return Some(resident);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns messages about the server after the attack.
async fn is_well(server: &mut Server, access: &Access) -> Vec<String> {
    let mut wrong = server.panics();
    if let Some(status) = server.ended() {
        wrong.push(format!("the server has ended: {status}"));
        return wrong;
    }
    match Connection::open(access, &Who::Administrator, Windows::OPEN).await {
        Ok(connection) => {
            let answer = connection.call(&Call::get("livez", "/livez")).await;
            if answer.status != 200 {
                let (status, reason) = (answer.status, answer.reason);
                wrong.push(format!("/livez afterwards: {status} {reason}"));
            }
        }
        Err(error) => wrong.push(format!("no connection afterwards: {error}")),
    }
    wrong
}
