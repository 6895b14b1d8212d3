//! DeviceClasses.

use crate::{Generation, KindStrategy};
use kubist_api::resource::v1::DeviceClass;
use kubist_apimachinery::{FieldError, FieldPath};

#[derive(Debug)]
pub(super) struct DeviceClasses;

impl KindStrategy for DeviceClasses {
    type Kind = DeviceClass;

    fn validate(&self, new: &DeviceClass) -> Vec<FieldError> {
        let path = FieldPath::new("spec").child("selectors");
        let selectors = new.spec.selectors.iter().enumerate();
        selectors
            .filter(|(_, it)| it.cel.is_none())
            .map(|(index, _)| FieldError::required(&path.index(index).child("cel"), ""))
            .collect()
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
    fn returns_deleted(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_selects_by_something() {
        let mut class = DeviceClass::default();
        class.spec.selectors.push(Default::default());
        let errors = DeviceClasses.validate(&class);
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["spec.selectors[0].cel: Required value"]);
    }
}
