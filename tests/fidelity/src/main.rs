//! The program behind `cargo xtask fidelity`: sends the same random but meaningful requests to a
//! kube-apiserver and to Kubist's server, and reports where the answers differ.
//!
//! `generator` creates a sequence for each seed, `pair` runs it on both, `normaliser` removes what
//! differs between any two servers, `compare` finds the differences, `shrink` reduces the sequence
//! to the steps that matter, and `script` prints it as a shell script. `accepted` is the list of
//! intended differences. All but `server` and `pair` work without a server.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "it is a program for a terminal, and times in answers are of today by a real clock"
)]

mod accepted;
mod answer;
mod area;
mod areas;
mod catalogue;
mod causes;
mod compare;
mod documents;
mod gate;
mod generator;
mod memory;
mod mutation;
mod normaliser;
mod pair;
mod plan;
mod players;
mod protobuf;
mod random;
mod report;
mod scan;
mod script;
mod server;
mod shrink;
mod step;
mod versions;

use accepted::Accepted;
use area::Area;
use clap::Parser;
use gate::Gate;
use generator::Generator;
use pair::Pair;
use players::{Played, Players};
use report::{Differing, Report, Signature};
use script::Script;
use server::{Server, ServerError};
use shrink::Shrinker;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use step::Sequence;

/// The list of intended differences.
const ACCEPTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/accepted.toml");
/// Sequences between two progress messages.
const PROGRESS: usize = 100;

type Failure = Box<dyn std::error::Error>;

/// Sends the same requests to two servers
#[derive(Debug, Parser)]
#[command(name = "kubist-fidelity")]
struct Arguments {
    /// The kube-apiserver's URL
    #[arg(long, required_unless_present = "list")]
    theirs: Option<String>,
    /// The URL of Kubist's server
    #[arg(long, required_unless_present = "list")]
    ours: Option<String>,
    /// The administrator's token on both servers
    #[arg(long, default_value = "fidelity")]
    token: String,
    /// Seeds to run, as in `0..200`
    #[arg(long, value_name = "FROM..TO", value_parser = seeds, default_value = "0..200")]
    seeds: Range<u64>,
    /// Only these areas, as in `patches,watches`
    #[arg(long, value_delimiter = ',')]
    areas: Vec<Area>,
    /// The list of intended differences
    #[arg(long, default_value = ACCEPTED)]
    accepted: PathBuf,
    /// Shrink this many differences; of further ones only the first is shown
    #[arg(long, default_value_t = 40)]
    shrink: usize,
    /// The servers obey roles, quotas, limits and policies; sequences make such
    #[arg(long)]
    obeyed: bool,
    /// Stop after this many causes that are not on the list
    #[arg(long)]
    causes: Option<usize>,
    /// Sequences that run at the same time, each in a namespace of its own
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Print the sequences as scripts, and send nothing
    #[arg(long)]
    list: bool,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parse = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
    let (from, to) = text.split_once("..").ok_or("no range as in 10..20")?;
    Ok(parse(from)?..parse(to)?)
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns true if every difference is on the list.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let generator = Generator::new(&arguments.areas, arguments.obeyed)?;
    if arguments.list {
        for seed in arguments.seeds.clone() {
            println!("# seed {seed}\n{}", Script(&generator.sequence(seed)));
        }
        return Ok(true);
    }
    let text = std::fs::read_to_string(&arguments.accepted)
        .map_err(|error| format!("{}: {error}", arguments.accepted.display()))?;
    let accepted = Arc::new(Accepted::parse(&text)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let gate = Arc::new(Gate::default());
    let pairs = (0..=arguments.jobs).map(|number| {
        Ok(Pair {
            theirs: server(arguments.theirs.as_deref(), &arguments.token)?,
            ours: server(arguments.ours.as_deref(), &arguments.token)?,
            now: i64::try_from(now)?,
            runs: 0,
            // Runs on the same servers use different names.
            run_prefix: format!("{:x}-{number}", now % 0x10_0000),
            gate: Arc::clone(&gate),
            accepted: Arc::clone(&accepted),
        })
    });
    let pairs: Vec<Pair> = pairs.collect::<Result<_, Failure>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(play(arguments, generator, &accepted, pairs))?;
    println!("{report}");
    Ok(report.is_clean())
}

fn server(address: Option<&str>, token: &str) -> Result<Server, ServerError> {
    Server::new(address.unwrap_or_default(), token)
}

/// The last pair shrinks; the others run seeds.
async fn play(
    arguments: &Arguments,
    generator: Generator,
    accepted: &Accepted,
    mut pairs: Vec<Pair>,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    let Some(mut shrinking) = pairs.pop() else {
        return Ok(report);
    };
    let mut players = Players::start(pairs, &Arc::new(generator), arguments.seeds.clone());
    while let Some(played) = players.next().await {
        let Played { sequence, findings } = played?;
        report.played(sequence.steps.len());
        if report.sequences().is_multiple_of(PROGRESS) {
            let (sequences, causes) = (report.sequences(), report.causes());
            eprintln!("{sequences} sequences, {causes} causes");
        }
        for differing in report.sift(&findings, accepted) {
            let Some(signature) = report.add(sequence.seed, &differing) else {
                continue;
            };
            println!("== seed {}, {differing}", sequence.seed);
            if report.causes() <= arguments.shrink {
                match shrunk(&mut shrinking, &sequence, &differing, &signature).await? {
                    Some(best) => println!("{}", Script(&best)),
                    None => println!("It did not appear again."),
                }
            }
        }
        if arguments
            .causes
            .is_some_and(|causes| report.causes() >= causes)
        {
            break;
        }
    }
    Ok(report)
}

/// Returns the shortest sequence that shows a difference of this cause; none if it is not
/// reproducible.
async fn shrunk(
    pair: &mut Pair,
    sequence: &Sequence,
    differing: &Differing,
    signature: &Signature,
) -> Result<Option<Sequence>, Failure> {
    let target = differing.step.id;
    let mut shrinker = Shrinker::new(sequence, target);
    if !shows(pair, shrinker.best(), target, signature).await? {
        return Ok(None);
    }
    while let Some(proposal) = shrinker.propose() {
        let is_still_there = shows(pair, &proposal, target, signature).await?;
        shrinker.judge(proposal, is_still_there);
    }
    Ok(Some(shrinker.best().clone()))
}

async fn shows(
    pair: &mut Pair,
    sequence: &Sequence,
    target: usize,
    signature: &Signature,
) -> Result<bool, Failure> {
    let findings = pair.play(sequence).await?;
    let is_it = |it: &pair::Finding| {
        it.step.id == target && Signature::new(&it.step, &it.difference) == *signature
    };
    Ok(findings.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn options_go_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn seeds_are_a_range() {
        assert_eq!(seeds("3..7"), Ok(3..7));
        assert!(seeds("3").is_err() && seeds("a..b").is_err());
    }
}
