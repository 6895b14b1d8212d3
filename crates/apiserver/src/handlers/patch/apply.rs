//! Server-side apply.

use crate::handlers::call::Call;
use crate::handlers::permitted_create;
use crate::handlers::target::Target;
use crate::negotiation::decode::duplicates_text;
use crate::request::validation_of;
use kubist_apimachinery::{AnyObject, FieldValidation, PatchOptions, Status, StatusReason};
use kubist_codec::patch::go_type;
use kubist_codec::yaml;
use kubist_registry::{
    AppliedConfig, Applier, RequestContext, Updated, UpdatedObject, remove_patched_duplicate_owners,
};
use serde_json::{Map, Value};

pub(super) async fn handle(
    call: &Call<'_>,
    target: &Target,
    body: &[u8],
    options: &PatchOptions,
) -> Result<Updated, Status> {
    let (config, duplicates) = configuration(body)?;
    check_depth(&config, CONFIG_DEPTH_MAX)?;
    let unsupported = || {
        Status::failure(
            415,
            StatusReason::UnsupportedMediaType,
            "415: Unsupported Media Type",
        )
    };
    let applied = Applied {
        cx: call.cx,
        target,
        applier: target.rest.applier().ok_or_else(unsupported)?,
        config,
        duplicates,
        options,
    };
    let updater = target.rest.updater().ok_or_else(|| call.no_such_verb())?;
    permitted_create::update(call, target, updater, &applied, &options.post).await
}

/// The maximum depth of a configuration. Its fields then are as deep as a field set can be, and the
/// object as deep as one in a create. Upstream's limit is that of Go's JSON decoder, 10,000.
const CONFIG_DEPTH_MAX: usize = 126;

/// Refuses a configuration that is nested too deeply. The recursion is bounded by `depth_max`.
fn check_depth(value: &Value, depth_max: usize) -> Result<(), Status> {
    let opened = match value {
        Value::Array(_) => '[',
        Value::Object(_) => '{',
        _ => return Ok(()),
    };
    let Some(below) = depth_max.checked_sub(1) else {
        return Err(Status::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: invalid character \
             '{opened}' exceeded max depth"
        )));
    };
    match value {
        Value::Array(items) => items.iter().try_for_each(|it| check_depth(it, below)),
        Value::Object(members) => members.values().try_for_each(|it| check_depth(it, below)),
        _ => Ok(()),
    }
}

/// Parses the configuration. Returns it with the error of its repeated keys, if there are any.
fn configuration(body: &[u8]) -> Result<(Value, Option<String>), Status> {
    let refused = |why: String| Status::bad_request(format!("error decoding YAML: {why}"));
    if let Some(config) = plain_json(body) {
        return Ok((config, None));
    }
    let document = yaml::parse(body)
        .map_err(|error| refused(format!("error converting YAML to JSON: {error}")))?;
    let config = match document.value {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        other => {
            let found = match go_type(&other) {
                "[]interface {}" => "array",
                "string" => "string",
                "bool" => "bool",
                _ => "number",
            };
            return Err(refused(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into \
                 Go value of type map[string]interface {{}}"
            )));
        }
    };
    let duplicates = (!document.duplicates.is_empty()).then(|| {
        let text = duplicates_text(&document.duplicates);
        format!("error converting YAML to JSON: {text}")
    });
    Ok((Value::Object(config), duplicates))
}

/// Returns a body that means the same as JSON and as YAML: most clients send JSON, which is parsed
/// ten times as fast.
fn plain_json(body: &[u8]) -> Option<Value> {
    if body.trim_ascii_start().first() != Some(&b'{') || body.len() > yaml::DOCUMENT_BYTES_MAX {
        return None;
    }
    let config = serde_json::from_slice(body).ok()?;
    let problems =
        kubist_codec::patch::strict_problems(kubist_codec::negotiate::PatchType::Merge, body);
    (problems.is_empty() && !has_floats(&config)).then_some(config)
}

/// Reports whether a number is not an integer: YAML reads and writes such numbers in its own way.
fn has_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_floats),
        Value::Object(members) => members.values().any(has_floats),
        _ => false,
    }
}

/// An apply as an update.
struct Applied<'a> {
    cx: &'a RequestContext,
    target: &'a Target,
    applier: &'a dyn Applier,
    config: Value,
    /// The error of repeated keys.
    duplicates: Option<String>,
    options: &'a PatchOptions,
}

impl UpdatedObject for Applied<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let applied = AppliedConfig {
            config: &self.config,
            manager: &self.options.post.field_manager,
            force: self.options.force == Some(true),
        };
        let mut object = self.applier.merge_applied(self.cx, old, &applied)?;
        self.check_duplicates()?;
        let uid = &object.meta().uid;
        if old.is_none() && !uid.is_empty() {
            let resource = self.target.rest.group_resource();
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was \
                 found"
            );
            return Err(Status::conflict(&resource, &self.target.name, why));
        }
        self.target.set_namespace(&mut *object)?;
        self.target.check_name(&*object)?;
        remove_patched_duplicate_owners(self.cx, &mut *object);
        Ok(object)
    }

    fn has_managers(&self) -> bool {
        true
    }

    fn creates(&self) -> bool {
        true
    }
}

impl Applied<'_> {
    fn check_duplicates(&self) -> Result<(), Status> {
        let Some(why) = &self.duplicates else {
            return Ok(());
        };
        match validation_of(&self.options.post) {
            FieldValidation::Ignore => Ok(()),
            FieldValidation::Warn => {
                let (_, lines) = why.split_once(":\n").unwrap_or(("", why));
                for line in lines.lines() {
                    self.cx.warn(line.trim());
                }
                Ok(())
            }
            FieldValidation::Strict => {
                let why = format!("error strict decoding YAML: {why}");
                Err(Status::bad_request(why))
            }
        }
    }
}
