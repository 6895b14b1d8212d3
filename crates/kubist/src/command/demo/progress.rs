//! `Progress`: progress bars on a terminal, lines elsewhere.
//!
//! Bars go to standard error. Lines go to standard output, or to standard error if standard output
//! is for the JSON report.

use super::super::units;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;
use tokio::time::Instant;

/// Redraws of a bar per second.
const REDRAWS: u8 = 15;
/// Frame interval of the spinner.
const SPIN: Duration = Duration::from_millis(100);

/// Displays the progress.
#[derive(Debug)]
pub(super) struct Progress {
    bars: Option<MultiProgress>,
    /// Whether standard output is for the JSON report.
    json: bool,
}

impl Progress {
    pub(super) fn new(json: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let target = || ProgressDrawTarget::stderr_with_hz(REDRAWS);
        let bars = terminal.then(|| MultiProgress::with_draw_target(target()));
        Self { bars, json }
    }

    /// Begins a step.
    pub(super) fn step(&self, title: &str) -> Step<'_> {
        let spinner = self.bars.as_ref().map(|bars| {
            let style = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}");
            let bar = bars.add(ProgressBar::new_spinner());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(title.to_owned());
            bar.enable_steady_tick(SPIN);
            bar
        });
        Step {
            progress: self,
            title: title.to_owned(),
            started: Instant::now(),
            spinner,
        }
    }

    /// Returns a bar below the current step; nothing without a terminal.
    pub(super) fn bar(&self, name: &str, total: u64) -> Bar {
        Bar(self.bars.as_ref().map(|bars| {
            let template = "  {prefix:<14} {bar:24.green/dim} {pos}/{len} {msg:.dim}";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = bars.add(ProgressBar::new(total));
            bar.set_style(style.progress_chars("━━─"));
            bar.set_prefix(name.to_owned());
            bar.tick();
            bar
        }))
    }

    /// Prints a permanent line.
    pub(super) fn line(&self, text: &str) {
        match &self.bars {
            // A closed terminal is no reason to stop.
            Some(bars) => drop(bars.println(text)),
            None if self.json => drop(writeln!(std::io::stderr(), "{text}")),
            None => drop(writeln!(std::io::stdout(), "{text}")),
        }
    }
}

/// A step in progress.
#[derive(Debug)]
pub(super) struct Step<'a> {
    progress: &'a Progress,
    title: String,
    started: Instant,
    spinner: Option<ProgressBar>,
}

impl Step<'_> {
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Shows the current action, on a terminal.
    pub(super) fn note(&self, text: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(format!("{}: {text}", self.title));
        }
    }

    /// Ends a successful step with its result. Returns its duration.
    pub(super) fn done(self, result: &str) -> Duration {
        let took = self.started.elapsed();
        let mark = self.mark("✓", |text| console::style(text).green().to_string());
        self.end(&format!(
            "{mark} {}: {result} ({})",
            self.title,
            units::duration(took)
        ));
        took
    }

    /// Ends a failed step. Returns its duration.
    pub(super) fn failed(self) -> Duration {
        let took = self.started.elapsed();
        let mark = self.mark("✗", |text| console::style(text).red().to_string());
        self.end(&format!(
            "{mark} {}: failed ({})",
            self.title,
            units::duration(took)
        ));
        took
    }

    fn mark(&self, text: &str, colour: impl Fn(&str) -> String) -> String {
        match &self.spinner {
            Some(_) => colour(text),
            None => text.to_owned(),
        }
    }

    fn end(&self, line: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        self.progress.line(line);
    }
}

/// A bar, or nothing.
#[derive(Debug)]
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(super) fn set(&self, position: u64, note: &str) {
        if let Some(bar) = &self.0 {
            bar.set_position(position);
            bar.set_message(note.to_owned());
        }
    }

    pub(super) fn set_total(&self, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
