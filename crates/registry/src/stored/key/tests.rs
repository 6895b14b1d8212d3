//! Tests of key layouts, and that custom and built-in layouts never overlap, for all names.

use crate::stored::key::*;
use proptest::strategy::{Just, Strategy};
use proptest::{prop_assert, prop_assume, prop_oneof, proptest};

#[test]
fn keys_are_upstreams() {
    let key = |group, plural, namespaced| {
        let layout = KeyLayout::built_in("/registry", group, plural, namespaced);
        layout.key("ns", "x").expect("both names are fine")
    };
    assert_eq!(
        key("apps", "deployments", true),
        "/registry/deployments/ns/x"
    );
    assert_eq!(key("", "services", true), "/registry/services/specs/ns/x");
    assert_eq!(key("", "nodes", false), "/registry/minions/x");
    assert_eq!(
        key("networking.k8s.io", "ingresses", true),
        "/registry/ingress/ns/x"
    );
}

#[test]
fn a_key_never_leaves_its_folder() {
    let layout = KeyLayout::built_in("/registry", "", "pods", true);
    for (namespace, name) in [
        ("", "x"),
        ("ns", ""),
        ("..", "x"),
        ("ns", "a/b"),
        ("ns", "%2e"),
    ] {
        let status = layout.key(namespace, name).expect_err("not a key");
        assert_eq!(status.code, 400, "{namespace} {name}");
    }
}

#[test]
fn names_are_read_back_from_keys() {
    let pods = KeyLayout::built_in("/registry", "", "pods", true);
    assert_eq!(pods.names(b"/registry/pods/ns/x"), ("ns", "x"));
    let nodes = KeyLayout::built_in("/registry", "", "nodes", false);
    assert_eq!(nodes.names(b"/registry/minions/x"), ("", "x"));
    assert!(!pods.range("ns").contains(b"/registry/pods/ns-x/y"));
    assert!(pods.range("").contains(b"/registry/pods/ns-x/y"));
}

const ROOT: &str = "/registry";

/// Text similar to the folders of built-in resources.
fn word() -> impl Strategy<Value = String> {
    let folders: Vec<String> = built_in_folders().collect();
    let mut words: Vec<String> = Vec::new();
    for folder in &folders {
        words.push(folder.clone());
        words.extend(folder.split('/').map(str::to_owned));
        words.extend(folder.split(['/', '.']).map(str::to_owned));
    }
    words.extend(GROUPS.iter().map(|group| group.name.to_owned()));
    prop_oneof![
        6 => proptest::sample::select(words),
        2 => "[a-z][a-z0-9-]{0,8}[a-z0-9]",
        1 => "[a-z0-9./-]{0,12}",
        1 => Just(String::new()),
    ]
}

fn group() -> impl Strategy<Value = String> {
    proptest::collection::vec(word(), 1..4).prop_map(|words| words.join("."))
}

/// All layouts of built-in resources.
fn built_in() -> impl Strategy<Value = KeyLayout> {
    let resources = GROUPS.iter().flat_map(|group| group.versions);
    let resources = resources.flat_map(|version| version.resources);
    let mut all: Vec<KeyLayout> = resources
        .map(|it| KeyLayout::built_in(ROOT, it.group, it.plural, it.namespaced))
        .collect();
    all.push(KeyLayout::built_in(ROOT, "", "ranges", false));
    all.extend(OTHER_FOLDERS.map(|folder| KeyLayout {
        root_bytes: 0,
        prefix: format!("{ROOT}/{folder}/"),
        namespaced: false,
    }));
    proptest::sample::select(all)
}

proptest! {
    #[test]
    fn keys_of_custom_and_built_in_resources_never_overlap(
        group in group(),
        plural in word(),
        namespaced: bool,
        built_in in built_in(),
        namespace in word(),
        name in word(),
    ) {
        let Ok(custom) = KeyLayout::custom(ROOT, &group, &plural, namespaced) else {
            return Ok(());
        };
        for (one, other) in [(&custom, &built_in), (&built_in, &custom)] {
            prop_assert!(!one.range("").contains(other.prefix.as_bytes()), "{one:?} {other:?}");
            prop_assert!(!one.range(&namespace).contains(other.prefix.as_bytes()));
            if let Ok(key) = one.key(&namespace, &name) {
                prop_assert!(!other.range("").contains(key.as_bytes()), "{key} {other:?}");
                prop_assert!(other.check(&key).is_err(), "{key} {other:?}");
                prop_assert!(one.range("").contains(key.as_bytes()));
            }
        }
    }

    #[test]
    fn keys_of_two_custom_resources_never_overlap(
        one in (group(), word()),
        other in (group(), word()),
        namespaced: bool,
        namespace in word(),
        name in word(),
    ) {
        prop_assume!(one != other);
        let layout = |(group, plural): &(String, String)| {
            KeyLayout::custom(ROOT, group, plural, namespaced)
        };
        if let (Ok(one), Ok(other)) = (layout(&one), layout(&other))
            && let Ok(key) = one.key(&namespace, &name)
        {
            prop_assert!(!other.range("").contains(key.as_bytes()), "{key} {other:?}");
        }
    }
}

#[test]
fn a_group_that_is_a_folder_of_something_built_in_has_no_place() {
    let definitions = "apiextensions.k8s.io";
    let refused = KeyLayout::custom(ROOT, definitions, "customresourcedefinitions", false);
    let folder = format!("{definitions}/customresourcedefinitions");
    assert_eq!(refused, Err(NoPlace::BuiltIn(folder)));
    for group in [
        "secrets", "minions", "services", "ranges", "ingress", "", "a/b.c", "A.b",
    ] {
        let refused = KeyLayout::custom(ROOT, group, "specs", true);
        assert_eq!(refused, Err(NoPlace::Group), "{group}");
    }
    for plural in ["", "a/b", "a.b", "1a"] {
        let refused = KeyLayout::custom(ROOT, "example.com", plural, true);
        assert_eq!(refused, Err(NoPlace::Plural), "{plural}");
    }
    let fine = KeyLayout::custom(ROOT, definitions, "others", false).expect("it is apart");
    assert_eq!(fine.prefix, "/registry/apiextensions.k8s.io/others/");
}
