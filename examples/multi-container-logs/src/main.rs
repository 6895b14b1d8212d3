//! `multi-container-logs SELECTOR` follows the logs of all containers of the Pods that a label
//! selector names, as they are written.

use futures_util::StreamExt as _;
use futures_util::stream::{self, select_all};
use kubist::api::core::v1::Pod;
use kubist::apimachinery::{ListOptions, Str};
use kubist::client::{Api, Client, LogLine, LogOptions};
use std::error::Error;
use std::io::Write;

/// Lines from before the start, of each container.
const TAIL: i64 = 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let selector = std::env::args().nth(1);
    let selector = selector.ok_or("usage: multi-container-logs SELECTOR, as in app=web")?;
    follow(kubist::infer()?, &selector, &mut std::io::stdout()).await
}

/// Writes lines until all containers have ended.
async fn follow(
    client: Client,
    selector: &str,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let pods: Api<Pod> = Api::default_namespaced(client);
    let labels = selector.parse();
    let selected = ListOptions {
        label_selector: labels.map_err(|error| format!("{selector}: {error}"))?,
        ..ListOptions::default()
    };
    let found = pods.list(&selected).await?.items;
    if found.is_empty() {
        return Err(format!("no Pod has the labels {selector}").into());
    }
    let mut logs = Vec::with_capacity(found.len());
    for pod in &found {
        let options = LogOptions {
            containers: containers(pod),
            follow: true,
            tail_lines: Some(TAIL),
            ..LogOptions::default()
        };
        let name = pod.metadata.name.clone();
        let lines = pods.log_lines(&name, &options).await;
        let lines = lines.map_err(|error| format!("the logs of {name}: {error}"))?;
        logs.push(stream::repeat(name).zip(lines));
    }
    let mut logs = select_all(logs);
    while let Some((pod, line)) = logs.next().await {
        // One container may be gone: the others go on.
        match line {
            Ok(line) => write(out, &pod, &line)?,
            Err(error) => writeln!(out, "{pod}: {error}")?,
        }
    }
    Ok(())
}

/// All containers that have a log, in the order in which they start.
fn containers(pod: &Pod) -> Vec<Str> {
    let spec = &pod.spec;
    let started = spec.init_containers.iter().chain(&spec.containers);
    started.map(|it| it.name.clone()).collect()
}

fn write(out: &mut impl Write, pod: &str, line: &LogLine) -> std::io::Result<()> {
    writeln!(out, "{pod}/{}: {}", line.container, line.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::api::core::v1::Container;
    use kubist::{Server, ServerConfig};

    fn pod() -> Pod {
        let container = |name: &str| Container {
            name: name.into(),
            image: "image:1".into(),
            ..Container::default()
        };
        let mut pod = Pod::default();
        pod.metadata.name = "web-0".into();
        pod.metadata.labels.insert("app".into(), "web".into());
        pod.spec.init_containers = vec![container("prepare")];
        pod.spec.containers = vec![container("web"), container("proxy")];
        pod
    }

    #[test]
    fn a_line_begins_with_its_pod_and_container() -> Result<(), Box<dyn Error>> {
        assert_eq!(containers(&pod()), ["prepare", "web", "proxy"]);
        let mut line = LogLine::default();
        line.container = "proxy".into();
        line.text = "ready".to_owned();
        let mut out = Vec::new();
        write(&mut out, "web-0", &line)?;
        assert_eq!(String::from_utf8(out)?, "web-0/proxy: ready\n");
        Ok(())
    }

    /// Kubist's server has no nodes, but answers as one whose nodes cannot be reached.
    #[tokio::test]
    async fn why_there_are_no_logs_is_told() -> Result<(), Box<dyn Error>> {
        let server = Server::start(ServerConfig::default()).await?;
        let pods: Api<Pod> = Api::default_namespaced(server.client());
        let told = async |selector: &str| {
            let mut out = Vec::new();
            let followed = follow(server.client(), selector, &mut out).await;
            assert_eq!(out, b"");
            followed.map_err(|error| error.to_string())
        };
        assert_eq!(
            told("app=web").await,
            Err("no Pod has the labels app=web".to_owned())
        );
        let error = told("app in web").await.expect_err("it is no selector");
        assert!(error.starts_with("app in web: "), "{error}");

        pods.create(&pod()).await?;
        assert_eq!(told("app=web").await, Ok(()), "no container has started");
        let mut scheduled = pod();
        scheduled.metadata.name = "web-1".into();
        scheduled.spec.node_name = "node-7".into();
        pods.create(&scheduled).await?;
        let error = told("app=web").await.expect_err("there is no such node");
        assert!(error.starts_with("the logs of web-1: "), "{error}");
        assert!(error.contains("node-7"), "{error}");
        server.shutdown().await;
        Ok(())
    }
}
