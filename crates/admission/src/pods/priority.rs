//! `Priority`: the priority of Pods, by their class, and the one default class.

use crate::objects::typed;
use kubist_api::core::v1::Pod;
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};

/// Sets the priority of new Pods, and keeps it on updates.
#[derive(Debug)]
pub(crate) struct Priority;

const GROUP: &str = "scheduling.k8s.io";
const PLURAL: &str = "priorityclasses";
/// What Pods do to others of lower priority, unless their class says otherwise.
const PREEMPT: &str = "PreemptLowerPriority";
/// Priority classes that upstream creates itself: name and value.
const SYSTEM_CLASSES: [(&str, i32); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

impl AdmissionPlugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "pods"), (GROUP, PLURAL)])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && target.subresource.is_empty()
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            if let Some(old) = attributes.old_typed::<Pod>() {
                if let Some(pod) = attributes.typed_mut::<Pod>() {
                    keep(pod, old);
                }
                return Ok(());
            }
            set(attributes).await
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let class = attributes.typed::<PriorityClass>();
            let Some(class) = class.filter(|it| it.global_default) else {
                return Ok(());
            };
            let other = default_class(attributes).await?;
            let creates = attributes.target().operation == Operation::Create;
            let other = other.filter(|it| creates || it.name != class.metadata.name);
            match other {
                None => Ok(()),
                Some(other) => Err(attributes.forbidden(format_args!(
                    "PriorityClass {} is already marked as default. Only one default can exist",
                    other.name
                ))),
            }
        })
    }
}

fn keep(pod: &mut Pod, old: &Pod) {
    let spec = &mut pod.spec;
    spec.priority = spec.priority.or(old.spec.priority);
    if spec.preemption_policy.is_none() {
        spec.preemption_policy
            .clone_from(&old.spec.preemption_policy);
    }
}

/// What a priority class assigns to its Pods.
struct Values {
    name: Str,
    value: i32,
    policy: Str,
}

impl Values {
    fn of(class: &PriorityClass) -> Self {
        let policy = class.preemption_policy.clone();
        Self {
            name: class.metadata.name.clone(),
            value: class.value,
            policy: policy.unwrap_or_else(|| PREEMPT.into()),
        }
    }

    fn plain(name: &str, value: i32) -> Self {
        Self {
            name: name.into(),
            value,
            policy: PREEMPT.into(),
        }
    }
}

async fn set(attributes: &mut Attributes<'_>) -> Result<(), Status> {
    let Some(pod) = attributes.typed::<Pod>() else {
        return Ok(());
    };
    let (own, own_policy) = (pod.spec.priority, pod.spec.preemption_policy.clone());
    let class = pod.spec.priority_class_name.clone();
    let values = if class.is_empty() {
        let default = default_class(attributes).await?;
        default.unwrap_or_else(|| Values::plain("", 0))
    } else {
        named_class(attributes, &class).await?
    };
    let Values {
        name,
        value,
        policy,
    } = values;
    if let Some(own) = own.filter(|&own| own != value) {
        return Err(attributes.forbidden(format_args!(
            "the integer value of priority ({own}) must not be provided in pod spec; priority \
             admission controller computed {value} from the given PriorityClass name"
        )));
    }
    if let Some(own) = own_policy.filter(|own| *own != policy) {
        return Err(attributes.forbidden(format_args!(
            "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; \
             priority admission controller computed {policy} from the given PriorityClass name"
        )));
    }
    if let Some(pod) = attributes.typed_mut::<Pod>() {
        pod.spec.priority = Some(value);
        pod.spec.preemption_policy = Some(policy);
        pod.spec.priority_class_name = name;
    }
    Ok(())
}

/// Returns the class of Pods without one: that with the lowest value among those marked as default.
async fn default_class(attributes: &Attributes<'_>) -> Result<Option<Values>, Status> {
    let all = attributes.objects().list(GROUP, PLURAL, "").await?;
    let classes = all.iter().filter_map(|it| typed::<PriorityClass>(&**it));
    let default = classes
        .filter(|it| it.global_default)
        .min_by_key(|it| it.value);
    Ok(default.map(Values::of))
}

async fn named_class(attributes: &Attributes<'_>, name: &str) -> Result<Values, Status> {
    let found = attributes.objects().get(GROUP, PLURAL, "", name).await?;
    if let Some(class) = found.as_deref().and_then(typed::<PriorityClass>) {
        return Ok(Values::of(class));
    }
    let system = SYSTEM_CLASSES.iter().find(|(class, _)| *class == name);
    let system = system.map(|(class, value)| Values::plain(class, *value));
    let missing =
        || attributes.forbidden(format_args!("no PriorityClass with name {name} was found"));
    system.ok_or_else(missing)
}
