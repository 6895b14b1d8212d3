//! `kubist new`: makes the project of an operator.
//!
//! The project is the first operator of the guide under other names: the templates are the source
//! of `examples/first-operator`, which a test compares with them. Nothing is compiled here.

mod names;
mod project;

use super::{Outcome, WrongUsage};
use clap::Args;
use names::Names;
use project::Source;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kubist new website-operator --group example.com          # an operator for the kind Website
  kubist new operators/shop --kind Shop --path ../kubist   # with a checkout of Kubist")]
pub(crate) struct Options {
    /// The folder to make; its last part is the name of the crate
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The kind [default: the name without `-operator` or `-controller`, as in Website]
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// The API group of the kind: a domain that you own
    #[arg(long, value_name = "GROUP", default_value = "example.com")]
    group: String,
    /// Depend on this checkout of Kubist instead of its repository
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
}

/// Makes the project and prints what to do next.
pub(crate) fn run(options: &Options) -> Outcome {
    let name = options.folder.file_name().and_then(|it| it.to_str());
    let Some(name) = name else {
        let folder = options.folder.display();
        let why = format!("{folder} has no name: give a folder, such as website-operator");
        return Err(WrongUsage(why).into());
    };
    let names = Names::new(name, options.kind.as_deref(), &options.group).map_err(WrongUsage)?;
    let source = match &options.path {
        None => Source::Repository,
        Some(folder) => Source::Checkout(checkout(folder)?),
    };
    check_is_free(&options.folder)?;
    for (file, text) in project::files(&names, &source) {
        write(&options.folder.join(file), &text)?;
    }
    let folder = options.folder.display();
    let mut out = std::io::stdout().lock();
    writeln!(out, "made {folder}, an operator for {}", names.resource())?;
    writeln!(
        out,
        "next: cd {folder} && cargo test; README.md has the rest"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the absolute path of the facade crate in a checkout.
fn checkout(folder: &Path) -> Result<PathBuf, String> {
    let found = std::path::absolute(folder.join("crates/kubist"));
    let found = found.map_err(|error| format!("{}: {error}", folder.display()))?;
    if found.join("Cargo.toml").is_file() {
        return Ok(found);
    }
    Err(format!(
        "{} is no checkout of Kubist: it has no crates/kubist/Cargo.toml",
        folder.display()
    ))
}

/// A project is only made where nothing is.
fn check_is_free(folder: &Path) -> Result<(), String> {
    let name = folder.display();
    let mut entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(format!(
                "{name} is there and is no folder: choose another name"
            ));
        }
        Err(error) => return Err(format!("{name} cannot be read: {error}")),
    };
    if entries.next().is_some() {
        return Err(format!(
            "{name} is there and not empty: choose another name, or remove what is in it"
        ));
    }
    Ok(())
}

/// Writes a file that is not there yet.
fn write(file: &Path, text: &str) -> Result<(), String> {
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::File::create_new(file)?.write_all(text.as_bytes()));
    written.map_err(|error| format!("cannot write {}: {error}", file.display()))
}
