//! `kubist codegen`.

use crate::command::{Served, fail, run, succeed};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::client::Api;
use kubist::kubeconfig::Options;
use std::path::Path;

const FIG: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: figs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Fig, plural: figs, singular: fig, listKind: FigList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {colour: {type: string, description: Its colour.}}}
";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn definitions_of_standard_input_files_and_folders_become_one_text() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let input = succeed(folder, &["codegen", "-"], FIG.as_bytes());
    let printed = text(input.clone());
    assert!(printed.contains("pub mod example_com {"), "{printed}");
    assert!(printed.contains("pub struct FigSpec {"), "{printed}");
    std::fs::create_dir_all(folder.join("crds/nested")).unwrap();
    std::fs::write(folder.join("crds/nested/fig.yaml"), FIG).unwrap();
    std::fs::write(folder.join("crds/other.txt"), "no YAML: {{").unwrap();
    std::fs::write(folder.join("crds/chart.yaml"), "{{ template }}: [").unwrap();
    assert_eq!(succeed(folder, &["codegen", "crds"], b""), input);
    assert_eq!(
        succeed(folder, &["codegen", "crds/nested/fig.yaml"], b""),
        input
    );
    let arguments = [
        "codegen",
        "crds",
        "--crate",
        "kubist::custom_resource",
        "--derive",
        "Eq",
    ];
    let other = text(succeed(folder, &arguments, b""));
    assert!(
        other.contains("PartialEq, kubist::custom_resource::Resource, Eq)]"),
        "{other}"
    );
}

#[test]
fn a_folder_is_written_once_checked_and_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |input: &str| {
        let arguments = ["codegen", "-", "--out", "src/crds"];
        text(succeed(folder, &arguments, input.as_bytes()))
    };
    let check = ["codegen", "-", "--out", "src/crds", "--check"];
    let error = fail(folder, &check, FIG.as_bytes());
    assert!(error.contains("4 files differ"), "{error}");
    assert!(!folder.join("src").exists());

    assert!(write(FIG).ends_with("1 kind in 4 files, 4 changed\n"));
    let fig = "src/crds/example_com/v1/fig.rs";
    assert!(read(folder, fig).contains("/// Its colour."));
    assert_eq!(write(FIG), "1 kind in 4 files, 0 changed\n");
    assert_eq!(succeed(folder, &check, FIG.as_bytes()), b"");

    let changed = FIG.replace("Its colour.", "Its color.");
    let output = run(folder, &check, changed.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stdout), format!("{fig}: differs\n"));

    let plum = FIG.replace("figs", "plums").replace("Fig", "Plum");
    std::fs::write(folder.join("src/crds/own.rs"), "fn main() {}\n").unwrap();
    let output = text(run(folder, &check, plum.as_bytes()).stdout);
    assert!(
        output.contains("fig.rs: is not generated any more\n"),
        "{output}"
    );
    assert!(output.contains("plum.rs: is missing\n"), "{output}");
    assert!(write(&plum).contains("fig.rs: removed\n"));
    assert!(!folder.join(fig).exists());
    assert!(folder.join("src/crds/own.rs").exists());
}

#[test]
fn a_file_of_rust_has_the_others_in_the_folder_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = ["codegen", "-", "--out", "src/crds.rs"];
    let output = text(succeed(folder, &arguments, FIG.as_bytes()));
    assert!(output.contains("src/crds.rs: written\n"), "{output}");
    assert!(read(folder, "src/crds.rs").contains("pub mod example_com;"));
    assert!(folder.join("src/crds/example_com/v1/fig.rs").exists());
    assert!(!folder.join("src/crds/mod.rs").exists());
    let output = text(succeed(folder, &arguments, FIG.as_bytes()));
    assert!(output.ends_with(" 0 changed\n"), "{output}");
}

#[test]
fn a_file_that_was_not_generated_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mod.rs"), "mod own;\n").unwrap();
    let error = fail(
        folder.path(),
        &["codegen", "-", "--out", "."],
        FIG.as_bytes(),
    );
    assert!(error.contains("mod.rs was not generated"), "{error}");
    assert_eq!(read(folder.path(), "mod.rs"), "mod own;\n");
}

#[tokio::test]
async fn definitions_of_a_cluster_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = Served::start(folder, &["--controllers", "none"]);
    let file = served.kubeconfig.to_str().unwrap();
    let arguments = ["codegen", "--crd", "figs.example.com", "--kubeconfig", file];
    let error = fail(folder, &arguments, b"");
    assert!(error.contains("\"figs.example.com\" not found"), "{error}");
    let client = kubist::infer_with(&Options {
        file: Some(served.kubeconfig.clone()),
        ..Options::default()
    });
    let definitions: Api<CustomResourceDefinition> = Api::all(client.unwrap());
    let fig = kubist_codegen::read_definitions(FIG.as_bytes()).unwrap();
    definitions.create(&fig[0]).await.unwrap();
    let generated = succeed(folder, &arguments, b"");
    assert_eq!(
        generated,
        succeed(folder, &["codegen", "-"], FIG.as_bytes())
    );
}

#[test]
fn mistakes_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = run(folder, &["codegen"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(output.stderr).contains("name files or folders"));
    let output = run(folder, &["codegen", "-", "--crate", "a b"], b"");
    assert_eq!(output.status.code(), Some(2));
    let output = run(folder, &["codegen", "-", "--check"], b"");
    assert_eq!(output.status.code(), Some(2));
    for (arguments, input, part) in [
        (["codegen", "absent.yaml"], "", "absent.yaml: "),
        (
            ["codegen", "-"],
            "kind: Pod\n",
            "no definition with a served version",
        ),
        (
            ["codegen", "-"],
            "a: [",
            "standard input: not valid YAML: line",
        ),
    ] {
        let error = fail(folder, &arguments, input.as_bytes());
        assert!(error.contains(part), "{error}");
    }
    std::fs::create_dir(folder.join("crds")).unwrap();
    let broken = "kind: CustomResourceDefinition\na: [";
    std::fs::write(folder.join("crds/broken.yaml"), broken).unwrap();
    let error = fail(folder, &["codegen", "crds"], b"");
    assert!(error.contains("broken.yaml: not valid YAML"), "{error}");
}
