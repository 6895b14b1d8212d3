//! `CronJob`: the kind of this operator.

use kubist::api::batch::v1::JobTemplateSpec;
use kubist::api::core::v1::ObjectReference;
use kubist::apimachinery::Time;
use kubist::custom_resource::{CustomResource, message_schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs a Job by a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[custom_resource(
    group = "batch.example.com",
    version = "v1",
    kind = "CronJob",
    namespaced
)]
#[custom_resource(status = "CronJobStatus", crate = kubist::custom_resource)]
#[custom_resource(printcolumn(name = "Schedule", type = "string", json_path = ".spec.schedule"))]
#[custom_resource(printcolumn(name = "Suspend", type = "boolean", json_path = ".spec.suspend"))]
#[custom_resource(printcolumn(
    name = "Last Schedule",
    type = "date",
    json_path = ".status.lastScheduleTime"
))]
// A Job's name has at most 63 characters, of which eleven are a hyphen and the minute.
#[custom_resource(validation(
    rule = "self.metadata.name.size() <= 52",
    message = "must be no more than 52 characters"
))]
#[serde(rename_all = "camelCase")]
pub(crate) struct CronJobSpec {
    /// When Jobs start, in the format of cron: minute, hour, day of the month, month, day of the
    /// week, in UTC; a name of a time zone may follow.
    #[schemars(length(min = 1))]
    pub(crate) schedule: String,
    /// The seconds after its time within which a Job may still start. Without it, the newest that
    /// was missed starts however late it is.
    #[schemars(range(min = 0))]
    pub(crate) starting_deadline_seconds: Option<i64>,
    /// What happens if a Job's time has come and an earlier one runs.
    #[serde(default)]
    pub(crate) concurrency_policy: ConcurrencyPolicy,
    /// Whether no further Jobs start; running ones go on.
    #[serde(default)]
    pub(crate) suspend: bool,
    /// The Jobs.
    #[schemars(schema_with = "message_schema::<JobTemplateSpec>")]
    pub(crate) job_template: JobTemplateSpec,
    /// How many successful Jobs are kept.
    #[serde(default = "three")]
    pub(crate) successful_jobs_history_limit: u32,
    /// How many failed Jobs are kept.
    #[serde(default = "one")]
    pub(crate) failed_jobs_history_limit: u32,
}

/// What happens if an earlier Job runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ConcurrencyPolicy {
    /// Both run.
    #[default]
    Allow,
    /// The new one does not start.
    Forbid,
    /// The earlier one is deleted.
    Replace,
}

/// What is known of a `CronJob`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CronJobStatus {
    /// The running Jobs.
    #[schemars(schema_with = "message_schema::<Vec<ObjectReference>>")]
    pub(crate) active: Vec<ObjectReference>,
    /// The time by the schedule of the newest Job that started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "message_schema::<Option<Time>>")]
    pub(crate) last_schedule_time: Option<Time>,
}

// The defaults of Kubernetes' CronJobs.
fn three() -> u32 {
    3
}

fn one() -> u32 {
    1
}
