//! `cargo xtask codegen`: generates API types, their tables and typed accessors from the schema.
//!
//! Generated files are committed. The first line of each names this command. `--check` writes
//! nothing and fails when a file differs from what the schema gives.

mod accessors;
mod apply;
mod descriptions;
mod emit;
mod emitted;
mod facts;
mod imports;
mod kinds;
mod layout;
mod model;
mod names;
mod rustdoc;
pub(crate) mod schema;
mod sentences;
mod tables;

use self::kinds::Kinds;
use self::model::{Model, Module, Struct};
use self::schema::Schema;
use self::sentences::Sentences;
use crate::process::{Outcome, root};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The schema that the types are generated from.
const SCHEMA: &str = "xtask/schema/kubernetes-v1.36.json";
/// The sentences about types and fields.
const DOCS: &str = "xtask/schema/docs";
/// The folder and the root file of the API types.
const API: &str = "crates/api/src/generated";
const API_ROOT: &str = "crates/api/src/generated.rs";
/// The folder and the root file of the typed accessors.
const ACCESSORS: &str = "crates/informers/src/generated";
const ACCESSORS_ROOT: &str = "crates/informers/src/generated.rs";
/// The manifests with generated features.
const API_MANIFEST: &str = "crates/api/Cargo.toml";
const INFORMERS_MANIFEST: &str = "crates/informers/Cargo.toml";
/// The documentation that the server serves.
const DESCRIPTIONS: &str = "crates/apiserver/src/openapi/descriptions.json";

/// Options of `cargo xtask codegen`.
#[derive(Args)]
pub(crate) struct Options {
    /// Change nothing; fail when a generated file is stale
    #[arg(long)]
    check: bool,
}

impl Options {
    /// `--check`.
    pub(crate) fn check() -> Self {
        Self { check: true }
    }
}

/// Texts by path from the root of the workspace.
type Files = BTreeMap<PathBuf, String>;

/// Generates all files, or checks them.
pub(crate) fn run(options: &Options) -> Outcome {
    let schema: Schema = serde_json::from_str(&std::fs::read_to_string(root().join(SCHEMA))?)?;
    let sentences = Sentences::read(&root().join(DOCS), &schema)?;
    let model = Model::new(&schema, &sentences)?;
    let mut files = Files::new();
    let kinds = Kinds::new(&schema);
    for (module, structs) in &model.modules {
        add_module(&mut files, &schema, &kinds, module, structs)?;
    }
    add(
        &mut files,
        API_ROOT,
        "The modules of all groups.",
        &roots(&model),
    )?;
    for (group, text) in groups(&model) {
        let path = format!("{API}/{group}.rs");
        add(
            &mut files,
            path,
            &format!("The versions of `{group}`."),
            &text,
        )?;
    }
    add_configurations(&mut files, &schema, &model)?;
    let text = tables::kinds(&model);
    add(
        &mut files,
        format!("{API}/kinds.rs"),
        "The kinds of all groups.",
        &text,
    )?;
    let (text, groups) = tables::resources(&schema)?;
    add(
        &mut files,
        format!("{API}/resources.rs"),
        "The resources of all groups.",
        &text,
    )?;
    for (group, text) in groups {
        let doc = format!("The resources of `{group}`.");
        add(
            &mut files,
            format!("{API}/resources/{group}.rs"),
            &doc,
            &text,
        )?;
    }
    let (text, groups) = accessors::files(&schema, &model);
    add(
        &mut files,
        ACCESSORS_ROOT,
        "Typed accessors of all groups.",
        &text,
    )?;
    for (group, text) in groups {
        let doc = format!("Typed accessors of `{group}`.");
        add(&mut files, format!("{ACCESSORS}/{group}.rs"), &doc, &text)?;
    }
    for (manifest, features) in [
        (API_MANIFEST, tables::features(&model)),
        (INFORMERS_MANIFEST, accessors::features(&schema, &model)),
    ] {
        let text = std::fs::read_to_string(root().join(manifest))?;
        files.insert(manifest.into(), with_features(&text, &features)?);
    }
    let text = descriptions::file(&schema, &sentences)?;
    files.insert(DESCRIPTIONS.into(), text);
    write(options, &files)
}

/// Adds the apply configurations: a file for each group version, and those above.
fn add_configurations(files: &mut Files, schema: &Schema, model: &Model) -> Outcome {
    let configurations = apply::Configurations::new(schema, model);
    let (mut groups, mut roots) = (BTreeMap::<&str, String>::new(), String::new());
    for (module, text) in configurations.files() {
        let Module { group, version } = module;
        let doc = format!("Apply configurations of `{group}/{version}`.");
        add(
            files,
            format!("{API}/apply/{group}/{version}.rs"),
            &doc,
            &text,
        )?;
        let feature = module.feature();
        let text = format!("#[cfg(feature = {feature:?})]\npub mod {version};\n");
        groups.entry(group).or_default().push_str(&text);
    }
    for (group, text) in groups {
        let _ = writeln!(roots, "pub mod {group};");
        let doc = format!("Apply configurations of `{group}`.");
        add(files, format!("{API}/apply/{group}.rs"), &doc, &text)?;
    }
    let doc = "Apply configurations of all groups.";
    add(files, format!("{API}/apply.rs"), doc, &roots)
}

/// Adds the file of a group version, or its folder of files.
fn add_module(
    files: &mut Files,
    schema: &Schema,
    kinds: &Kinds,
    module: &Module,
    structs: &[Struct],
) -> Outcome {
    let Module { group, version } = module;
    let path = format!("{API}/{group}/{version}.rs");
    let doc = format!("`{group}/{version}` of Kubernetes v{}", schema.version);
    let structs = layout::top_down(structs);
    let whole = emit::whole(kinds, &structs);
    let is_long = whole.lines().count() > layout::LINES_MAX;
    let Some(parts) = layout::split(&structs).filter(|_| is_long) else {
        return add(files, path, &format!("{doc}."), &whole);
    };
    for (name, text) in emit::parts(kinds, &parts) {
        let path = format!("{API}/{group}/{version}/{name}.rs");
        let title = name.replace('_', " ");
        add(files, path, &format!("{doc}: {title}."), &text)?;
    }
    add(files, path, &format!("{doc}."), &emit::index(&parts))
}

/// Adds a Rust file, formatted.
fn add(files: &mut Files, path: impl Into<PathBuf>, doc: &str, body: &str) -> Outcome {
    let text = format!("//! Generated by `cargo xtask codegen`, do not edit. {doc}\n\n{body}");
    files.insert(path.into(), formatted(text)?);
    Ok(())
}

fn formatted(text: String) -> Outcome<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = rustfmt.stdin.take().ok_or("rustfmt has no input")?;
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = rustfmt.wait_with_output()?;
    writer
        .join()
        .map_err(|_| "the writer to rustfmt panicked")??;
    if !output.status.success() {
        return Err("rustfmt refused generated code".into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the text of `generated.rs`: the groups.
fn roots(model: &Model) -> String {
    let groups: BTreeSet<&str> = model.modules.keys().map(|it| it.group.as_str()).collect();
    let mut out = String::from("#[cfg(feature = \"apply\")]\npub mod apply;\n");
    for group in groups {
        out.extend(["pub mod ", group, ";\n"]);
    }
    out.push_str("pub mod kinds;\npub mod resources;\n");
    out
}

/// Returns the text of each group's file: its versions, each behind its feature.
fn groups(model: &Model) -> BTreeMap<&str, String> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for module in model.modules.keys() {
        let Module { group, version } = module;
        let feature = module.feature();
        let text = format!("#[cfg(feature = {feature:?})]\npub mod {version};\n");
        files.entry(group).or_default().push_str(&text);
    }
    files
}

const FEATURES_BEGIN: &str = "# Generated by `cargo xtask codegen`: features.\n";
const FEATURES_END: &str = "# End of generated features.\n";

/// Returns the manifest with the features between the two marks replaced.
fn with_features(manifest: &str, features: &str) -> Outcome<String> {
    let begin = manifest
        .find(FEATURES_BEGIN)
        .ok_or("the manifest has no mark for features")?;
    let end = manifest
        .find(FEATURES_END)
        .ok_or("the manifest has no end mark for features")?;
    let head = &manifest[..begin + FEATURES_BEGIN.len()];
    Ok(format!("{head}{features}{}", &manifest[end..]))
}

/// Writes the files that changed and removes those that are no longer generated. With `--check`,
/// lists both in an error instead.
fn write(options: &Options, files: &Files) -> Outcome {
    let mut stale = Vec::new();
    for (path, text) in files {
        let file = root().join(path);
        if std::fs::read_to_string(&file).is_ok_and(|found| found == *text) {
            continue;
        }
        stale.push(path.display().to_string());
        if !options.check {
            std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
            std::fs::write(&file, text)?;
        }
    }
    for folder in [API, ACCESSORS] {
        for file in listed(&root().join(folder))? {
            let path = file.strip_prefix(root())?;
            if !files.contains_key(path) {
                stale.push(path.display().to_string());
                if !options.check {
                    std::fs::remove_file(&file)?;
                }
            }
        }
    }
    if options.check && !stale.is_empty() {
        let stale = stale.join("\n");
        return Err(format!("stale, run `cargo xtask codegen`:\n{stale}").into());
    }
    Ok(())
}

fn listed(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(found);
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(listed(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_code_is_what_the_schema_gives() {
        super::run(&super::Options::check()).expect("generated code is fresh");
    }
}
