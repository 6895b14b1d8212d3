//! `kubist watch` on a terminal: keys in, the screen out.

use crate::command::{DEADLINE, Served, kubist};
use kubist::api::core::v1::ConfigMap;
use kubist::client::Api;
use kubist::kubeconfig::Options;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

const ENTER_SCREEN: &str = "\u{1b}[?1049h";
const LEAVE_SCREEN: &str = "\u{1b}[?1049l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// A pseudo-terminal with a command on it, as far as the command's output needs one.
struct Screen {
    controller: File,
    /// The command's side, for its modes.
    terminal: File,
    child: Child,
    output: Receiver<String>,
    lines: Vec<Vec<char>>,
    at: (usize, usize),
    raw: String,
}

impl Screen {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_as("xterm", folder, arguments)
    }

    /// Starts it on a terminal of this type.
    fn start_as(kind: &str, folder: &Path, arguments: &[&str]) -> Self {
        let controller =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap();
        let path = path.into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let controller = File::from(controller);
        let terminal = open();
        let lines = resized(&controller, 80, 12);
        let child = kubist(folder, arguments)
            .env("TERM", kind)
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        Self {
            output: read(controller.try_clone().unwrap()),
            controller,
            terminal,
            child,
            lines,
            at: (0, 0),
            raw: String::new(),
        }
    }

    fn resize(&mut self, width: u16, height: u16) {
        self.lines = resized(&self.controller, width, height);
    }

    fn press(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.unwrap().success());
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(String::from_iter);
        let lines = lines.map(|line: String| line.trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Waits until the screen is as it should be.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other process has its own clock"
    )]
    fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) {
        // It is drawn again and again, so a limit of the time without output is none.
        let begun = Instant::now();
        while !holds(&self.text()) {
            let left = DEADLINE.saturating_sub(begun.elapsed());
            let Ok(more) = self.output.recv_timeout(left) else {
                panic!("never {what}:\n{}\n{:?}", self.text(), self.raw);
            };
            self.raw.push_str(&more);
            self.print(&more);
        }
    }

    fn shows(&mut self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    /// Places, clears and characters; everything else changes only how they look.
    fn print(&mut self, text: &str) {
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            if let Some(code) = rest.strip_prefix("\u{1b}[") {
                let end = code.find(|it: char| it.is_ascii_alphabetic()).unwrap();
                let numbers: Vec<usize> = code[..end].split(';').flat_map(str::parse).collect();
                match (&code[end..=end], &numbers[..]) {
                    ("H", [y, x]) => self.at = (y - 1, x - 1),
                    ("H", _) => self.at = (0, 0),
                    ("J", _) => self.lines.iter_mut().for_each(|line| line.fill(' ')),
                    _ => {}
                }
                rest = &code[end + 1..];
                continue;
            }
            rest = &rest[character.len_utf8()..];
            let (y, x) = self.at;
            match character {
                '\r' => self.at = (y, 0),
                '\n' => self.at = (y + 1, x),
                _ => {
                    if let Some(cell) = self.lines.get_mut(y).and_then(|it| it.get_mut(x)) {
                        *cell = character;
                    }
                    self.at = (y, x + 1);
                }
            }
        }
    }

    /// Waits for the end with its summary; returns the exit code. The terminal must be as it was.
    fn end(mut self) -> Option<i32> {
        self.receive("events: ");
        let left = self.raw.find(LEAVE_SCREEN).expect("it is left");
        assert!(left < self.raw.find("events: ").unwrap(), "{:?}", self.raw);
        self.restored()
    }

    /// Waits for this in the output.
    fn receive(&mut self, text: &str) {
        while !self.raw.contains(text) {
            let more = self.output.recv_timeout(DEADLINE);
            self.raw.push_str(&more.expect(text));
        }
    }

    /// Waits for the end; returns the exit code. The terminal must be as it was.
    fn restored(mut self) -> Option<i32> {
        self.receive(LEAVE_SCREEN);
        let status = self.child.wait().unwrap();
        self.receive(SHOW_CURSOR);
        let entered = self.raw.find(ENTER_SCREEN).expect("a screen of its own");
        let left = self.raw.find(LEAVE_SCREEN).expect("it is left");
        let cursor = self.raw.rfind(SHOW_CURSOR).expect("the cursor is back");
        assert!(entered < left && left < cursor, "{:?}", self.raw);
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
        status.code()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Sets the size of a terminal; returns that many spaces.
fn resized(controller: &File, width: u16, height: u16) -> Vec<Vec<char>> {
    let size = Winsize {
        ws_col: width,
        ws_row: height,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(controller, size).unwrap();
    vec![vec![' '; width.into()]; height.into()]
}

/// Reads text, of which a character or an escape sequence may come in two parts.
fn read(mut controller: File) -> Receiver<String> {
    let (sender, texts) = channel();
    std::thread::spawn(move || {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length) = controller.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..length]);
            let escape = bytes.iter().rposition(|it| *it == 0x1b);
            let is_open = |at: &usize| !bytes[*at..].iter().any(u8::is_ascii_alphabetic);
            let whole = escape.filter(is_open).unwrap_or(bytes.len());
            let whole = match std::str::from_utf8(&bytes[..whole]) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let rest = bytes.split_off(whole);
            let text = String::from_utf8(std::mem::replace(&mut bytes, rest)).unwrap();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    texts
}

struct Cluster {
    folder: tempfile::TempDir,
    served: Served,
    maps: Api<ConfigMap>,
}

impl Cluster {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = Served::start(folder.path(), &["--controllers", "none"]);
        let client = kubist::infer_with(&Options {
            file: Some(served.kubeconfig.clone()),
            ..Options::default()
        });
        let maps = Api::namespaced(client.unwrap(), "default");
        Self {
            folder,
            served,
            maps,
        }
    }

    fn watch(&self) -> Screen {
        let file = self.served.kubeconfig.to_str().unwrap();
        let arguments = ["watch", "cm", "-n", "default", "--kubeconfig", file];
        Screen::start(self.folder.path(), &arguments)
    }
}

#[tokio::test]
async fn rows_change_in_place_details_open_and_q_restores_the_terminal() {
    let cluster = Cluster::start();
    let mut map = ConfigMap::default();
    map.metadata.name = "settings".into();
    let mut map = cluster.maps.create(&map).await.unwrap();
    let mut screen = cluster.watch();
    screen.shows("configmaps  kubist  live  1 object");
    screen.shows("NAME       DATA   AGE");
    screen.shows("settings   0");

    map.data.insert("key".into(), "value".into());
    let mut map = cluster.maps.replace(&map).await.unwrap();
    screen.shows("settings   1");

    screen.press("\r");
    screen.shows("ConfigMap default/settings");
    screen.shows("key: value");
    map.data.insert("key".into(), "other".into());
    cluster.maps.replace(&map).await.unwrap();
    screen.shows("key: other");

    screen.resize(60, 8);
    screen.signal("-WINCH");
    screen.shows("Esc: back");
    screen.press("\u{1b}");
    screen.shows("settings   1");
    screen.press("/none");
    screen.until("nothing is left", |text| !text.contains("settings   1"));
    screen.shows("0 of 1 object");
    screen.press("\r");
    screen.press("\u{1b}");
    screen.shows("settings   1");
    cluster.maps.delete("settings").await.unwrap();
    screen.shows("0 objects");
    screen.press("q");
    assert_eq!(screen.end(), Some(0));
}

#[test]
fn control_c_and_a_signal_restore_the_terminal() {
    let cluster = Cluster::start();
    let mut screen = cluster.watch();
    screen.shows("live");
    screen.press("\u{3}");
    assert_eq!(screen.end(), Some(130));

    let mut screen = cluster.watch();
    screen.shows("live");
    screen.signal("-TERM");
    assert_eq!(screen.end(), Some(0));

    let mut screen = cluster.watch();
    screen.shows("live");
    screen.signal("-HUP");
    assert_eq!(screen.restored(), Some(129));
}

/// As `fg` does after a stop: the shell has used the terminal in its own modes.
#[test]
fn after_a_stop_the_screen_is_drawn_anew_and_takes_keys() {
    let cluster = Cluster::start();
    let mut screen = cluster.watch();
    screen.shows("configmaps  kubist  live");
    screen.signal("-STOP");
    let mut modes = tcgetattr(&screen.terminal).unwrap();
    modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    tcsetattr(&screen.terminal, OptionalActions::Now, &modes).unwrap();
    screen.lines.iter_mut().for_each(|line| line.fill(' '));
    screen.signal("-CONT");
    screen.shows("configmaps  kubist  live");
    screen.press("q");
    assert_eq!(screen.end(), Some(0));
}

#[test]
fn a_terminal_without_screens_gets_lines() {
    let cluster = Cluster::start();
    let file = cluster.served.kubeconfig.to_str().unwrap();
    let arguments = ["watch", "ns", "--kubeconfig", file, "--seconds", "2"];
    let mut screen = Screen::start_as("dumb", cluster.folder.path(), &arguments);
    screen.receive("events: ");
    assert!(screen.raw.contains("EVENT"), "{:?}", screen.raw);
    assert!(!screen.raw.contains('\u{1b}'), "{:?}", screen.raw);
}

#[test]
fn a_server_that_is_gone_is_said_in_the_title() {
    let cluster = Cluster::start();
    let mut screen = cluster.watch();
    screen.shows("live");
    let _stopped = cluster.served.running.terminate();
    screen.shows("reconnecting for");
    screen.until("the advice", |text| {
        text.replace('\n', "")
            .contains("check the server's address")
    });
    screen.press("q");
    assert_eq!(screen.end(), Some(0));
}

#[tokio::test]
async fn without_a_screen_there_is_a_line_for_each_event() {
    let cluster = Cluster::start();
    let mut map = ConfigMap::default();
    map.metadata.name = "settings".into();
    cluster.maps.create(&map).await.unwrap();
    let file = cluster.served.kubeconfig.to_str().unwrap();
    let arguments = [
        "watch",
        "cm",
        "-n",
        "default",
        "--no-screen",
        "--kubeconfig",
        file,
    ];
    let mut screen = Screen::start(cluster.folder.path(), &arguments);
    screen.shows("EVENT     NAMESPACE  NAME      DATA  AGE\nADDED     default    settings  0");
    assert!(!screen.raw.contains(ENTER_SCREEN));
}
