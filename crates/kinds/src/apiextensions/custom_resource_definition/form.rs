//! Definitions in upstream's internal form: fields that all versions share are in the spec itself,
//! and messages use Go field names.

use crate::shared::go_struct;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinitionVersion as Version, CustomResourceSubresources,
};
use kubist_apimachinery::BadValue;
use serde::Serialize;
use serde_json::value::RawValue;

/// The fields that are equal in all versions of a definition, or that are checked in one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) schema: bool,
    pub(crate) subresources: bool,
    pub(crate) columns: bool,
    pub(crate) fields: bool,
}

impl Shared {
    pub(crate) fn of(versions: &[Version]) -> Self {
        let same = |same: fn(&Version, &Version) -> bool| {
            let mut pairs = versions.iter().zip(versions.iter().skip(1));
            pairs.all(|(one, next)| same(one, next))
        };
        Self {
            schema: same(|one, next| one.schema == next.schema),
            subresources: same(|one, next| one.subresources == next.subresources),
            columns: same(|one, next| {
                one.additional_printer_columns == next.additional_printer_columns
            }),
            fields: same(|one, next| one.selectable_fields == next.selectable_fields),
        }
    }

    /// Returns the versions without the shared fields.
    pub(crate) fn shown(self, versions: &[Version]) -> BadValue {
        if versions.is_empty() {
            return BadValue::null();
        }
        let shown: Vec<Shown<'_>> = versions.iter().map(|it| self.shown_one(it)).collect();
        BadValue::json(&shown)
    }

    fn shown_one(self, version: &Version) -> Shown<'_> {
        let own = |is_shared: bool, text: Option<String>| {
            let text = text.filter(|_| !is_shared)?;
            RawValue::from_string(text).ok()
        };
        let schema = version.schema.as_deref().map(|it| go_struct::text(it));
        let columns = &version.additional_printer_columns;
        let fields = &version.selectable_fields;
        Shown {
            name: &version.name,
            served: version.served,
            storage: version.storage,
            deprecated: version.deprecated,
            deprecation_warning: version.deprecation_warning.as_deref(),
            schema: own(self.schema, schema),
            subresources: version
                .subresources
                .as_deref()
                .filter(|_| !self.subresources)
                .map(ShownSubresources::of),
            additional_printer_columns: own(
                self.columns,
                (!columns.is_empty()).then(|| go_struct::list_text(columns)),
            ),
            selectable_fields: own(
                self.fields,
                (!fields.is_empty()).then(|| go_struct::list_text(fields)),
            ),
        }
    }
}

/// A version in Go's output format.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Shown<'a> {
    name: &'a str,
    served: bool,
    storage: bool,
    deprecated: bool,
    deprecation_warning: Option<&'a str>,
    schema: Option<Box<RawValue>>,
    subresources: Option<ShownSubresources<'a>>,
    additional_printer_columns: Option<Box<RawValue>>,
    selectable_fields: Option<Box<RawValue>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ShownSubresources<'a> {
    status: Option<ShownStatus>,
    scale: Option<ShownScale<'a>>,
}

/// This type has no fields.
#[derive(Serialize)]
struct ShownStatus {}

#[derive(Serialize)]
struct ShownScale<'a> {
    #[serde(rename = "SpecReplicasPath")]
    spec_replicas: &'a str,
    #[serde(rename = "StatusReplicasPath")]
    status_replicas: &'a str,
    #[serde(rename = "LabelSelectorPath")]
    label_selector: Option<&'a str>,
}

impl<'a> ShownSubresources<'a> {
    fn of(subresources: &'a CustomResourceSubresources) -> Self {
        let scale = subresources.scale.as_deref().map(|it| ShownScale {
            spec_replicas: &it.spec_replicas_path,
            status_replicas: &it.status_replicas_path,
            label_selector: it.label_selector_path.as_deref(),
        });
        Self {
            status: subresources.status.as_ref().map(|_| ShownStatus {}),
            scale,
        }
    }
}
