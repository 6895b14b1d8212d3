//! Directives: `$patch`, `$setElementOrder`, `$retainKeys`.

use super::*;

#[test]
fn directives_delete_and_replace_items() {
    let before = json!({"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]});
    let patch = json!({"containers": [{"name": "b", "$patch": "delete"}]});
    let after = json!({"containers": [{"name": "a"}, {"name": "c"}]});
    assert_eq!(spec(before.clone(), patch).unwrap(), after);
    let patch = json!({"containers": [{"$patch": "replace"}, {"name": "z"}]});
    assert_eq!(
        spec(before.clone(), patch).unwrap(),
        json!({"containers": [{"name": "z"}]})
    );
    let patch = json!({"containers": [{"name": "none", "$patch": "delete"}]});
    assert_eq!(spec(before.clone(), patch).unwrap(), before);
    // Nothing to replace and nothing to delete: the directive leaves no trace.
    let patch = json!({"containers": [{"name": "z"}, {"name": "y", "$patch": "delete"}]});
    assert_eq!(
        spec(json!({}), patch).unwrap(),
        json!({"containers": [{"name": "z"}]})
    );
}

#[test]
fn directives_delete_and_replace_maps() {
    let before = json!({"labels": {"a": "1", "b": "2"}});
    let patch = json!({"labels": {"$patch": "replace", "only": "this"}});
    assert_eq!(
        meta(before.clone(), patch).unwrap(),
        json!({"labels": {"only": "this"}})
    );
    let patch = json!({"labels": {"$patch": "delete"}});
    assert_eq!(meta(before, patch).unwrap(), json!({"labels": {}}));
    let patch = json!({"labels": {"$patch": "replace", "only": "this"}});
    assert_eq!(
        meta(json!({}), patch).unwrap(),
        json!({}),
        "a map that is not there"
    );
}

#[test]
fn only_maps_with_a_patch_directive_are_left_out_of_what_is_new() {
    let strategy = json!({"$retainKeys": ["name"], "name": "a", "whole": {"$patch": "delete"}});
    let patch = json!({"strategy": strategy, "$deleteFromPrimitiveList/texts": "no list"});
    assert_eq!(
        spec(json!({"texts": ["x"]}), patch).unwrap(),
        json!({"strategy": {"$retainKeys": ["name"], "name": "a"}, "texts": ["x"]})
    );
    let item = json!({"name": "b", "ports": [{"$patch": "delete", "containerPort": 1}]});
    let before = json!({"containers": [{"name": "a"}]});
    let after = spec(before, json!({"containers": [item]})).unwrap();
    assert_eq!(after["containers"][0], item, "a new item is taken as it is");
}

#[test]
fn set_element_order_orders_what_it_names() {
    let before = json!({"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]});
    let patch = json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        "containers": [{"name": "a", "image": "2"}]});
    let after = spec(before.clone(), patch).unwrap();
    assert_eq!(
        after,
        json!({"containers": [{"name": "s"}, {"name": "b"}, {"name": "a", "image": "2"}]})
    );
    let only = json!({"$setElementOrder/containers": [{"name": "s"}, {"name": "a"}]});
    let after = spec(before.clone(), only).unwrap();
    assert_eq!(
        after["containers"],
        json!([{"name": "s"}, {"name": "a"}, {"name": "b"}])
    );
    let scalars = json!({"$setElementOrder/finalizers": ["z", "y", "x"], "finalizers": ["y"]});
    let after = meta(json!({"finalizers": ["x", "q", "z"]}), scalars).unwrap();
    assert_eq!(after, json!({"finalizers": ["q", "z", "y", "x"]}));
    let deletes = json!({"$setElementOrder/containers": [{"name": "b"}],
        "containers": [{"name": "a", "$patch": "delete"}]});
    let after = spec(before, deletes).unwrap();
    assert_eq!(after["containers"], json!([{"name": "s"}, {"name": "b"}]));
    let new = json!({"$setElementOrder/volumes": [{"name": "v"}], "volumes": [{"name": "v"}]});
    assert_eq!(
        spec(json!({}), new).unwrap(),
        json!({"volumes": [{"name": "v"}]})
    );
}

#[test]
fn retain_keys_clears_the_others() {
    let before = json!({"strategy": {"name": "RollingUpdate", "value": "25%"}});
    let patch = json!({"strategy": {"$retainKeys": ["name"], "name": "Recreate"}});
    assert_eq!(
        spec(before.clone(), patch).unwrap(),
        json!({"strategy": {"name": "Recreate"}})
    );
    let patch = json!({"strategy": {"$retainKeys": ["value"], "name": "Recreate"}});
    assert_eq!(spec(before.clone(), patch), Err(PatchError::RetainKeys));
    let patch = json!({"strategy": {"$retainKeys": "name"}});
    assert_eq!(spec(before, patch), Err(PatchError::RetainKeys));
    let volumes = json!({"volumes": [{"name": "v", "value": "emptyDir"}]});
    let patch = json!({"volumes": [{"name": "v", "$retainKeys": ["name"]}]});
    assert_eq!(
        spec(volumes, patch).unwrap(),
        json!({"volumes": [{"name": "v"}]})
    );
}

#[test]
fn a_spent_patch_has_no_nulls_where_nothing_was() {
    let before = json!({"spec": {"nodeSelector": {"b": "1"}, "containers": [{"name": "z",
        "env": [{"name": "X"}]}]}});
    for (patch, left) in [
        (
            json!({"unknownField": {"a": null}}),
            json!({"unknownField": {}}),
        ),
        (
            json!({"spec": {"nodeSelector": {"a": null, "b": true}}}),
            json!({"spec": {"nodeSelector": {"a": null, "b": true}}}),
        ),
        (
            json!({"spec": {"containers": [{"name": "z", "image": null, "ports": {"a": null}}]}}),
            json!({"spec": {"containers": [{"name": "z", "image": null, "ports": {}}]}}),
        ),
        (
            json!({"spec": {"$retainKeys": ["nodeSelector"], "$setElementOrder/containers": [],
                "containers": [], "nodeSelector": {"$patch": "replace", "c": 1}}}),
            json!({"spec": {"nodeSelector": {"c": 1}}}),
        ),
        (
            json!({"new": {"b": {"$patch": "delete"}, "c": [{"$patch": "x"}], "$retainKeys": []}}),
            json!({"new": {"c": [], "$retainKeys": []}}),
        ),
        (
            json!({"new": [{"$patch": "replace"}, {"b": {"$patch": "delete"}}]}),
            json!({"new": [{"$patch": "replace"}, {}]}),
        ),
    ] {
        assert_eq!(super::super::spent(&before, patch, &KIND), left);
    }
}
