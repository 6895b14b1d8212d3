//! CustomResourceDefinitions, as far as they are objects like others.

use crate::{Generation, KindStrategy, RequestContext, StatusKeeps};
use kubist_api::apiextensions::v1::{CustomResourceConversion, CustomResourceDefinition};

use super::fill;

#[derive(Debug)]
pub(super) struct CustomResourceDefinitions;

impl KindStrategy for CustomResourceDefinitions {
    type Kind = CustomResourceDefinition;

    fn apply_defaults(&self, object: &mut CustomResourceDefinition) {
        let names = &mut object.spec.names;
        let kind = names.kind.clone();
        if !kind.is_empty() {
            fill::text(&mut names.singular, &kind.to_lowercase());
            fill::text(&mut names.list_kind, &format!("{kind}List"));
        }
        let conversion = object.spec.conversion.get_or_insert_with(|| {
            let strategy = "None".into();
            Box::new(CustomResourceConversion {
                strategy,
                ..CustomResourceConversion::default()
            })
        });
        let client = conversion
            .webhook
            .as_mut()
            .and_then(|it| it.client_config.as_mut());
        if let Some(service) = client.and_then(|it| it.service.as_mut()) {
            service.port.get_or_insert(443);
        }
    }
    fn prepare_for_create(&self, _: &RequestContext, new: &mut CustomResourceDefinition) {
        let stored = new.spec.versions.iter().filter(|version| version.storage);
        new.status.stored_versions = stored.map(|version| version.name.clone()).collect();
    }
    fn prepare_for_update(
        &self,
        _: &RequestContext,
        new: &mut CustomResourceDefinition,
        _: &CustomResourceDefinition,
    ) {
        for version in new.spec.versions.iter().filter(|version| version.storage) {
            if !new.status.stored_versions.contains(&version.name) {
                new.status.stored_versions.push(version.name.clone());
            }
        }
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}
