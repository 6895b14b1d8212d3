//! Runs the binary, with time limits.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time limit of anything, on a machine that runs other tests.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The command in a directory, without configuration from the environment.
pub(crate) fn kubist(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubist"));
    command
        .current_dir(folder)
        .args(arguments)
        .env("HOME", folder)
        .env_remove("KUBIST_TOKEN")
        .env_remove("KUBECONFIG");
    command
}

/// Runs it to completion with `input` on standard input.
pub(crate) fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = kubist(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that fails early reads nothing; that is for the test to judge.
        drop(stdin.write_all(&input));
    });
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("writing does not panic");
    output
}

/// Returns standard output of a successful run.
pub(crate) fn succeed(folder: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = run(folder, arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{arguments:?}: {}: {errors}",
        output.status
    );
    output.stdout
}

/// Returns the single line of standard error of a failed run.
pub(crate) fn fail(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let output = run(folder, arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("kubist: "), "{errors}");
    errors
}

/// A command that keeps running. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_as(kubist(folder, arguments))
    }

    fn start_as(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let stdout = child.stdout.take().expect("it is piped");
        Self {
            child,
            lines: read_lines(stdout),
        }
    }

    /// Returns the next line of standard error; `None` if it has ended.
    pub(crate) fn error_line(&mut self) -> Option<String> {
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        let mut line = Vec::new();
        // Byte by byte: the rest is for the next reader.
        let mut byte = [0];
        while stderr.read(&mut byte).expect("it can be read") > 0 {
            if byte == *b"\n" {
                return Some(String::from_utf8(line).expect("it is text"));
            }
            line.extend(byte);
        }
        None
    }

    /// Returns the next line of standard output; `None` if it has ended.
    pub(crate) fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {DEADLINE:?}"),
        }
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its resident memory in bytes; 0 if unknown.
    pub(crate) fn memory(&self) -> u64 {
        let table = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let table = table.unwrap_or_default();
        let line = table.lines().find_map(|it| it.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix(" kB"));
        kilobytes.and_then(|it| it.trim().parse().ok()).unwrap_or(0) << 10
    }

    /// Sends SIGTERM and waits for the end. Returns the exit status and standard error.
    pub(crate) fn terminate(self) -> (ExitStatus, String) {
        self.end("-TERM")
    }

    /// The same with SIGINT, as for Ctrl-C.
    pub(crate) fn interrupt(self) -> (ExitStatus, String) {
        self.end("-INT")
    }

    /// The same with as many signals as it takes.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other process has its own clock"
    )]
    pub(crate) fn interrupt_until_it_ends(mut self) -> (ExitStatus, String) {
        let pid = self.child.id().to_string();
        for _ in 0..40 {
            if self.child.try_wait().expect("it is a child").is_some() {
                break;
            }
            let sent = Command::new("kill").args(["-INT", &pid]).status();
            sent.expect("there is a kill");
            std::thread::sleep(Duration::from_millis(250));
        }
        let ended = self.child.try_wait().expect("it is a child");
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        let ended = ended.expect("it ends within 10 s");
        stderr.read_to_string(&mut errors).expect("it is text");
        (ended, errors)
    }

    fn end(mut self, signal: &str) -> (ExitStatus, String) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("there is a kill").success());
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut errors).expect("it is text");
        (self.child.wait().expect("it ends"), errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read_lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// `kubist serve` on a free port.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(crate) ready: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Served {
    pub(crate) fn start(folder: &Path, further: &[&str]) -> Self {
        Self::start_as(kubist(folder, &[]), folder, further)
    }

    /// The same with a prepared command, for example with environment variables.
    pub(crate) fn start_as(mut command: Command, folder: &Path, further: &[&str]) -> Self {
        let kubeconfig = folder.join("admin.kubeconfig");
        let file = kubeconfig.to_str().expect("it is text");
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--kubeconfig", file];
        arguments.extend(further);
        command.args(arguments);
        let running = Running::start_as(command);
        let ready = running.line().expect("it says that it is ready");
        Self {
            running,
            ready,
            kubeconfig,
        }
    }

    /// Returns the status code of a request with a bearer token, on a separate connection.
    pub(crate) fn asked_with(&self, token: &str) -> u16 {
        use kubist::transport::{Auth, Body, Config, Transport, Verify};
        let url = self.ready.split(' ').nth(1).expect("it says where");
        let mut config = Config::new(url.parse().expect("it is a URL"));
        config.tls.verify = Verify::Nothing;
        config.auth = Auth::Bearer(token.to_owned().into());
        let transport = Transport::new(config).expect("it is complete");
        let request = http::Request::get("/api/v1/namespaces").body(Body::empty());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("there is room for one");
        runtime.block_on(async {
            let answer = transport.send(request.expect("it is valid"));
            let answer = tokio::time::timeout(DEADLINE, answer).await;
            answer
                .expect("in time")
                .expect("it answers")
                .status()
                .as_u16()
        })
    }
}
