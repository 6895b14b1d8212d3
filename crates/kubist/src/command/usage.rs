//! Usage errors in one line, where clap would print several.

use clap::Error;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// The conventional exit code of wrong usage.
const WRONG_USAGE: u8 = 2;

/// Invalid options, or combinations of options, that clap cannot detect.
#[derive(Debug, thiserror::Error)]
#[error("{0}; see --help")]
pub(crate) struct WrongUsage(pub(crate) String);

/// Returns the exit code of a failed command.
pub(crate) fn exit_code(error: &(dyn std::error::Error + 'static)) -> ExitCode {
    if error.is::<WrongUsage>() {
        ExitCode::from(WRONG_USAGE)
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the requested help, or the usage error.
#[expect(clippy::print_stderr, reason = "this is the command's own output")]
pub(crate) fn refuse(error: &Error) -> ExitCode {
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if asked_for {
        // Standard output is closed.
        drop(error.print());
    } else {
        eprintln!(
            "kubist: {}; see --help",
            one_line(&error.render().to_string())
        );
    }
    if error.use_stderr() {
        ExitCode::from(WRONG_USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Returns clap's message without its prefix, usage and advice.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let said = text.lines().map(str::trim).take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let lines: Vec<_> = said.collect();
    // An empty line separates the message from a tip.
    let paragraphs = lines.split(|line| line.is_empty());
    let paragraphs = paragraphs.filter(|it| !it.is_empty());
    let paragraphs = paragraphs.map(|it| it.join(" "));
    paragraphs.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_errors_become_one_line() {
        let text = "error: invalid value 'x' for '--output <OUTPUT>'\n  [possible values: a, b]\n\n\
                    Usage: kubist watch <RESOURCE>\n\nFor more information, try '--help'.\n";
        let line = "invalid value 'x' for '--output <OUTPUT>' [possible values: a, b]";
        assert_eq!(one_line(text), line);
        let text = "error: unexpected argument '--lisen' found\n\n  tip: a similar argument exists: \
                    '--listen'\n\nUsage: kubist serve --listen <ADDR>\n";
        let line =
            "unexpected argument '--lisen' found; tip: a similar argument exists: '--listen'";
        assert_eq!(one_line(text), line);
    }
}
