//! `kubist convert`.

use crate::command::{fail, run, succeed};
use serde_json::Value;

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: registry.example.com/web:1
        ports: [{containerPort: 8080}]
        resources: {requests: {cpu: 250m, memory: 64Mi}}
";

#[test]
fn every_encoding_converts_to_every_other_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let convert = |input: &[u8], output| succeed(folder.path(), &["convert", "-o", output], input);
    let json = convert(DEPLOYMENT.as_bytes(), "json");
    let value: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        value["spec"]["template"]["spec"]["containers"][0]["name"],
        "web"
    );

    let protobuf = convert(DEPLOYMENT.as_bytes(), "protobuf");
    assert!(protobuf.starts_with(b"k8s\0"));
    let yaml = convert(&protobuf, "yaml");
    for input in [&json, &protobuf, &yaml] {
        assert_eq!(convert(input, "json"), json);
        assert_eq!(convert(input, "protobuf"), protobuf);
        assert_eq!(convert(input, "yaml"), yaml);
    }
}

#[test]
fn several_files_and_folders_become_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir_all(path.join("all/below")).unwrap();
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    for (file, name) in [
        ("first.yaml", "first"),
        ("all/b.yml", "b"),
        ("all/a.yaml", "a"),
        ("all/below/c.json.yaml", "c"),
    ] {
        std::fs::write(path.join(file), map(name)).unwrap();
    }
    std::fs::write(path.join("all/README.md"), "no object").unwrap();
    let names = |arguments: &[&str]| {
        let out = succeed(path, arguments, map("piped").as_bytes());
        let values = serde_json::Deserializer::from_slice(&out).into_iter::<Value>();
        let names = values.map(|it| it.unwrap()["metadata"]["name"].to_string());
        names.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    let all = [
        "convert",
        "-o",
        "json",
        "-f",
        "first.yaml",
        "-f",
        "all",
        "-f",
        "-",
    ];
    assert_eq!(names(&all), "first a b piped");
    assert_eq!(
        names(&["convert", "-o", "json", "-R", "-f", "all"]),
        "a b c"
    );

    let error = fail(path, &["convert", "-o", "json", "-f", "nothing"], b"");
    assert!(error.contains("nothing: "), "{error}");
    std::fs::create_dir(path.join("empty")).unwrap();
    let error = fail(path, &["convert", "-o", "json", "-f", "empty"], b"");
    let expected = "empty: no file with one of the extensions json, yaml, yml; -R looks";
    assert!(error.contains(expected), "{error}");
    #[cfg(unix)]
    {
        let pipe = path.join("empty/pipe.yaml");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let error = fail(path, &["convert", "-o", "json", "-f", "empty"], b"");
        assert!(error.contains("pipe.yaml: not a regular file"), "{error}");
    }
    std::fs::write(path.join("all/z.yaml"), "kind: [").unwrap();
    let error = fail(path, &["convert", "-o", "json", "-f", "all"], b"");
    assert!(error.contains("all/z.yaml: not valid YAML"), "{error}");
}

#[test]
fn a_file_of_several_documents_becomes_several() {
    let folder = tempfile::tempdir().unwrap();
    let documents = format!("{DEPLOYMENT}---\n{DEPLOYMENT}");
    std::fs::write(folder.path().join("two.yaml"), documents).unwrap();
    let out = succeed(
        folder.path(),
        &["convert", "-f", "two.yaml", "-o", "json"],
        b"",
    );
    let values = serde_json::Deserializer::from_slice(&out).into_iter::<Value>();
    assert_eq!(
        values
            .map(Result::unwrap)
            .filter(|it| it["kind"] == "Deployment")
            .count(),
        2
    );
    let error = fail(
        folder.path(),
        &["convert", "-f", "two.yaml", "-o", "protobuf"],
        b"",
    );
    assert!(error.contains("wrap them in a v1 List"), "{error}");
}

#[test]
fn yaml_in_flow_form_is_yaml_although_it_begins_as_json_does() {
    let folder = tempfile::tempdir().unwrap();
    let map = |name| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}");
    let json = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#;
    for (input, names) in [
        (map("a"), &["a"][..]),
        (format!("{}\n---\n{json}\n", map("a")), &["a", "c"]),
        (format!("{json}\n---\n{json}\n"), &["c", "c"]),
        (format!("{json}\n{json}\n"), &["c", "c"]),
    ] {
        let arguments = ["convert", "-o", "json"];
        let out = succeed(folder.path(), &arguments, input.as_bytes());
        let values = serde_json::Deserializer::from_slice(&out).into_iter::<Value>();
        let found: Vec<Value> = values.map(Result::unwrap).collect();
        let found: Vec<_> = found.iter().map(|it| &it["metadata"]["name"]).collect();
        assert_eq!(found, names, "{input}");
    }
}

#[test]
fn bad_input_is_one_line_that_names_place_and_cause() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 13] = [
        (b"", "nothing to convert"),
        (b"# only a comment\n", "nothing to convert"),
        (b"---\n---\n", "nothing to convert"),
        (b"{\"kind\": \"Pod\",", "EOF"),
        (b"\xff\xfe\x00\x01", "neither JSON nor YAML nor protobuf"),
        (b"a: 1\nb: [2\n", "not valid YAML: line"),
        (b"[1, 2]", "expected an object"),
        (b"hello", "expected an object"),
        (
            b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"P\"}]}",
            "items[0]: P of v1",
        ),
        (
            b"apiVersion: v1\nkind: Nonsense\n",
            "Nonsense of v1 is not a built-in kind",
        ),
        (b"apiVersion: v1\nkind: Pod\nspec: [1]\n", "spec"),
        (b"kind: Pod\n", "apiVersion is missing"),
        (b"k8s\0\xff\xff\xff", "standard input"),
    ];
    for (input, part) in cases {
        let error = fail(folder.path(), &["convert", "-o", "json"], input);
        assert!(error.contains(part), "{error}");
    }
    let error = fail(
        folder.path(),
        &["convert", "-f", "absent.yaml", "-o", "json"],
        b"",
    );
    assert!(error.contains("absent.yaml"), "{error}");
    let error = fail(folder.path(), &["convert", "-f", ".", "-o", "json"], b"");
    assert!(error.contains("no file with one of"), "{error}");
}

#[test]
fn what_is_left_out_or_given_twice_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 4] = [
        (
            b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"speck\":{}}",
            "unknown field \"speck\"",
        ),
        (
            b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"nodeName\":\"a\",\"nodeName\":\"b\"}}",
            "duplicate field \"spec.nodeName\"",
        ),
        (b"apiVersion: v1\nkind: Pod\nspeck: 1\n", "unknown field"),
        (b"apiVersion: v1\nkind: Pod\nkind: Pod\n", "line 3"),
    ];
    for (input, part) in cases {
        let output = run(folder.path(), &["convert", "-o", "yaml"], input);
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && warnings.contains(part),
            "{warnings}"
        );
    }
}
