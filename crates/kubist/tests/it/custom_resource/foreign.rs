//! Generated types on a server that has their definition: the client, the informer and the
//! controller take them like built-in kinds.

use super::fig::{Fig, FigSpec, FigSpecColour, FigSpecRipeness, FigStatus};
use super::string::StringKind;
use super::{Server, ServerConfig, establish, old_fig};
use kubist::apimachinery::{IntOrString, ListOptions, ObjectName, PatchOptions, PostOptions};
use kubist::cache::{Encoded, Index};
use kubist::client::Api;
use kubist::controller::{Action, Controller, Error, Manager};
use kubist::informers::SharedInformerFactory;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

async fn serving() -> Server {
    let config = ServerConfig {
        controllers: [].into(),
        ..Default::default()
    };
    let server = Server::start(config).await.unwrap();
    let text = include_bytes!("../../../../codegen/tests/data/figs.yaml");
    for definition in kubist_codegen::read_definitions(text).unwrap() {
        establish(&server.client(), &definition).await;
    }
    server
}

fn fig(name: &str) -> Fig {
    Fig::new(
        name,
        FigSpec {
            colour: FigSpecColour::Green,
            port: IntOrString::from("http"),
            width: Some(None),
            ..FigSpec::default()
        },
    )
}

#[tokio::test]
async fn objects_are_written_and_read_without_loss_and_the_server_fills_in_defaults() {
    let server = serving().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    let created = figs.create(&fig("first")).await.unwrap();
    assert_eq!(created.spec.replicas, Some(1));
    assert_eq!(created.spec.ripeness, Some(FigSpecRipeness::Raw));
    assert_eq!((created.spec.width, created.spec.depth), (Some(None), None));

    let mut changed = created.clone();
    changed.spec.colour = FigSpecColour::DeepPurple;
    let mut replaced = figs.replace(&changed).await.unwrap();
    assert_eq!(replaced.spec, changed.spec);
    replaced.status = Some(FigStatus {
        replicas: Some(3),
        ..FigStatus::default()
    });
    let written = figs.replace_status(&replaced).await.unwrap();
    assert_eq!(written.status, replaced.status);
    let selected = ListOptions {
        field_selector: "spec.colour=deep-purple".parse().unwrap(),
        ..Default::default()
    };
    assert_eq!(figs.list(&selected).await.unwrap().items, [written]);

    let old: Api<old_fig::Fig> = Api::namespaced(server.client(), "default");
    let old = old.get("first").await.unwrap();
    assert_eq!(old.spec.colour.as_deref(), Some("deep-purple"));
    let strings: Api<StringKind> = Api::all(server.client());
    let mut thread = StringKind::default();
    thread.metadata.name = "a".into();
    thread.data = Some([("length".to_owned(), "3".to_owned())].into());
    let created = strings.create(&thread).await.unwrap();
    assert_eq!(created.data, thread.data);
    server.shutdown().await;
}

#[tokio::test]
async fn an_apply_owns_the_fields_that_are_set() {
    let server = serving().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    let options = PatchOptions {
        post: PostOptions {
            field_manager: "gardener".into(),
            ..Default::default()
        },
        ..Default::default()
    };
    let mut wanted = fig("first");
    wanted.spec.depth = Some(2); // an apply leaves out nulls, and this field is required
    let applied = figs.apply(&wanted, &options).await.unwrap();
    let fields = applied.metadata.managed_fields[0].fields_v1.clone();
    let fields = fields.unwrap().raw.to_string();
    assert!(fields.contains("f:colour"), "{fields}");
    assert!(!fields.contains("f:replicas"), "{fields}");
    server.shutdown().await;
}

#[tokio::test]
async fn an_informer_indexes_them_and_a_controller_reconciles_them() {
    let server = serving().await;
    let figs: Api<Fig> = Api::namespaced(server.client(), "default");
    figs.create(&fig("first")).await.unwrap();
    let factory = SharedInformerFactory::new(server.client());
    let informer = factory.informer::<Encoded<Fig>>();
    let by_colour = informer.add_index(Index::field("spec.colour"));
    let lister = informer.lister_unsynced();
    let (sender, mut seen) = mpsc::channel(8);
    let reconcile = move |key: ObjectName| {
        let sender = sender.clone();
        let green = lister.by_index(&by_colour, "green");
        async move {
            let green = green
                .iter()
                .map(|it| it.decode())
                .collect::<Result<Vec<_>, _>>();
            let green = green.map_err(Error::terminal)?;
            let colours: Vec<FigSpecColour> =
                green.iter().map(|it| it.spec.colour.clone()).collect();
            sender.send((key, colours)).await.map_err(Error::terminal)?;
            Ok::<_, Error>(Action::done())
        }
    };
    let controller = Controller::new("figs", &informer);
    let token = CancellationToken::new();
    let manager = Manager::new(factory).with(controller, reconcile);
    let run = tokio::spawn(manager.run(token.clone()));
    let seen = tokio::time::timeout(Duration::from_secs(30), seen.recv());
    let (key, colours) = seen.await.unwrap().unwrap();
    assert_eq!(key.to_string(), "default/first");
    assert_eq!(colours, [FigSpecColour::Green]);
    token.cancel();
    run.await.unwrap().unwrap();
    server.shutdown().await;
}
