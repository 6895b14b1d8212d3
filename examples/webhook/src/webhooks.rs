//! The webhooks: what a schema cannot say.

use crate::{v1, v2};
use kubist::custom_resource::Conversions;
use kubist::webhook::{AdmissionRequest, Admitted, Denied, Mutated, Operation, Webhooks};

/// The label with who created a website.
pub(crate) const CREATED_BY: &str = "example.com/created-by";

/// Returns all of them, by path.
pub(crate) fn webhooks() -> Webhooks {
    let conversions = Conversions::<v2::Website>::new().spoke::<v1::Website>();
    Webhooks::new()
        .validate("/validate", validate)
        .mutate("/mutate", mutate)
        .convert("/convert", move |object, version| {
            conversions.convert(object, version)
        })
}

async fn validate(request: AdmissionRequest<v2::Website>) -> Result<Admitted, Denied> {
    let website = request.object()?;
    let image = &website.spec.image;
    let Some((_, tag)) = image.rsplit_once(':') else {
        return Err(Denied::new("the image has no tag").field("spec.image", "it needs a tag"));
    };
    if request.operation == Operation::Update {
        let old = request.old_object()?;
        if old.spec.scale.max > 0 && website.spec.scale.max == 0 {
            let why = "a website that is served cannot be switched off: delete it";
            return Err(Denied::new(why).field(".spec.scale.max", "0"));
        }
    }
    if tag == "latest" {
        return Ok(Admitted::new().warn("`latest` is another image each time it is pulled"));
    }
    Ok(Admitted::new())
}

async fn mutate(request: AdmissionRequest<v2::Website>) -> Result<Mutated<v2::Website>, Denied> {
    let user = request.user.username.replace([':', '@', '/'], "_");
    let mut website = request.into_object()?;
    let labels = &mut website.metadata.labels;
    labels
        .entry(CREATED_BY.into())
        .or_insert_with(|| user.into());
    Ok(Mutated::new(website)) // the patch is what differs
}
