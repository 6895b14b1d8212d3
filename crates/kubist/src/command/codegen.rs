//! `kubist codegen`: Rust types from definitions of custom resources, in files or a cluster.
//!
//! Files are written only if they differ, so that a build notices changes alone.

mod folder;
mod sources;

use self::folder::{Difference, Folder};
use super::cluster::ClusterOptions;
use super::usage::WrongUsage;
use super::{Outcome, units};
use clap::Args;
use kubist_codegen::{Modules, generate};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
Each served version becomes a module: crds::cert_manager_io::v1::Certificate. Without --out, all is
printed as one file. The types need the crates kubist-custom-resource, serde (with derive) and
serde_json.

Examples:
  kubist codegen crds/ --out src/crds
  kubist codegen crds/ --out src/crds --check        # for CI
  kubist codegen --crd certificates.cert-manager.io --kubeconfig admin.kubeconfig > src/crds.rs
  helm template chart/ | kubist codegen - --crate kubist::custom_resource --out src/crds")]
pub(crate) struct Options {
    /// Files with definitions in YAML or JSON, or folders of them; `-` for standard input
    #[arg(value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// The name of a definition in the cluster; may be repeated
    #[arg(long, value_name = "NAME")]
    crd: Vec<String>,
    /// The folder to write into, or the file of its module: src/crds.rs has the rest in src/crds.
    /// Files that were generated before and are no longer needed are removed
    #[arg(short, long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Write nothing; exit with 1 if the folder has other files than would be written
    #[arg(long, requires = "out")]
    check: bool,
    /// The path of the crate kubist-custom-resource in the generated code
    #[arg(long = "crate", value_name = "PATH", value_parser = rust_path)]
    #[arg(default_value = kubist_codegen::Options::KRATE)]
    krate: String,
    /// A further derive of all types, such as Eq; may be repeated
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    derive: Vec<String>,
    /// Keep times as strings; otherwise they lose fractions of a second, as in Go
    #[arg(long)]
    times_as_strings: bool,
    #[command(flatten)]
    cluster: ClusterOptions,
}

pub(crate) async fn run(options: Options) -> Outcome {
    if options.paths.is_empty() && options.crd.is_empty() {
        let text = "name files or folders with definitions, or --crd for one in a cluster";
        return Err(WrongUsage(text.to_owned()).into());
    }
    let mut definitions = sources::read(&options.paths)?;
    if !options.crd.is_empty() {
        let client = options.cluster.connect()?;
        definitions.extend(sources::fetch(client, &options.crd).await?);
    }
    let how = kubist_codegen::Options {
        krate: options.krate,
        derives: options.derive,
        times_as_strings: options.times_as_strings,
    };
    let generated = generate(&definitions, &how)?;
    if generated.is_empty() {
        return Err("no definition with a served version".into());
    }
    let Some(out) = options.out else {
        io::stdout()
            .lock()
            .write_all(generated.to_text().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    write(&generated, &Folder::new(out), options.check)
}

/// Writes the files, or reports which differ.
fn write(generated: &Modules, folder: &Folder, check: bool) -> Outcome {
    let files = generated.files();
    let differences = folder.differences(&files)?;
    let mut out = io::stdout().lock();
    for (path, difference) in &differences {
        let word = match (difference, check) {
            (Difference::Changed, true) => "differs",
            (Difference::Missing, true) => "is missing",
            (Difference::Obsolete, true) => "is not generated any more",
            (Difference::Obsolete, false) => "removed",
            (_, false) => "written",
        };
        writeln!(out, "{}: {word}", folder.path(path).display())?;
    }
    if check {
        let count = differences.len();
        return if count == 0 {
            Ok(ExitCode::SUCCESS)
        } else {
            Err(format!("{count} files differ; run the same command without --check").into())
        };
    }
    folder.apply(&files, &differences)?;
    let (kinds, changes) = (generated.len(), differences.len());
    writeln!(
        out,
        "{} in {}, {changes} changed",
        units::of(kinds as u64, "kind"),
        units::of(files.len() as u64, "file")
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Accepts a path such as `kubist::custom_resource`.
fn rust_path(text: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        let first = letters.next();
        first.is_some_and(|it| it == '_' || it.is_ascii_alphabetic())
            && letters.all(|it| it == '_' || it.is_ascii_alphanumeric())
    };
    let path = text.strip_prefix("::").unwrap_or(text);
    if path.split("::").all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("it is no path of Rust, such as kubist::custom_resource".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_rust_are_accepted() {
        for text in ["Eq", "kubist::custom_resource", "::a::b_1"] {
            assert_eq!(rust_path(text).as_deref(), Ok(text));
        }
        for text in ["", "a::", "1a", "a b", "a)] struct B;", "a:b"] {
            assert!(rust_path(text).is_err(), "{text}");
        }
    }
}
