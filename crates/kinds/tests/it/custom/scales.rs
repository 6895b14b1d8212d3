//! Scales of custom resources without replica counts.

use super::*;
use kubist_api::autoscaling::v1::Scale;
use kubist_registry::UpdatedObject;

/// An update of a scale.
struct Rescale(Option<i32>);

impl UpdatedObject for Rescale {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut scale = old.expect("there is one").boxed_clone();
        let any: &mut dyn std::any::Any = &mut *scale;
        let found = any.downcast_mut::<Scale>().expect("it is a scale");
        if let Some(replicas) = self.0 {
            found.spec.replicas = replicas;
        }
        Ok(scale)
    }
}

#[tokio::test]
async fn a_scale_of_an_object_without_replicas_is_an_error_until_it_is_set() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    create(
        &fixture,
        &rest,
        &json!({"metadata": {"name": "w"}, "spec": {"size": 1}}),
    )
    .await
    .expect("it is fine");
    let scale = rest.subresource("scale").expect("it has one");
    let (cx, any, options) = (
        fixture.cx(),
        ResourceVersion::default(),
        PostOptions::default(),
    );
    // Upstream documents an error. It has this code.
    let status = scale.get(&cx, "default", "w", &any).await;
    let status = status.expect_err("it does not say how many");
    assert_eq!(
        (status.code, &*status.message),
        (
            500,
            "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist"
        )
    );
    let status = scale
        .update(&cx, "default", "w", &Rescale(None), &options)
        .await;
    let status = status.expect_err("it still does not");
    assert_eq!(
        (status.code, &*status.message),
        (
            400,
            "the spec replicas field \".spec.replicas\" cannot be empty"
        )
    );
    let set = scale
        .update(&cx, "default", "w", &Rescale(Some(3)), &options)
        .await;
    let set: Scale = typed(&set.expect("it is fine").object);
    // The status and the selector are optional.
    assert_eq!(
        (
            set.spec.replicas,
            set.status.replicas,
            &*set.status.selector
        ),
        (3, 0, "")
    );
    let got = rest
        .get(&cx, "default", "w", &any)
        .await
        .expect("it exists");
    assert_eq!(shown(&got)["spec"], json!({"size": 1, "replicas": 3}));
    let missing = scale.get(&cx, "default", "nobody", &any).await;
    assert!(missing.is_err_and(|it| it.is_not_found()));
    let text = json!({"metadata": {"name": "t"}, "spec": {"replicas": "three"}});
    let status = create(&fixture, &rest, &text).await;
    let status = status.expect_err("it is no number");
    assert_eq!(status.code, 422);
    assert!(
        status.message.ends_with(
            ".spec.replicas accessor error: three is of the type string, expected int64"
        ),
        "{status}"
    );
    drop(task);
}
