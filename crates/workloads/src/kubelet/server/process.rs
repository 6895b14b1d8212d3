//! What a simulated container answers to commands and to input. No I/O.
//!
//! A few commands do what everybody expects: `echo`, `cat`, `hostname`, `true`, `false`, `exit`,
//! and a shell that knows these. Any other says that it did not run, and succeeds.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::Object as _;

/// The longest line of a shell; what is longer is cut.
const LINE_BYTES_MAX: usize = 4 << 10;

/// What a process writes, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Exit(i32),
}

/// A process that does not exist.
#[derive(Debug)]
pub(super) struct Process {
    kind: Kind,
    container: Named,
    tty: bool,
    /// Whether somebody is attached to it, who learns nothing of its exit code.
    attached: bool,
    line: Vec<u8>,
}

/// Where it would run.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The container, quoted, and its Pod.
    text: String,
    hostname: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Writes what it reads.
    Copy,
    /// Reads commands.
    Shell,
    Ended,
}

impl Named {
    pub(super) fn new(pod: &Pod, container: &str) -> Self {
        let hostname = match pod.spec.hostname.as_str() {
            "" => pod.name(),
            hostname => hostname,
        };
        Self {
            text: format!("{container:?} of pod {}/{}", pod.namespace(), pod.name()),
            hostname: hostname.to_owned(),
        }
    }
}

impl Process {
    /// Starts a command.
    pub(super) fn start(
        container: Named,
        command: &[String],
        stdin: bool,
        tty: bool,
    ) -> (Self, Vec<Output>) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let program = words.first().map(|it| it.rsplit('/').next().unwrap_or(it));
        let mut process = Self {
            kind: Kind::Ended,
            container,
            tty,
            attached: false,
            line: Vec::new(),
        };
        let output = match (program, &words[..]) {
            (Some("cat"), [_]) if stdin => {
                process.kind = Kind::Copy;
                Vec::new()
            }
            (Some("sh" | "bash" | "ash"), [_]) if stdin => {
                process.kind = Kind::Shell;
                let text = format!(
                    "kubist: container {} is simulated; this shell knows echo, hostname, true, \
                     false and exit\n",
                    process.container.text
                );
                let mut output = vec![process.noted(&text)];
                output.extend(process.prompt());
                output
            }
            (Some("sh" | "bash" | "ash"), [_, "-c", script, ..]) => {
                process.run(&script.split_whitespace().collect::<Vec<_>>())
            }
            _ => process.run(&words),
        };
        (process, output)
    }

    /// Attaches to a container. Whoever has a terminal gets a shell.
    pub(super) fn attach(container: Named, stdin: bool, tty: bool) -> (Self, Vec<Output>) {
        let kind = match (stdin, tty) {
            (true, true) => Kind::Shell,
            (true, false) => Kind::Copy,
            (false, _) => Kind::Ended,
        };
        let process = Self {
            kind,
            container,
            tty,
            attached: true,
            line: Vec::new(),
        };
        let text = format!(
            "kubist: attached to simulated container {}\n",
            process.container.text
        );
        let mut output = vec![process.noted(&text)];
        output.extend(process.prompt().filter(|_| kind == Kind::Shell));
        (process, output)
    }

    /// Takes input.
    pub(super) fn input(&mut self, bytes: &[u8]) -> Vec<Output> {
        match self.kind {
            Kind::Copy => vec![Output::Stdout(bytes.to_vec())],
            Kind::Shell => {
                let mut output = Vec::new();
                for byte in bytes {
                    self.type_key(*byte, &mut output);
                }
                output
            }
            Kind::Ended => Vec::new(),
        }
    }

    /// Notes the end of the input.
    pub(super) fn end(&mut self) -> Vec<Output> {
        let mut output = Vec::new();
        if self.kind == Kind::Shell && !self.line.is_empty() {
            self.enter(&mut output);
        }
        if self.kind != Kind::Ended {
            self.kind = Kind::Ended;
            output.push(Output::Exit(0));
        }
        output
    }

    fn type_key(&mut self, key: u8, output: &mut Vec<Output>) {
        const END_OF_TEXT: u8 = 0x03;
        const END_OF_TRANSMISSION: u8 = 0x04;
        const DELETE: u8 = 0x7f;
        if self.kind == Kind::Ended {
            return;
        }
        match key {
            b'\r' | b'\n' => {
                if self.tty {
                    output.push(self.written("\n"));
                }
                self.enter(output);
            }
            END_OF_TRANSMISSION if self.tty && self.line.is_empty() => output.extend(self.end()),
            END_OF_TEXT if self.tty => {
                self.line.clear();
                output.push(self.written("^C\n"));
                output.extend(self.prompt());
            }
            DELETE if self.tty => {
                let erased = self.line.pop().map(|_| b"\x08 \x08".to_vec());
                output.extend(erased.map(Output::Stdout));
            }
            key if self.line.len() < LINE_BYTES_MAX => {
                self.line.push(key);
                if self.tty {
                    output.push(Output::Stdout(vec![key]));
                }
            }
            _ => {}
        }
    }

    /// Runs the line.
    fn enter(&mut self, output: &mut Vec<Output>) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut written = if words.is_empty() {
            Vec::new()
        } else {
            self.run(&words)
        };
        let ends = words.first() == Some(&"exit");
        if ends {
            self.kind = Kind::Ended;
        } else {
            written.retain(|it| !matches!(it, Output::Exit(_)));
            written.extend(self.prompt());
        }
        output.extend(written);
    }

    /// Returns what a command writes, and its exit code.
    fn run(&self, words: &[&str]) -> Vec<Output> {
        let program = words.first().map(|it| it.rsplit('/').next().unwrap_or(it));
        let rest = words.get(1..).unwrap_or_default();
        match program {
            Some("true") => vec![Output::Exit(0)],
            Some("false") => vec![Output::Exit(1)],
            Some("exit") => {
                let code = rest.first().map_or(Ok(0), |it| it.parse::<u8>());
                let code = code.map_or(2, i32::from);
                vec![Output::Exit(if self.attached { 0 } else { code })]
            }
            Some("echo") => {
                let text = format!("{}\n", rest.join(" "));
                vec![self.written(&text), Output::Exit(0)]
            }
            Some("hostname") => {
                let text = format!("{}\n", self.container.hostname);
                vec![self.written(&text), Output::Exit(0)]
            }
            _ => {
                let text = format!(
                    "kubist: container {} is simulated; the command was: {}\n",
                    self.container.text,
                    words.join(" ")
                );
                vec![self.noted(&text), Output::Exit(0)]
            }
        }
    }

    fn prompt(&self) -> Option<Output> {
        self.tty.then(|| Output::Stdout(b"$ ".to_vec()))
    }

    fn written(&self, text: &str) -> Output {
        Output::Stdout(self.lines(text))
    }

    /// What a real process would not write.
    fn noted(&self, text: &str) -> Output {
        Output::Stderr(self.lines(text))
    }

    /// Terminals want both characters at the end of a line.
    fn lines(&self, text: &str) -> Vec<u8> {
        if self.tty {
            text.replace('\n', "\r\n").into_bytes()
        } else {
            text.as_bytes().to_vec()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> Named {
        let mut pod = Pod::default();
        pod.metadata.name = "web-1".into();
        pod.metadata.namespace = "shop".into();
        Named::new(&pod, "main")
    }

    fn start(command: &[&str], stdin: bool, tty: bool) -> (Process, String) {
        let command: Vec<_> = command.iter().map(|it| (*it).to_owned()).collect();
        let (process, output) = Process::start(named(), &command, stdin, tty);
        (process, shown(&output))
    }

    fn shown(output: &[Output]) -> String {
        let part = |it: &Output| match it {
            Output::Stdout(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Output::Stderr(bytes) => format!("<{}>", String::from_utf8_lossy(bytes)),
            Output::Exit(code) => format!("[{code}]"),
        };
        output.iter().map(part).collect()
    }

    #[test]
    fn commands_answer_and_end() {
        for (command, answer) in [
            (&["echo", "a", "b"][..], "a b\n[0]"),
            (&["/bin/true"], "[0]"),
            (&["false"], "[1]"),
            (&["sh", "-c", "exit 3"], "[3]"),
            (&["sh", "-c", "exit x"], "[2]"),
            (&["hostname"], "web-1\n[0]"),
            (
                &["ls", "-l"],
                "<kubist: container \"main\" of pod shop/web-1 is simulated; the command was: ls \
                 -l\n>[0]",
            ),
        ] {
            assert_eq!(start(command, false, false).1, answer);
        }
    }

    #[test]
    fn input_is_copied_until_it_ends() {
        let (mut process, begin) = start(&["cat"], true, false);
        assert_eq!(begin, "");
        assert_eq!(shown(&process.input(b"abc")), "abc");
        assert_eq!(shown(&process.end()), "[0]");
        assert_eq!(shown(&process.end()), "", "it ends once");
    }

    #[test]
    fn a_shell_reads_lines_and_its_exit_code() {
        let (mut process, begin) = start(&["sh"], true, true);
        assert!(begin.ends_with("false and exit\r\n>$ "), "{begin}");
        assert_eq!(shown(&process.input(b"ech")), "ech");
        assert_eq!(
            shown(&process.input(b"x\x7fo hi\r")),
            "x\x08 \x08o hi\r\nhi\r\n$ "
        );
        assert_eq!(shown(&process.input(b"zz\x03")), "zz^C\r\n$ ");
        assert_eq!(shown(&process.input(b"exit 4\rmore")), "exit 4\r\n[4]");
        let (mut piped, _) = start(&["sh"], true, false);
        assert_eq!(shown(&piped.input(b"echo 1\necho 2")), "1\n");
        assert_eq!(shown(&piped.end()), "2\n[0]");
    }

    #[test]
    fn what_is_attached_without_input_stays() {
        let (mut process, output) = Process::attach(named(), false, false);
        let expected = "<kubist: attached to simulated container \"main\" of pod shop/web-1\n>";
        assert_eq!(shown(&output), expected);
        assert_eq!(process.input(b"x"), []);
        let (mut shell, output) = Process::attach(named(), true, true);
        assert!(shown(&output).ends_with("$ "));
        assert_eq!(shown(&shell.input(b"exit 2\r")), "exit 2\r\n[0]");
    }
}
