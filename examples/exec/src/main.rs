//! `exec POD [-c CONTAINER] -- COMMAND…` runs a command in a container, with this program's input
//! and output, and ends with its exit code.

use kubist::api::core::v1::Pod;
use kubist::apimachinery::Str;
use kubist::client::{Api, Client, ExecOptions};
use std::error::Error;
use std::process::ExitCode;
use tokio::io::{AsyncWriteExt as _, copy, stderr, stdin, stdout};

const USAGE: &str = "usage: exec POD [-c CONTAINER] -- COMMAND…";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Request {
        pod,
        container,
        command,
    } = Request::parse(&arguments).ok_or(USAGE)?;
    let code = run(kubist::infer()?, &pod, container, &command).await?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

#[derive(Debug, PartialEq)]
struct Request {
    pod: Str,
    container: Option<Str>,
    command: Vec<String>,
}

impl Request {
    fn parse(arguments: &[String]) -> Option<Self> {
        let dashes = arguments.iter().position(|it| it == "--")?;
        let (before, command) = (&arguments[..dashes], &arguments[dashes + 1..]);
        let (pod, container) = match before {
            [pod] => (pod, None),
            [pod, flag, container] if flag == "-c" => (pod, Some(container.as_str().into())),
            _ => return None,
        };
        (!command.is_empty()).then(|| Self {
            pod: pod.as_str().into(),
            container,
            command: command.to_vec(),
        })
    }
}

/// Runs a command and returns its exit code.
async fn run(
    client: Client,
    pod: &str,
    container: Option<Str>,
    command: &[String],
) -> Result<i32, Box<dyn Error>> {
    let pods: Api<Pod> = Api::default_namespaced(client);
    let options = ExecOptions {
        container,
        stdin: true,
        ..ExecOptions::default()
    };
    let command = command.iter().map(String::as_str);
    let mut process = pods.exec(pod, command, &options).await?;
    let connected = "the stream was asked for";
    let mut input = process.stdin().ok_or(connected)?;
    let mut output = process.stdout().ok_or(connected)?;
    let mut errors = process.stderr().ok_or(connected)?;
    let send = async {
        copy(&mut stdin(), &mut input).await?;
        input.shutdown().await // the command sees the end
    };
    let receive = async {
        let (mut out, mut err) = (stdout(), stderr());
        tokio::try_join!(copy(&mut output, &mut out), copy(&mut errors, &mut err))?;
        tokio::try_join!(out.flush(), err.flush())?;
        Ok::<_, std::io::Error>(())
    };
    // The output ends with the command, which need not read all of the input.
    tokio::select! {
        received = receive => received?,
        Err(error) = send => return Err(error.into()),
    }
    Ok(process.wait().await?.code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::api::core::v1::Container;
    use kubist::{Server, ServerConfig};

    fn parse(arguments: &[&str]) -> Option<Request> {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        Request::parse(&arguments)
    }

    #[test]
    fn a_command_comes_after_two_dashes() {
        let request = parse(&["web-0", "-c", "proxy", "--", "ls", "-l"]).expect("it is valid");
        assert_eq!(
            (&*request.pod, request.container.as_deref()),
            ("web-0", Some("proxy"))
        );
        assert_eq!(request.command, ["ls", "-l"]);
        for wrong in [
            &[][..],
            &["web-0", "ls"],
            &["--", "ls"],
            &["web-0", "--"],
            &["web-0", "-c", "--", "ls"],
        ] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }

    #[tokio::test]
    async fn a_pod_that_is_not_there_or_does_not_run_is_named() -> Result<(), Box<dyn Error>> {
        let server = Server::start(ServerConfig::default()).await?;
        let ran = run(server.client(), "web-0", None, &["ls".to_owned()]).await;
        let error = ran.expect_err("there is none").to_string();
        assert!(error.contains("web-0"), "{error}");

        let pods: Api<Pod> = Api::default_namespaced(server.client());
        let mut pod = Pod::default();
        pod.metadata.name = "web-0".into();
        pod.spec.containers = vec![Container {
            name: "web".into(),
            image: "image:1".into(),
            ..Container::default()
        }];
        pods.create(&pod).await?;
        let ran = run(server.client(), "web-0", None, &["ls".to_owned()]).await;
        let error = ran.expect_err("it has no node").to_string();
        assert!(error.contains("does not have a host assigned"), "{error}");
        server.shutdown().await;
        Ok(())
    }
}
