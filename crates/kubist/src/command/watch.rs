//! `kubist watch`: a shared informer as a command.
//!
//! On a terminal it shows a table that is redrawn on changes, otherwise a JSON object per event.
//! The table needs only names and times, so it requests and holds only metadata.

mod arrivals;
mod follow;
mod lines;
mod problems;
mod summary;
mod table;

use self::follow::{Until, follow};
use self::lines::{JsonLines, TableLines};
use self::problems::Problems;
use self::table::LiveTable;
use super::cluster::ClusterOptions;
use super::{Outcome, values};
use clap::{Args, ValueEnum};
use kubist_apimachinery::{ApiResource, FieldSelector, ListOptions, Selector, Unstructured};
use kubist_cache::{Metadata, ResourceEvent, Selection};
use kubist_client::{Api, Client, Discovery};
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How often the table is redrawn, at most.
const REDRAW: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
#[command(after_help = "\
RESOURCE is a plural, singular or short name, or a kind, followed by a dot and the group where it is
ambiguous: pods, pod, po, deployments.apps, deploy, events.events.k8s.io.
The cluster is that of --kubeconfig, else of the files in KUBECONFIG, else of ~/.kube/config, else
the one in which this program runs. A summary is printed to standard error at the end.

Examples:
  kubist watch pods -A
  kubist watch deploy -n shop -l app.kubernetes.io/part-of=shop
  kubist watch pods --field-selector spec.nodeName=node-7 -o json | jq -r .object.metadata.name
  kubist watch events --seconds 60 > events.jsonl")]
pub(crate) struct Options {
    /// The resource to watch
    resource: String,
    /// The namespace; by default that of the kubeconfig context
    #[arg(short, long, value_name = "NS", conflicts_with = "all_namespaces")]
    namespace: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only objects that match these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    selector: Selector,
    /// Only objects that match these fields
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    field_selector: FieldSelector,
    #[command(flatten)]
    cluster: ClusterOptions,
    /// The output format; by default table on a terminal, otherwise json
    #[arg(short, long, value_enum)]
    output: Option<Output>,
    /// Exit once the existing objects are written
    #[arg(long)]
    exit_after_sync: bool,
    /// Exit after this many seconds
    #[arg(
        long,
        value_name = "N",
        value_parser = values::non_negative::<u64>,
        allow_negative_numbers = true
    )]
    seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table; redrawn on a terminal, otherwise a line per event
    Table,
    /// A JSON object per event: {"type": "ADDED", "object": {…}}
    Json,
}

/// Where changes are displayed.
trait View<K> {
    fn show(&mut self, change: &ResourceEvent<K>) -> io::Result<()>;
    /// No further events are pending.
    fn idle(&mut self) -> io::Result<()>;
    /// Time has passed.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// The watch has ended.
    fn end(&mut self) -> io::Result<()> {
        self.idle()
    }
}

pub(crate) async fn run(options: Options) -> Outcome {
    let terminal = io::stdout().is_terminal();
    let default = if terminal {
        Output::Table
    } else {
        Output::Json
    };
    let target = Target::find(&options).await?;
    let until = Until {
        synced: options.exit_after_sync,
        passed: options.seconds.map(Duration::from_secs),
    };
    let shown = match options.output.unwrap_or(default) {
        Output::Json => {
            let problems = Arc::new(Problems::on_stderr());
            follow::<Unstructured>(&target, JsonLines::new(), problems, until).await
        }
        Output::Table if terminal => {
            let problems = Arc::new(Problems::kept());
            let table = LiveTable::new(&target.resource, Arc::clone(&problems));
            follow::<Metadata<()>>(&target, table, problems, until).await
        }
        Output::Table => {
            let problems = Arc::new(Problems::on_stderr());
            follow::<Metadata<()>>(&target, TableLines::new(), problems, until).await
        }
    };
    match shown {
        // Standard output is closed.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        shown => Ok(shown?),
    }
}

/// The watched resource and its scope.
struct Target {
    client: Client,
    resource: ApiResource,
    selection: Selection,
}

impl Target {
    async fn find(options: &Options) -> Result<Self, Box<dyn Error>> {
        let client = options.cluster.connect()?;
        let discovery = client.discover().await.map_err(|error| {
            let server = client.transport().server();
            let text = if error.is_unauthorized() {
                format!("{server} does not accept the credentials of this kubeconfig and context")
            } else {
                format!("cannot discover the resources of {server}")
            };
            let error = error.into();
            Explained { text, error }
        })?;
        let found = discovery
            .resolve(&options.resource)
            .ok_or_else(|| unknown(&options.resource, &discovery))?;
        if !found.has_verb("watch") {
            return Err(format!("{} cannot be watched", options.resource).into());
        }
        let resource = found.resource.clone();
        let namespace = match &options.namespace {
            _ if options.all_namespaces || !resource.namespaced => None,
            Some(namespace) => Some(namespace.as_str().into()),
            None => Some(client.default_namespace().clone()),
        };
        let selection = Selection {
            namespace,
            labels: options.selector.to_string().into(),
            fields: options.field_selector.to_string().into(),
        };
        let target = Self {
            client,
            resource,
            selection,
        };
        target.check(options).await?;
        Ok(target)
    }

    /// Lists one object first, so that errors of the server (an unsupported field selector, missing
    /// permissions) end the command, where an informer would retry for ever.
    async fn check(&self, options: &Options) -> Result<(), Box<dyn Error>> {
        let all = Api::<Metadata<()>>::dynamic(self.client.clone(), &self.resource);
        let api = match &self.selection.namespace {
            Some(namespace) => all.in_namespace(namespace.clone()),
            None => all,
        };
        let one = ListOptions {
            label_selector: options.selector.clone(),
            field_selector: options.field_selector.clone(),
            limit: 1,
            ..ListOptions::default()
        };
        api.list(&one).await.map(drop).map_err(|error| {
            let text = format!("cannot list {}", self.resource.plural);
            let error = error.into();
            Explained { text, error }.into()
        })
    }
}

/// Lists similar resources.
fn unknown(word: &str, discovery: &Discovery) -> String {
    let start: String = word
        .chars()
        .take(3)
        .collect::<String>()
        .to_ascii_lowercase();
    let mut similar: Vec<&str> = discovery
        .resources()
        .iter()
        .map(|it| it.resource.plural.as_str())
        .filter(|plural| plural.starts_with(&start))
        .collect();
    similar.dedup();
    if similar.is_empty() {
        format!("the server has no resource {word:?}; `kubectl api-resources` lists what it has")
    } else {
        format!(
            "the server has no resource {word:?}; did you mean {}?",
            similar.join(", ")
        )
    }
}

/// Adds context to an error.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Explained {
    text: String,
    #[source]
    error: Box<dyn Error + Send + Sync>,
}
