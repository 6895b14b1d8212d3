//! `AlternateScreen`: the terminal's second screen, with its keys, until it is dropped.
//!
//! Frames are written by a thread of their own, so that a terminal that does not read holds up
//! nothing else. The terminal is restored when it is dropped, and before a panic is reported.

use super::screen::Key;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{Event, EventStream};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use ratatui_core::terminal::{Frame, Terminal};
use ratatui_crossterm::CrosstermBackend;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the last frame may take at the end.
const LAST_FRAME: Duration = Duration::from_secs(1);

/// What comes from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A key that the screen knows.
    Key(Key),
    /// The size of the terminal has changed.
    Resized,
}

/// The alternate screen of standard output.
pub(super) struct AlternateScreen {
    terminal: Terminal<CrosstermBackend<Pending>>,
    frame: Pending,
    writer: Writer,
    keys: EventStream,
    /// Dropped last: the writer's frames come before.
    entered: Entered,
}

impl AlternateScreen {
    /// Enters it.
    ///
    /// # Errors
    /// The terminal has no such mode, or nothing to read keys from.
    pub(super) fn enter() -> io::Result<Self> {
        if !has_screens(std::env::var_os("TERM").as_deref()) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let entered = Entered::enter()?;
        let frame = Pending::default();
        let terminal = Terminal::new(CrosstermBackend::new(frame.clone()))?;
        let writer = Writer::start(io::stdout())?;
        Ok(Self {
            terminal,
            frame,
            writer,
            keys: EventStream::new(),
            entered,
        })
    }

    /// Returns the next input.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) async fn input(&mut self) -> io::Result<Input> {
        loop {
            match self.keys.next().await {
                Some(Ok(Event::Resize(..))) => return Ok(Input::Resized),
                Some(Ok(Event::Key(event))) => {
                    if let Some(key) = Key::of(&event) {
                        return Ok(Input::Key(key));
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Reports whether the last frame is written.
    ///
    /// # Errors
    /// The terminal is gone, or a panic has ended the screen.
    pub(super) fn is_ready(&self) -> io::Result<bool> {
        if !self.entered.is_entered() {
            return Err(io::Error::other("a part of this program has panicked"));
        }
        self.writer.is_ready()
    }

    /// Enters it again after a stop, during which a shell has used the terminal, and forgets what
    /// was drawn.
    pub(super) fn resume(&mut self) -> io::Result<()> {
        // Only a change from what it knows makes it set the modes.
        terminal::disable_raw_mode()?;
        terminal::enable_raw_mode()?;
        queue!(
            self.frame,
            EnterAlternateScreen,
            Hide,
            Clear(ClearType::All)
        )?;
        // Its own way to forget asks the terminal for its cursor, whose answer is taken for keys.
        self.terminal = Terminal::new(CrosstermBackend::new(self.frame.clone()))?;
        Ok(())
    }

    /// Leaves it. Returns false if the terminal has stopped reading: then nothing can be written to
    /// it, and only its modes are restored.
    pub(super) fn close(mut self) -> bool {
        let written = self.writer.finish(LAST_FRAME);
        if !written {
            self.entered.abandon();
        }
        written
    }

    /// Draws a frame. The caller has seen that it [is ready](Self::is_ready).
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw)?;
        self.writer.write(std::mem::take(&mut self.frame.0.lock()));
        Ok(())
    }
}

/// Reports whether a terminal of this type (`TERM`) has a second screen and moves its cursor.
/// Where there are no such types, it is tried.
fn has_screens(kind: Option<&OsStr>) -> bool {
    !cfg!(unix) || kind.is_some_and(|it| !it.is_empty() && it != "dumb")
}

/// The bytes of a frame that is being drawn. Clones share them.
#[derive(Clone, Debug, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A thread that writes one frame at a time.
struct Writer {
    /// None once it ends.
    frames: Option<SyncSender<Vec<u8>>>,
    is_busy: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// Disconnected when the thread ends.
    ended: Receiver<()>,
}

impl Writer {
    fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (frames, received) = sync_channel(1);
        let (ends, ended) = sync_channel(1);
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = Arc::clone(&is_busy);
        let thread = std::thread::Builder::new()
            .name("screen".to_owned())
            .spawn(move || {
                let written = write_frames(&received, &busy, out);
                drop(ends);
                written
            })?;
        Ok(Self {
            frames: Some(frames),
            is_busy,
            thread: Some(thread),
            ended,
        })
    }

    /// Writes what it has; returns false if that takes longer.
    fn finish(&mut self, patience: Duration) -> bool {
        self.frames = None;
        if self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        true
    }

    fn is_ready(&self) -> io::Result<bool> {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(!self.is_busy.load(Ordering::Acquire))
    }

    fn write(&self, frame: Vec<u8>) {
        self.is_busy.store(true, Ordering::Release);
        if let Some(frames) = &self.frames {
            // It fails if the thread has ended, which `is_ready` reports.
            drop(frames.try_send(frame));
        }
    }
}

fn write_frames(
    frames: &Receiver<Vec<u8>>,
    is_busy: &AtomicBool,
    mut out: impl Write,
) -> io::Result<()> {
    while let Ok(frame) = frames.recv() {
        out.write_all(&frame)?;
        out.flush()?;
        is_busy.store(false, Ordering::Release);
    }
    Ok(())
}

/// The modes of the terminal, until it is dropped.
struct Entered(Arc<AtomicBool>);

impl Entered {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let this = Self(Arc::new(AtomicBool::new(true)));
        restore_before_panics(Arc::clone(&this.0), leave);
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(this)
    }

    /// Restores only the modes.
    fn abandon(&self) {
        if self.0.swap(false, Ordering::AcqRel) {
            drop(terminal::disable_raw_mode());
        }
    }

    fn is_entered(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.0.swap(false, Ordering::AcqRel) {
            leave();
        }
    }
}

/// Restores the terminal. Nobody is left to tell of an error.
fn leave() {
    let mut out = io::stdout();
    drop(queue!(out, LeaveAlternateScreen, Show));
    drop(out.flush());
    drop(terminal::disable_raw_mode());
}

/// A panic is reported where it can be read.
fn restore_before_panics(entered: Arc<AtomicBool>, leave: fn()) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if entered.swap(false, Ordering::AcqRel) {
            leave();
        }
        report(panic);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a frame when the test says so.
    struct Slow(Receiver<()>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_does_not_read_holds_up_neither_frames_nor_the_end() {
        let (read, reads) = sync_channel(1);
        let mut writer = Writer::start(Slow(reads)).unwrap();
        assert!(writer.is_ready().unwrap());
        writer.write(b"frame".to_vec());
        assert!(!writer.is_ready().unwrap(), "no second frame");
        assert!(!writer.finish(Duration::ZERO), "it is not waited for");
        read.send(()).unwrap();
        assert!(writer.finish(Duration::from_secs(60)));
    }

    #[cfg(unix)]
    #[test]
    fn a_terminal_of_no_or_a_dumb_type_has_no_screens() {
        for (kind, expected) in [
            (None, false),
            (Some(""), false),
            (Some("dumb"), false),
            (Some("xterm"), true),
        ] {
            assert_eq!(has_screens(kind.map(OsStr::new)), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_panic_anywhere_restores_the_terminal_once_before_it_is_reported() {
        static LEFT: AtomicBool = AtomicBool::new(false);
        let entered = Arc::new(AtomicBool::new(true));
        let before = std::panic::take_hook();
        // In place of the report, which would be in the output of the tests.
        std::panic::set_hook(Box::new(|_| {
            assert!(LEFT.load(Ordering::Acquire), "restored before the report");
        }));
        restore_before_panics(Arc::clone(&entered), || {
            assert!(!LEFT.swap(true, Ordering::AcqRel), "only once");
        });
        for _ in 0..2 {
            let panicked = std::thread::spawn(|| panic!("by a test")).join();
            assert!(panicked.is_err());
        }
        std::panic::set_hook(before);
        assert!(!Entered(entered).is_entered());
        assert!(LEFT.load(Ordering::Acquire));
    }
}
