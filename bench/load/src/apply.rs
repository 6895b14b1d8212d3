//! Server-side apply to a Deployment with three managers, and writes of objects with managed fields
//! and without.
//!
//! Each client has objects of its own and waits for an answer before the next request. Bodies of
//! applies are JSON, as client-go sends them.

use crate::Failure;
use crate::deployment::{self, CONTROLLER, DEPLOYER, SCALER};
use crate::lags::Lags;
use crate::measured::measured;
use crate::server::{Server, config_map, config_maps};
use bytes::Bytes;
use clap::Args;
use futures::future::try_join_all;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Duration of each case
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The number of the round, which is part of all names
    #[arg(long, default_value_t = 0)]
    round: u32,
    /// Only the creates and updates, for a server without managed fields
    #[arg(long)]
    plain: bool,
    /// Only cases whose name contains this text
    #[arg(long, default_value = "")]
    only: String,
}

/// A kind of object that is created and updated.
#[derive(Clone, Copy)]
enum Kind {
    ConfigMap,
    Deployment,
}

/// What each request of a case does.
#[derive(Clone, Copy)]
enum Case {
    Create(Kind),
    /// Changes an object with managed fields, if the server has them.
    Update(Kind),
    /// Changes an object whose managed fields were removed.
    UpdateReset(Kind),
    ApplyChange,
    ApplySame,
    /// Two managers take one field from each other.
    ApplyForced,
}

const PLAIN: [Case; 4] = [
    Case::Create(Kind::ConfigMap),
    Case::Update(Kind::ConfigMap),
    Case::Create(Kind::Deployment),
    Case::Update(Kind::Deployment),
];

const MANAGED: [Case; 5] = [
    Case::UpdateReset(Kind::ConfigMap),
    Case::UpdateReset(Kind::Deployment),
    Case::ApplyChange,
    Case::ApplySame,
    Case::ApplyForced,
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Deployment => "Deployment",
        }
    }

    fn collection(self) -> String {
        match self {
            Self::ConfigMap => config_maps(),
            Self::Deployment => deployment::collection(),
        }
    }

    /// Returns an object; another number makes it differ in one field.
    fn object(self, name: &str, number: usize) -> Value {
        match self {
            Self::ConfigMap => config_map(name, &format!("number {number}")),
            Self::Deployment => deployment::whole(name, number),
        }
    }
}

impl Case {
    fn name(self) -> String {
        match self {
            Self::Create(kind) => format!("create, {}", kind.name()),
            Self::Update(kind) => format!("update, {}", kind.name()),
            Self::UpdateReset(kind) => format!("update, {}, no managers", kind.name()),
            Self::ApplyChange => "apply, one field changes".to_owned(),
            Self::ApplySame => "apply, nothing changes".to_owned(),
            Self::ApplyForced => "apply, forced conflict".to_owned(),
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Create(kind) | Self::Update(kind) | Self::UpdateReset(kind) => kind,
            Self::ApplyChange | Self::ApplySame | Self::ApplyForced => Kind::Deployment,
        }
    }

    /// Returns how many managers its object has, where that is part of the case.
    fn managers(self) -> Option<usize> {
        match self {
            Self::Create(_) | Self::Update(_) => None,
            Self::UpdateReset(_) => Some(0),
            Self::ApplyChange | Self::ApplySame | Self::ApplyForced => Some(3),
        }
    }
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    let managed = if options.plain { &[][..] } else { &MANAGED };
    let cases = PLAIN.iter().chain(managed);
    for &case in cases.filter(|it| it.name().contains(&options.only)) {
        let clients = (0..options.clients).map(|client| Client {
            server,
            case,
            name: name(case, options.round, client),
        });
        let clients: Vec<_> = clients.collect();
        try_join_all(clients.iter().map(Client::prepare)).await?;
        let limit = Duration::from_secs_f64(options.seconds);
        let writes = clients.iter().map(|it| it.write(limit));
        let line = measured(server, &case.name(), writes).await?;
        try_join_all(clients.iter().map(Client::check)).await?;
        println!("{line}");
    }
    Ok(())
}

fn name(case: Case, round: u32, client: usize) -> String {
    let case = case
        .name()
        .to_lowercase()
        .replace(", ", "-")
        .replace(' ', "-");
    format!("{case}-{round}-{client}")
}

/// One of the clients of a case, and its object.
struct Client<'a> {
    server: &'a Server,
    case: Case,
    name: String,
}

impl Client<'_> {
    fn object(&self) -> String {
        format!("{}/{}", self.case.kind().collection(), self.name)
    }

    /// Creates the object of the case, with its managers.
    async fn prepare(&self) -> Result<(), Failure> {
        let kind = self.case.kind();
        match self.case {
            Case::Create(_) => return Ok(()),
            Case::Update(_) => self.create(&self.name, 0).await?,
            Case::UpdateReset(_) => {
                self.create(&self.name, 0).await?;
                let reset = json!({"metadata": {"managedFields": [{}]}});
                self.patch(&self.object(), MERGE, &reset).await?;
            }
            Case::ApplyChange | Case::ApplySame | Case::ApplyForced => {
                self.apply(DEPLOYER, &kind.object(&self.name, 0)).await?;
                self.apply(SCALER, &deployment::part(&self.name, None))
                    .await?;
                let status = format!("{}/status?fieldManager={CONTROLLER}", self.object());
                self.patch(&status, MERGE, &deployment::status()).await?;
            }
        }
        self.check().await
    }

    /// Sends requests until the time is over.
    async fn write(&self, limit: Duration) -> Result<Lags, Failure> {
        let (start, mut lags) = (Instant::now(), Lags::default());
        while start.elapsed() < limit {
            let begun = Instant::now();
            self.once(lags.len() + 1).await?;
            lags.push(begun.elapsed());
        }
        Ok(lags)
    }

    async fn once(&self, number: usize) -> Result<(), Failure> {
        let kind = self.case.kind();
        match self.case {
            Case::Create(_) => self.create(&format!("{}-{number}", self.name), 0).await,
            Case::Update(_) | Case::UpdateReset(_) => {
                let object = kind.object(&self.name, number);
                self.server.send(Method::PUT, &self.object(), &object).await
            }
            Case::ApplyChange => self.apply(DEPLOYER, &kind.object(&self.name, number)).await,
            Case::ApplySame => self.apply(DEPLOYER, &kind.object(&self.name, 0)).await,
            Case::ApplyForced if number % 2 == 0 => {
                self.apply(DEPLOYER, &kind.object(&self.name, 0)).await
            }
            Case::ApplyForced => {
                self.apply(SCALER, &deployment::part(&self.name, Some(7)))
                    .await
            }
        }
    }

    async fn create(&self, name: &str, number: usize) -> Result<(), Failure> {
        let kind = self.case.kind();
        let object = kind.object(name, number);
        self.server
            .send(Method::POST, &kind.collection(), &object)
            .await
    }

    async fn apply(&self, manager: &str, object: &Value) -> Result<(), Failure> {
        let force = matches!(self.case, Case::ApplyForced);
        let path = format!("{}?fieldManager={manager}&force={force}", self.object());
        self.patch(&path, APPLY, object).await
    }

    async fn patch(&self, path: &str, content_type: &str, body: &Value) -> Result<(), Failure> {
        let body = Bytes::from(body.to_string());
        self.server
            .send_as(Method::PATCH, path, content_type, body)
            .await
    }

    /// Fails unless the object has the managers of the case.
    async fn check(&self) -> Result<(), Failure> {
        let Some(expected) = self.case.managers() else {
            return Ok(());
        };
        let body = self.server.read(&self.object(), "application/json").await?;
        let object: Value = serde_json::from_slice(&body)?;
        let managers = &object["metadata"]["managedFields"];
        let found = managers.as_array().map_or(0, Vec::len);
        if found != expected {
            let object = self.object();
            return Err(format!("{object}: {expected} managers expected: {managers}").into());
        }
        Ok(())
    }
}
