//! `kubist logs`: the logs of a Pod's containers as lines, merged as they arrive.

use super::cluster::ClusterOptions;
use super::{Outcome, values};
use clap::Args;
use futures_util::StreamExt as _;
use kubist_api::core::v1::Pod;
use kubist_client::{Api, LogLine, LogOptions};
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
With several containers each line begins with the name of its container.

Examples:
  kubist logs web-0 -f
  kubist logs web-0 -c web -c proxy --since 5m --timestamps
  kubist logs web-0 --all-containers --tail 20 -n shop")]
pub(crate) struct Options {
    /// The Pod
    pod: String,
    /// The namespace; by default that of the kubeconfig context
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// A container; may be repeated. By default the only one, or the Pod's default container
    #[arg(short, long, value_name = "NAME", conflicts_with = "all_containers")]
    container: Vec<String>,
    /// All containers, with those that initialize the Pod and those for debugging
    #[arg(long)]
    all_containers: bool,
    /// Go on with what is written from now on
    #[arg(short, long)]
    follow: bool,
    /// The log of the previous run of the container
    #[arg(short, long)]
    previous: bool,
    /// Begin each line with its time
    #[arg(long)]
    timestamps: bool,
    /// Only lines of this long ago or less, such as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    since: Option<Duration>,
    /// Only this many lines from the end of each log
    #[arg(
        long,
        value_name = "N",
        value_parser = values::non_negative::<u32>,
        allow_negative_numbers = true
    )]
    tail: Option<u32>,
    #[command(flatten)]
    cluster: ClusterOptions,
}

pub(crate) async fn run(options: Options) -> Outcome {
    let client = options.cluster.connect()?;
    let namespace = match &options.namespace {
        Some(namespace) => namespace.as_str().into(),
        None => client.default_namespace().clone(),
    };
    let pods: Api<Pod> = Api::namespaced(client, namespace);
    let wanted = LogOptions {
        containers: containers(&pods, &options).await?,
        follow: options.follow,
        previous: options.previous,
        timestamps: options.timestamps,
        since_seconds: options.since.map(whole_seconds),
        tail_lines: options.tail.map(Into::into),
        ..LogOptions::default()
    };
    let mut lines = pods.log_lines(&options.pod, &wanted).await?;
    let is_named = wanted.containers.len() > 1;
    let mut out = io::stdout().lock();
    while let Some(line) = lines.next().await {
        match print(&mut out, &line?, is_named) {
            // Standard output is closed.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            printed => printed?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A time of less than a second is one: zero would be all.
fn whole_seconds(time: Duration) -> i64 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    i64::try_from(seconds.max(1)).unwrap_or(i64::MAX)
}

async fn containers(
    pods: &Api<Pod>,
    options: &Options,
) -> Result<Vec<kubist_apimachinery::Str>, Box<dyn Error>> {
    if !options.all_containers {
        let named = options.container.iter().map(|it| it.as_str().into());
        return Ok(named.collect());
    }
    let spec = pods.get(&options.pod).await?.spec;
    let all = spec.init_containers.into_iter().chain(spec.containers);
    let debugging = spec.ephemeral_containers.into_iter().map(|it| it.name);
    Ok(all.map(|it| it.name).chain(debugging).collect())
}

fn print(out: &mut impl Write, line: &LogLine, is_named: bool) -> io::Result<()> {
    if is_named {
        write!(out, "[{}] ", line.container)?;
    }
    if let Some(time) = line.time {
        write!(out, "{time} ")?;
    }
    writeln!(out, "{}", line.text)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_with_what_was_asked_for() {
        let mut line = LogLine::default();
        line.text = "hello".to_owned();
        line.container = "web".into();
        let printed = |line: &LogLine, is_named| {
            let mut out = Vec::new();
            print(&mut out, line, is_named).expect("it is memory");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(printed(&line, false), "hello\n");
        line.time = Some("2026-01-02T03:04:05.000006Z".parse().expect("a time"));
        assert_eq!(
            printed(&line, true),
            "[web] 2026-01-02T03:04:05.000006Z hello\n"
        );
    }

    #[test]
    fn a_part_of_a_second_is_not_all_time() {
        for (time, seconds) in [(0, 1), (1, 1), (999, 1), (1_000, 1), (1_001, 2)] {
            assert_eq!(
                whole_seconds(Duration::from_millis(time)),
                seconds,
                "{time}"
            );
        }
    }
}
