//! Generates types from the definitions of well-known projects with `kubist codegen`, compiles them
//! as one crate, and reads and writes generated objects of all kinds with them. Nothing may be
//! lost, and the types must be as rustfmt would write them.
//!
//! The program in `tests/interop/definitions` gets the definitions and generates the objects;
//! `tests/interop/codegen` has the program that the types are compiled into.

use super::Options;
use super::cluster::go_build;
use super::definitions;
use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "codegen";
/// Objects of each version.
const COUNT: u64 = 40;
/// Objects of each version in a quick run.
const COUNT_QUICK: u64 = 4;
/// Definitions of each project in a quick run.
const DEFINITIONS_QUICK: &str = "2";
/// The seed of objects.
const SEED: u64 = 1;
/// The manifest of the crate, after its header.
const DEPENDENCIES: &str = "
[dependencies]
serde = { version = \"1\", features = [\"derive\"] }
serde_json = { version = \"1\", features = [\"float_roundtrip\"] }

[profile.dev]
debug = false
incremental = false

[workspace]
";

/// Runs the part.
pub(super) fn run(
    options: &Options,
    binary: &Path,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let folder = scratch.join(PART);
    let samples = folder.join("samples");
    let package = folder.join("package");
    for it in [&samples, &package] {
        if it.exists() {
            std::fs::remove_dir_all(it)?;
        }
    }
    let program = scratch.join(definitions::PART);
    go_build(definitions::PART, ".", &program)?;
    write_samples(options, &program, &samples)?;
    let projects = folders(&samples)?;
    let crds = package.join("src/crds");
    report.step("types of all definitions", || {
        generate(binary, &projects, &crds)
    });
    report.step("the types are formatted", || formatted(&package));
    write_package(&package)?;
    let target = folder.join("target");
    report.step("the types compile", || build(&package, &target));
    let program = target.join("debug/codegen-round-trip");
    for project in &projects {
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let objects = project.join("objects.jsonl");
        report.step(&format!("objects of {name}"), || {
            round_trip(&program, &objects)
        });
    }
    Ok(())
}

/// Writes definitions and objects of all projects.
fn write_samples(options: &Options, program: &Path, samples: &Path) -> Outcome {
    let usual = if options.quick { COUNT_QUICK } else { COUNT };
    let mut command = Command::new(program);
    command
        .current_dir(root().join("tests/interop").join(definitions::PART))
        .arg("--samples")
        .arg(samples)
        .arg("--objects")
        .arg(options.count.unwrap_or(usual).to_string())
        .arg("--seed")
        .arg(options.seed.unwrap_or(SEED).to_string());
    if options.quick {
        command.args(["--limit", DEFINITIONS_QUICK]);
    }
    process::run_with(&mut command)
}

/// Returns the folders in a folder, sorted.
fn folders(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|it| it.is_dir());
    paths.sort();
    Ok(paths)
}

/// Generates the types, twice: the second time, nothing may differ.
fn generate(binary: &Path, projects: &[PathBuf], crds: &Path) -> Outcome {
    let command = || {
        let mut command = Command::new(binary);
        command.arg(PART);
        command.args(projects.iter().map(|it| it.join("definitions.json")));
        command.arg("--out").arg(crds);
        command
    };
    let output = command().output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let last = text.lines().last().unwrap_or_default();
    eprintln!("          {last}; {} lines", lines(crds)?);
    process::run_with(command().arg("--check"))
}

/// Returns the number of lines in the files of a folder.
fn lines(folder: &Path) -> Outcome<usize> {
    let mut sum = 0;
    for file in rust_files(folder)? {
        sum += std::fs::read_to_string(file)?.lines().count();
    }
    Ok(sum)
}

/// Returns the files of Rust in a folder and its folders.
fn rust_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn formatted(package: &Path) -> Outcome {
    let mut command = Command::new("rustfmt");
    command.args(["--check", "--edition", "2024"]);
    command.arg(package.join("src/crds/mod.rs"));
    process::run_with(&mut command)
}

/// Writes the crate around the types.
fn write_package(package: &Path) -> Outcome {
    let path = root().join("crates/custom-resource");
    let manifest = format!(
        "[package]\nname = \"codegen-round-trip\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         publish = false\n{DEPENDENCIES}\n[dependencies.kubist-custom-resource]\npath = \"{}\"\n",
        path.display()
    );
    std::fs::write(package.join("Cargo.toml"), manifest)?;
    let lock = root().join("Cargo.lock");
    std::fs::copy(lock, package.join("Cargo.lock"))?;
    let main = root().join("tests/interop/codegen/main.rs");
    std::fs::copy(main, package.join("src/main.rs"))?;
    std::fs::write(package.join("src/table.rs"), table(&package.join("src"))?)?;
    Ok(())
}

/// Returns the module that lists all kinds: those that the modules of versions name.
fn table(source: &Path) -> Outcome<String> {
    let mut text = String::from(
        "//! All generated kinds.\n\npub(crate) fn kinds() -> Vec<crate::Kind> {\n    vec![\n",
    );
    let mut files = rust_files(&source.join("crds"))?;
    files.sort();
    for file in files {
        let module = file.strip_prefix(source)?.with_extension("");
        let names: Vec<_> = module.iter().map(|it| it.to_string_lossy()).collect();
        let module = names.join("::");
        let content = std::fs::read_to_string(&file)?;
        let uses = content
            .lines()
            .filter_map(|it| it.strip_prefix("pub use self::"));
        for path in uses.filter_map(|it| it.strip_suffix(';')) {
            writeln!(text, "        crate::row::<crate::{module}::{path}>(),")?;
        }
    }
    text.push_str("    ]\n}\n");
    Ok(text)
}

fn build(package: &Path, target: &Path) -> Outcome {
    let mut command = Command::new("cargo");
    command
        .arg("build")
        .env("CARGO_TARGET_DIR", target)
        .current_dir(package);
    process::run_with(&mut command)
}

fn round_trip(program: &Path, objects: &Path) -> Outcome {
    let output = Command::new(program).arg(objects).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let kept = text.rsplit(": ").next().unwrap_or_default();
        eprintln!("          {}", kept.trim_end());
        return Ok(());
    }
    for line in text.lines().take(20) {
        eprintln!("          {line}");
    }
    Err(format!("{} lines, of which some are above", text.lines().count()).into())
}
