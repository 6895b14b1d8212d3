//! Warnings of the Pods of a namespace that violate its new level.

use super::checks::violations;
use super::configuration::PodSecurityConfig;
use super::level::LevelVersion;
use super::subject::Subject;
use crate::objects::typed;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{OwnerReference, Str};
use kubist_registry::admission::Attributes;
use std::collections::{BTreeMap, BTreeSet};

/// The most Pods that are checked, as upstream.
const PODS_MAX: usize = 3000;
/// After how many Pods others have a turn.
const PODS_AT_ONCE: usize = 100;

/// The Pods that violate a level in the same way.
struct Alike<'a> {
    first: &'a str,
    count: usize,
}

/// Warns of the Pods that violate a level: one warning for all that do it in the same way.
pub(super) async fn warn(
    attributes: &Attributes<'_>,
    config: &PodSecurityConfig,
    level: LevelVersion,
) {
    let namespace = attributes.target().name;
    let cx = attributes.cx();
    let Ok(found) = attributes.objects().list("", "pods", namespace).await else {
        cx.warn("failed to list pods while checking new PodSecurity enforce level");
        return;
    };
    let pods = found.iter().filter_map(|it| typed::<Pod>(&**it));
    let pods = by_priority(pods.filter(|it| !config.exempts_class(&it.spec)));
    let mut alike: BTreeMap<String, Alike<'_>> = BTreeMap::new();
    for (index, pod) in pods.iter().take(PODS_MAX).enumerate() {
        if index % PODS_AT_ONCE == PODS_AT_ONCE - 1 {
            tokio::task::yield_now().await;
        }
        let subject = Subject::new(&pod.metadata, &pod.spec);
        let reasons = violations(subject, level);
        let reasons: Vec<&str> = reasons.iter().map(|it| it.reason).collect();
        if reasons.is_empty() {
            continue;
        }
        let name = pod.metadata.name.as_str();
        let known = alike.entry(reasons.join(", ")).or_insert(Alike {
            first: name,
            count: 0,
        });
        known.first = name.min(known.first);
        known.count += 1;
    }
    if pods.len() > PODS_MAX {
        cx.warn(format!(
            "new PodSecurity enforce level only checked against the first {PODS_MAX} of {} \
             existing pods",
            pods.len()
        ));
    }
    if alike.is_empty() {
        return;
    }
    cx.warn(format!(
        "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \
         \"{level}\""
    ));
    let mut texts: Vec<String> = alike.iter().map(|(reasons, it)| it.text(reasons)).collect();
    texts.sort();
    for text in texts {
        cx.warn(text);
    }
}

impl Alike<'_> {
    fn text(&self, reasons: &str) -> String {
        let first = self.first;
        match self.count {
            1 => format!("{first}: {reasons}"),
            2 => format!("{first} (and 1 other pod): {reasons}"),
            count => format!("{first} (and {} other pods): {reasons}", count - 1),
        }
    }
}

/// Orders Pods so that those of each controller come after its first.
fn by_priority<'a>(pods: impl Iterator<Item = &'a Pod>) -> Vec<&'a Pod> {
    let mut seen: BTreeSet<&Str> = BTreeSet::new();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for pod in pods {
        let mut owners = pod.metadata.owner_references.iter();
        let controller = owners.find(|it: &&OwnerReference| it.controller == Some(true));
        if controller.is_none_or(|it| seen.insert(&it.uid)) {
            first.push(pod);
        } else {
            others.push(pod);
        }
    }
    first.extend(others);
    first
}
