//! Definitions from files, folders, standard input and a cluster.

use super::super::input_files::{MANIFESTS, input_files};
use kubist::read_regular_file;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_client::{Api, Client};
use kubist_codegen::read_definitions;
use std::error::Error;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Maximum size of a file, in bytes. The largest bundles of projects have about 10 MiB.
const FILE_BYTES_MAX: u64 = 64 << 20;
const KIND: &str = "CustomResourceDefinition";

/// Reads files, and the files of folders whose names end with `.yaml`, `.yml` or `.json`.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<CustomResourceDefinition>, Box<dyn Error>> {
    let mut definitions = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let found = read_definitions(&standard_input()?);
            definitions.extend(found.map_err(|error| format!("standard input: {error}"))?);
            continue;
        }
        if !path.is_dir() {
            let found = read_definitions(&bytes(path)?);
            definitions.extend(found.map_err(|error| format!("{}: {error}", path.display()))?);
            continue;
        }
        for path in input_files(std::slice::from_ref(path), true, &MANIFESTS)? {
            let bytes = bytes(&path)?;
            match read_definitions(&bytes) {
                Ok(found) => definitions.extend(found),
                // A template beside the definitions of a chart.
                Err(_) if !has_definition(&String::from_utf8_lossy(&bytes)) => {}
                Err(error) => return Err(format!("{}: {error}", path.display()).into()),
            }
        }
    }
    Ok(definitions)
}

/// Reads definitions of a cluster.
pub(super) async fn fetch(
    client: Client,
    names: &[String],
) -> Result<Vec<CustomResourceDefinition>, Box<dyn Error>> {
    let api: Api<CustomResourceDefinition> = Api::all(client);
    let mut definitions = Vec::new();
    for name in names {
        definitions.push(api.get(name).await?);
    }
    Ok(definitions)
}

/// Reports whether a file that cannot be read seems to have a definition, in YAML or JSON, which
/// would be left out.
fn has_definition(text: &str) -> bool {
    let mut values = text.split("kind").skip(1);
    values.any(|it| {
        let is_joint = |it: char| it.is_whitespace() || matches!(it, ':' | '"' | '\'');
        it.trim_start_matches(is_joint).starts_with(KIND)
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = read_regular_file(path, FILE_BYTES_MAX);
    bytes.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn standard_input() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(FILE_BYTES_MAX + 1);
    input.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("standard input: more than {FILE_BYTES_MAX} bytes").into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_with_a_definition_is_told_from_other_templates() {
        for text in [
            "kind: CustomResourceDefinition\nspec: {{",
            "kind:  'CustomResourceDefinition'\nspec: {{",
            r#"{"kind": "CustomResourceDefinition", "spec": {"#,
            r#"{"kind":"CustomResourceDefinition","spec":{"#,
        ] {
            assert!(has_definition(text), "{text}");
        }
        for text in [
            "kind: Role\n# of a CustomResourceDefinition",
            "{{ .x }}",
            "",
        ] {
            assert!(!has_definition(text), "{text}");
        }
    }
}
