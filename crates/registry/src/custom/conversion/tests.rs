//! Batches: order, identity, sizes, and conversions in progress.

use super::*;
use crate::custom::content::ServedContent;
use crate::custom::version_view::View;
use crate::storage::convert::ConvertStored;
use crate::stored::Stored;
use crate::stored::scheme::StoredKind;
use crate::{PlainKinds, Registry, RegistryConfig};
use futures_util::FutureExt as _;
use kubist_storage::memory::MemoryKv;
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::Semaphore;

/// A webhook that doubles `spec.n`, and records the numbers of each review.
#[derive(Debug)]
struct Doubler {
    reviews: Mutex<Vec<Vec<i64>>>,
    /// Each call needs one of these.
    seats: Semaphore,
}

impl Doubler {
    fn new(seats: usize) -> Arc<Self> {
        Arc::new(Self {
            reviews: Mutex::default(),
            seats: Semaphore::new(seats),
        })
    }
}

/// The caller and its client are one.
#[derive(Debug)]
struct Caller(Arc<Doubler>);

impl WebhookCaller for Caller {
    fn client(&self, _: &WebhookConfig) -> Result<Arc<dyn WebhookClient>, WebhookError> {
        Ok(Arc::clone(&self.0) as _)
    }
}

impl WebhookClient for Doubler {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<bytes::Bytes, WebhookError>> {
        Box::pin(async move {
            let review: Value = serde_json::from_slice(&call.body).expect("it is JSON");
            let request = &review["request"];
            let objects = request["objects"].as_array().expect("they are").clone();
            let numbers = objects.iter().filter_map(|it| it["spec"]["n"].as_i64());
            self.reviews.lock().push(numbers.collect());
            self.seats.acquire().await.expect("it is open").forget();
            let converted = objects.into_iter().map(|mut object| {
                object["apiVersion"] = request["desiredAPIVersion"].clone();
                object["spec"]["n"] = (object["spec"]["n"].as_i64().unwrap_or_default() * 2).into();
                object
            });
            let answer = json!({"response": {
                "convertedObjects": converted.collect::<Vec<_>>(),
                "result": {"status": "Success"},
            }});
            Ok(answer.to_string().into())
        })
    }
}

fn definition() -> CustomResourceDefinition {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    };
    let definition = json!({
        "metadata": {"name": "numbers.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "numbers", "kind": "Number", "listKind": "NumberList"},
            "versions": [version("v1"), version("v2"), version("v3")],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"url": "https://localhost"},
                "conversionReviewVersions": ["v1beta1"],
            }},
        },
    });
    serde_json::from_value(definition).expect("it is a definition")
}

fn conversion(doubler: &Arc<Doubler>) -> Arc<Conversion> {
    let kv = Arc::new(MemoryKv::default());
    let registry = Registry::new(RegistryConfig::new(kv, Arc::new(PlainKinds)));
    let parts = ConversionParts {
        caller: Some(Arc::new(Caller(Arc::clone(doubler)))),
        stores: Arc::clone(registry.stores()),
    };
    let content = ServedContent::of(&definition(), Some(&parts)).expect("there is room");
    content.expect("versions are served").conversion
}

fn number(conversion: &Conversion, version: usize, n: usize) -> CustomObject {
    let kind = conversion.versions().nth(version).expect("there are three");
    let mut object = CustomObject::new(kind.schema());
    object.metadata.name = format!("n{n}").into();
    object.metadata.uid = format!("u{n}").into();
    object.metadata.resource_version = n.to_string().into();
    object
        .content_mut()
        .insert("spec".to_owned(), json!({"n": n}));
    object
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("it is built").block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn batches_keep_order_and_identity(
        versions in proptest::collection::vec(0_usize..3, 0..1_200),
        to in 0_usize..3,
    ) {
        let doubler = Doubler::new(1_000);
        let conversion = conversion(&doubler);
        let numbered = versions.iter().enumerate();
        let objects = numbered.map(|(n, version)| number(&conversion, *version, n)).collect();
        let kind = conversion.versions().nth(to).expect("there are three");
        let converted = block_on(conversion.convert(objects, kind)).expect("it is fine");
        prop_assert_eq!(converted.len(), versions.len());
        for (n, (object, version)) in converted.iter().zip(&versions).enumerate() {
            prop_assert!(std::ptr::eq(object.schema(), kind.schema()));
            prop_assert_eq!(&*object.metadata.name, format!("n{n}"));
            prop_assert_eq!(&*object.metadata.uid, format!("u{n}"));
            prop_assert_eq!(&*object.metadata.resource_version, n.to_string());
            let times = if *version == to { 1 } else { 2 };
            prop_assert_eq!(&object.content()["spec"]["n"], &json!(n * times));
        }
        // Each object of another version is sent once, in order, in as few reviews as possible.
        let others = versions.iter().enumerate().filter(|(_, version)| **version != to);
        let others: Vec<i64> = others.map(|(n, _)| i64::try_from(n).expect("small")).collect();
        let reviews = std::mem::take(&mut *doubler.reviews.lock());
        prop_assert_eq!(reviews.len(), others.len().div_ceil(OBJECTS_MAX));
        prop_assert_eq!(reviews.concat(), others);
    }
}

/// A view of stored numbers in `v2`.
fn view(conversion: &Arc<Conversion>) -> Arc<dyn ConvertStored> {
    let kind = conversion.versions().nth(1).expect("there are three");
    let stored = conversion.versions().next().expect("there are three");
    Arc::new(View::new(Arc::clone(conversion), kind, stored))
}

fn stored(conversion: &Conversion, n: usize) -> Stored {
    let kind = conversion.versions().next().expect("there are three");
    let object = number(conversion, 0, n);
    let revision = u64::try_from(n).expect("small") + 1;
    Stored::from_object(StoredKind::plain(kind), revision, Box::new(object))
}

#[tokio::test]
async fn concurrent_watches_convert_an_object_once() {
    let doubler = Doubler::new(0);
    let conversion = conversion(&doubler);
    let view = view(&conversion);
    // Not the same values: each watch may have read its own.
    let read = || [stored(&conversion, 1), stored(&conversion, 2)];
    let (first, second, third) = (
        read(),
        read(),
        [stored(&conversion, 2), stored(&conversion, 3)],
    );
    let seats = async {
        tokio::task::yield_now().await;
        doubler.seats.add_permits(10);
    };
    let (first, second, third, ()) = tokio::join!(
        view.convert(&first),
        view.convert(&second),
        view.convert(&third),
        seats
    );
    let numbers = |converted: Result<Vec<Stored>, kubist_apimachinery::Status>| -> Vec<i64> {
        let converted = converted.expect("it is fine");
        let objects = converted
            .iter()
            .map(|it| custom(&**it.object().expect("fine")).cloned());
        let objects = objects.flatten();
        objects
            .filter_map(|it| it.content()["spec"]["n"].as_i64())
            .collect()
    };
    assert_eq!(
        (numbers(first), numbers(second), numbers(third)),
        (vec![2, 4], vec![2, 4], vec![4, 6])
    );
    assert_eq!(*doubler.reviews.lock(), [vec![1, 2], vec![3]]);
}

#[tokio::test]
async fn a_cancelled_conversion_is_taken_over() {
    let doubler = Doubler::new(0);
    let conversion = conversion(&doubler);
    let view = view(&conversion);
    let objects = [stored(&conversion, 1)];
    let mut first = view.convert(&objects);
    assert!((&mut first).now_or_never().is_none());
    let mut second = view.convert(&objects);
    assert!((&mut second).now_or_never().is_none());
    assert_eq!(doubler.reviews.lock().len(), 1);
    drop(first);
    doubler.seats.add_permits(1);
    assert_eq!(second.await.expect("it is fine").len(), 1);
    assert_eq!(*doubler.reviews.lock(), [[1], [1]]);
}
