//! `kubist watch`: a shared informer as a command.
//!
//! On a terminal it shows the rows that the server makes of the objects, as `kubectl get` does, on
//! an alternate screen; otherwise a JSON object or a row per event. The informer is the same for
//! both: rows and objects are what it stores.

mod arrivals;
mod browse;
mod connection;
mod follow;
mod following;
mod lines;
mod problems;
mod row;
mod row_decoder;
mod row_lines;
mod row_source;
mod screen;
mod summary;
mod terminal;

use self::browse::browse;
use self::follow::{Until, follow};
use self::lines::JsonLines;
use self::row_lines::RowLines;
use self::row_source::RowSource;
use self::screen::Screen;
use self::terminal::AlternateScreen;
use super::cluster::ClusterOptions;
use super::{Outcome, values};
use clap::{Args, ValueEnum};
use kubist_apimachinery::{ApiResource, FieldSelector, ListOptions, Selector, Unstructured};
use kubist_cache::{Metadata, ResourceEvent, Selection, Source as _};
use kubist_client::{Api, Client, Discovery};
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
RESOURCE is a plural, singular or short name, or a kind, followed by a dot and the group where it is
ambiguous: pods, pod, po, deployments.apps, deploy, events.events.k8s.io.
The cluster is that of --kubeconfig, else of the files in KUBECONFIG, else of ~/.kube/config, else
the one in which this program runs. A summary is printed to standard error at the end.

On a terminal, the objects are shown on a screen of their own, with what has changed highlighted:
up, down, j, k   move              /  filter by text       w  all columns
Enter            details           Esc  back               q  quit
Of Secrets, the details show only sizes; s shows the values.

Examples:
  kubist watch pods -A
  kubist watch pods -A -o wide --no-screen
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
    /// A line per event, also on a terminal
    #[arg(long)]
    no_screen: bool,
    /// Exit once the existing objects are written, a line for each
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
    /// The columns of the kind; on a terminal a screen, otherwise a line per event
    Table,
    /// The same, with the columns that are for wide terminals
    Wide,
    /// A JSON object per event: {"type": "ADDED", "object": {…}}
    Json,
}

/// Where changes are written.
trait View<K> {
    fn show(&mut self, change: &ResourceEvent<K>) -> io::Result<()>;
    /// No further events are pending.
    fn idle(&mut self) -> io::Result<()>;
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
    let output = options.output.unwrap_or(default);
    let wide = output == Output::Wide;
    let Target {
        client,
        resource,
        selection,
    } = &target;
    let on_screen =
        terminal && output != Output::Json && !options.no_screen && !options.exit_after_sync;
    // Where there is none, lines are what remains.
    let alternate = on_screen.then(AlternateScreen::enter).and_then(Result::ok);
    let shown = if let Some(alternate) = alternate {
        let with_namespaces = resource.namespaced && selection.namespace.is_none();
        let context = options.cluster.name(client);
        let screen = Screen::new(resource, &context, with_namespaces, wide);
        browse(&target, alternate, screen, until.passed).await
    } else if output == Output::Json {
        let source = client.dynamic_lister_watcher::<Unstructured>(resource, selection);
        follow(&target, source, JsonLines::new(), until).await
    } else {
        let source = Arc::new(RowSource::new(client, resource, selection));
        follow(&target, source, RowLines::new(wide), until).await
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
