//! Arguments that cannot be used: one line that says why, where clap would write several.

use std::process::ExitCode;

use clap::Error;
use clap::error::ErrorKind;

/// The exit code of wrong usage, as everywhere.
const WRONG_USAGE: u8 = 2;

/// Options that make no sense, each for itself or together, where clap cannot tell.
#[derive(Debug, thiserror::Error)]
#[error("{0}; --help says more")]
pub(crate) struct WrongUsage(pub(crate) String);

/// The exit code of a command that failed so.
pub(crate) fn exit_code(error: &(dyn std::error::Error + 'static)) -> ExitCode {
    if error.is::<WrongUsage>() {
        ExitCode::from(WRONG_USAGE)
    } else {
        ExitCode::FAILURE
    }
}

/// Shows the help that was asked for, or says what is wrong with the arguments.
#[expect(clippy::print_stderr, reason = "this is the command's own output")]
pub(crate) fn refuse(error: &Error) -> ExitCode {
    let asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if asked_for {
        // Whoever asked has gone away.
        drop(error.print());
    } else {
        eprintln!(
            "kubist: {}; --help says more",
            one_line(&error.render().to_string())
        );
    }
    if error.use_stderr() {
        ExitCode::from(WRONG_USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// What clap has to say, without its own mark, usage and advice.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let said = text.lines().map(str::trim).take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let lines: Vec<_> = said.collect();
    // Empty lines stand between what was said and a tip.
    let paragraphs = lines.split(|line| line.is_empty());
    let paragraphs = paragraphs.filter(|it| !it.is_empty());
    let paragraphs = paragraphs.map(|it| it.join(" "));
    paragraphs.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_lines_become_one_without_usage_and_advice() {
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
