//! `kubist completions` and `kubist man`: what shells and `man` know of the command, made from its
//! own description.

use super::Outcome;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubist completions bash > /etc/bash_completion.d/kubist
  kubist completions fish > ~/.config/fish/completions/kubist.fish
  source <(kubist completions zsh)")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubist man | man -l -
  kubist man --folder /usr/local/share/man/man1      # one page for each command")]
pub(crate) struct Man {
    /// Write a page for each command into this folder, which must exist
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub(crate) fn completions(options: &Completions, mut command: Command) -> ExitCode {
    clap_complete::generate(options.shell, &mut command, "kubist", &mut io::stdout());
    ExitCode::SUCCESS
}

/// Prints the manual page, or writes all.
pub(crate) fn man(options: &Man, command: Command) -> Outcome {
    match &options.folder {
        None => clap_mangen::Man::new(command).render(&mut io::stdout())?,
        Some(folder) => clap_mangen::generate_to(command, folder)
            .map_err(|error| format!("cannot write into {}: {error}", folder.display()))?,
    }
    Ok(ExitCode::SUCCESS)
}
