//! `kubist watch`: a shared informer as a command.
//!
//! On a terminal it shows a table that is redrawn as things change, else one JSON object for each
//! event. The table needs names and times alone, so it asks for, and holds, metadata only.

mod arrivals;
mod follow;
mod lines;
mod problems;
mod summary;
mod table;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kubist::InferError;
use kubist_apimachinery::{ApiResource, FieldSelector, ListOptions, Selector, Unstructured};
use kubist_cache::{Metadata, ResourceEvent, Selection};
use kubist_client::{Api, Client, Discovery};
use kubist_kubeconfig::{KubeconfigError, Selection as KubeconfigSelection};

use self::follow::{Until, follow};
use self::lines::{JsonLines, TableLines};
use self::problems::Problems;
use self::table::LiveTable;
use super::{Outcome, values};

/// How often the table is redrawn, if anything changed or time passes.
const REDRAW: Duration = Duration::from_millis(200);
/// What to do where there is no cluster.
const ADVICE: &str = "name a file with --kubeconfig or KUBECONFIG (`kubist serve` writes one)";

#[derive(Args, Debug)]
#[command(after_help = "\
RESOURCE is a plural, singular or short name, or a kind, with the group behind a dot where it is not
clear: pods, pod, po, deployments.apps, deploy, events.events.k8s.io.
The cluster is that of --kubeconfig, else of the files in KUBECONFIG, else of ~/.kube/config, else
the one that this program runs in. A summary goes to standard error at the end.

Examples:
  kubist watch pods -A
  kubist watch deploy -n shop -l app.kubernetes.io/part-of=shop
  kubist watch pods --field-selector spec.nodeName=node-7 -o json | jq -r .object.metadata.name
  kubist watch events --seconds 60 > events.jsonl")]
pub(crate) struct Options {
    /// What to watch
    resource: String,
    /// The namespace; default: that of the kubeconfig's context
    #[arg(short, long, value_name = "NS", conflicts_with = "all_namespaces")]
    namespace: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only objects with these labels
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    selector: Selector,
    /// Only objects with these fields
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    field_selector: FieldSelector,
    /// The kubeconfig file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long)]
    context: Option<String>,
    /// What to write; default: table on a terminal, else json
    #[arg(short, long, value_enum)]
    output: Option<Output>,
    /// End as soon as what is there now was written
    #[arg(long)]
    exit_after_sync: bool,
    /// End after so many seconds
    #[arg(
        long,
        value_name = "N",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table; redrawn on a terminal, a line for each event elsewhere
    Table,
    /// A JSON object for each event: {"type": "ADDED", "object": {…}}
    Json,
}

/// Where changes are shown.
trait View<K> {
    fn show(&mut self, change: &ResourceEvent<K>) -> io::Result<()>;
    /// Nothing more waits to be shown.
    fn idle(&mut self) -> io::Result<()>;
    /// Time has passed.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// No more will be shown.
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
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        shown => Ok(shown?),
    }
}

/// What is watched, where.
struct Target {
    client: Client,
    resource: ApiResource,
    selection: Selection,
}

impl Target {
    async fn find(options: &Options) -> Result<Self, Box<dyn Error>> {
        let client = connect(options)?;
        let discovery = client.discover().await.map_err(|error| {
            let server = client.transport().server();
            let text = if error.is_unauthorized() {
                format!("{server} does not accept the credentials of this kubeconfig and context")
            } else {
                format!("cannot ask {server} what it serves")
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

    /// Asks for one object, so that what the server refuses (a field that cannot be selected, a
    /// right that is missing) ends the command, where an informer would try for ever.
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

/// A client of the cluster that the options and the environment name.
fn connect(options: &Options) -> Result<Client, Box<dyn Error>> {
    let found = kubist::infer_with(&kubist_kubeconfig::Options {
        file: options.kubeconfig.clone(),
        selection: KubeconfigSelection {
            context: options.context.clone(),
            ..KubeconfigSelection::default()
        },
    });
    found.map_err(|error| match &error {
        InferError::Kubeconfig(KubeconfigError::NotFound { .. }) => {
            format!("{error}; {ADVICE}").into()
        }
        InferError::Kubeconfig(KubeconfigError::NoContext { known }) if known.is_empty() => {
            format!("the kubeconfig has no contexts; {ADVICE}").into()
        }
        _ => error.into(),
    })
}

/// Names what could have been meant.
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

/// A sentence in front of an error.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Explained {
    text: String,
    #[source]
    error: Box<dyn Error + Send + Sync>,
}
