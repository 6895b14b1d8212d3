//! Requests by curl, each on a connection of its own: no client library repeats one unseen.

use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How long an answer may take, in seconds.
const ANSWER: &str = "10";
/// The same for a list of everything.
const LIST: &str = "120";
/// Only the metadata of a list.
const METADATA: &str = "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// A server, with the administrator's token.
#[derive(Clone)]
pub(super) struct Web {
    url: String,
    authorization: String,
}

/// An answer of any status.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Answer {
    /// Returns the body of a success; another status is an error with the server's message.
    pub(super) fn success(self) -> Outcome<Value> {
        match self.status {
            200..=299 => Ok(self.body),
            status => Err(format!("{status}: {}", self.body["message"]).into()),
        }
    }
}

impl Web {
    pub(super) fn new(url: &str, token: &str) -> Self {
        Self {
            url: url.to_owned(),
            authorization: format!("Authorization: Bearer {token}"),
        }
    }

    fn command(&self, seconds: Option<&str>) -> Command {
        let mut command = Command::new("curl");
        command
            .args(["--silent", "--show-error", "--insecure", "--header"])
            .arg(&self.authorization);
        if let Some(seconds) = seconds {
            command.args(["--max-time", seconds]);
        }
        command
    }

    /// Sends a request, with a body as JSON or, for PATCH, as a merge patch.
    pub(super) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome<Answer> {
        let mut command = self.command(Some(ANSWER));
        command.args(["--request", method]);
        if body.is_some() {
            let form = if method == "PATCH" {
                "merge-patch+"
            } else {
                ""
            };
            command
                .args(["--header", &format!("Content-Type: application/{form}json")])
                .args(["--data-binary", "@-"]);
        }
        self.answer(command, path, body)
    }

    pub(super) fn get(&self, path: &str) -> Outcome<Value> {
        self.send("GET", path, None)?.success()
    }

    /// Lists everything at a path: the metadata alone.
    pub(super) fn list(&self, path: &str) -> Outcome<Value> {
        let mut command = self.command(Some(LIST));
        command.args(["--header", METADATA]);
        self.answer(command, path, None)?.success()
    }

    fn answer(&self, mut command: Command, path: &str, body: Option<&Value>) -> Outcome<Answer> {
        let mut child = command
            .args(["--write-out", "\n%{http_code}"])
            .arg(format!("{}{path}", self.url))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let (Some(mut stdin), Some(body)) = (child.stdin.take(), body) {
            // If curl has ended already, it says why.
            stdin.write_all(body.to_string().as_bytes()).ok();
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().into());
        }
        let text = String::from_utf8(output.stdout)?;
        let (text, status) = text.rsplit_once('\n').ok_or("curl printed no status")?;
        Ok(Answer {
            status: status.parse()?,
            body: serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        })
    }

    /// Creates objects at a path, several at the same time on few connections.
    pub(super) fn create_all(&self, path: &str, objects: &[Value], folder: &Path) -> Outcome {
        let mut text = String::from("parallel\nparallel-max = 8\nfail-early\n");
        for object in objects {
            let body = object
                .to_string()
                .replace('\\', "\\\\")
                .replace('"', "\\\"");
            let (url, authorization) = (&self.url, &self.authorization);
            write!(
                text,
                "next\nurl = \"{url}{path}\"\nheader = \"{authorization}\"\n\
                 header = \"Content-Type: application/json\"\ndata = \"{body}\"\n\
                 insecure\nsilent\nshow-error\nfail\noutput = \"/dev/null\"\n"
            )?;
        }
        let file = folder.join("requests");
        std::fs::write(&file, text)?;
        let output = Command::new("curl").arg("--config").arg(&file).output()?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("creating {path}: {}", message.trim()).into())
    }

    /// Starts a request whose answer is lines without an end. `body` makes it a POST.
    pub(super) fn follow(&self, path: &str, body: Option<&str>) -> Outcome<Child> {
        let mut command = self.command(None);
        command.arg("--no-buffer");
        if let Some(body) = body {
            command.args(["--data", body]);
        }
        Ok(command
            .arg(format!("{}{path}", self.url))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?)
    }
}
