//! Options of audit, under upstream's names.

use super::audit_backend_options::{LogMode, WebhookMode};
use super::{WrongUsage, values};
use clap::{ArgAction, Args};
use kubist::AuditWebhook;
use kubist::apiserver::audit::{Audit, Backend, LineFormat, LogFile, Policy};
use kubist::read_regular_file;
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum bytes of a policy file.
const POLICY_BYTES_MAX: u64 = 1 << 20;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The only version of events.
const VERSION: &str = "audit.k8s.io/v1";

#[derive(Args, Debug)]
pub(super) struct AuditOptions {
    /// The policy of audit (audit.k8s.io/v1, in YAML): which requests are recorded, and with what
    #[arg(long = "audit-policy-file", value_name = "FILE")]
    policy_file: Option<PathBuf>,
    /// The audit log, a line for each event; - is the standard output
    #[arg(long = "audit-log-path", value_name = "FILE")]
    log_path: Option<PathBuf>,
    /// Megabytes at which the audit log is renamed and a new one begun; 0: never
    #[arg(
        long = "audit-log-maxsize",
        value_name = "MEGABYTES",
        default_value_t = 100
    )]
    log_maxsize: u32,
    /// How many renamed audit logs are kept; 0: all
    #[arg(
        long = "audit-log-maxbackup",
        value_name = "FILES",
        default_value_t = 100
    )]
    log_maxbackup: u32,
    /// For how many days renamed audit logs are kept; 0: for ever
    #[arg(long = "audit-log-maxage", value_name = "DAYS", default_value_t = 366)]
    log_maxage: u32,
    /// Compress renamed audit logs with gzip
    #[arg(
        long = "audit-log-compress",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_value_t = false,
        default_missing_value = "true"
    )]
    log_compress: bool,
    /// The form of events in the audit log: json, or legacy for text
    #[arg(
        long = "audit-log-format",
        value_name = "FORMAT",
        default_value = "json"
    )]
    log_format: String,
    /// The API version of events in the audit log
    #[arg(long = "audit-log-version", value_name = "VERSION", default_value = VERSION)]
    log_version: String,
    #[command(flatten)]
    log: LogMode,
    /// A kubeconfig file whose current context is a webhook for audit events, which are posted in
    /// lists
    #[arg(long = "audit-webhook-config-file", value_name = "FILE")]
    webhook_config_file: Option<PathBuf>,
    /// How long the pause is before events are sent to the webhook again; it grows, and events are
    /// lost after five tries
    #[arg(
        long = "audit-webhook-initial-backoff",
        alias = "audit-webhook-batch-initial-backoff",
        value_name = "DURATION",
        default_value = "10s",
        value_parser = values::duration,
        allow_hyphen_values = true
    )]
    webhook_initial_backoff: Duration,
    /// The API version of events for the webhook
    #[arg(long = "audit-webhook-version", value_name = "VERSION", default_value = VERSION)]
    webhook_version: String,
    #[command(flatten)]
    webhook: WebhookMode,
}

impl AuditOptions {
    /// Returns what requests are recorded, and where, if they are.
    ///
    /// # Errors
    /// The policy or a backend cannot be used, or one is missing.
    pub(super) fn audit(&self) -> Result<Option<Audit>, Box<dyn Error>> {
        let mut backends = Vec::new();
        if let Some(path) = &self.log_path {
            backends.push(self.log(path)?);
        }
        if let Some(file) = &self.webhook_config_file {
            backends.push(self.webhook(file)?);
        }
        let policy = match (&self.policy_file, backends.is_empty()) {
            (None, true) => return Ok(None),
            (Some(policy), false) => policy,
            (None, false) => {
                let why = "--audit-policy-file is missing: without it nothing is recorded";
                return Err(WrongUsage(why.to_owned()).into());
            }
            (Some(_), true) => {
                let why = "--audit-policy-file needs --audit-log-path or \
                           --audit-webhook-config-file";
                return Err(WrongUsage(why.to_owned()).into());
            }
        };
        let shown = policy.display();
        let text = read_regular_file(policy, POLICY_BYTES_MAX)
            .map_err(|error| format!("--audit-policy-file: cannot read {shown}: {error}"))?;
        let policy = Policy::parse(&text)
            .map_err(|error| WrongUsage(format!("--audit-policy-file: {shown}: {error}")))?;
        Ok(Some(Audit::with_backends(policy, backends)?))
    }

    fn log(&self, path: &Path) -> Result<Backend, Box<dyn Error>> {
        let mode = self.log.mode().map_err(WrongUsage)?;
        let truncation = self.log.truncation().map_err(WrongUsage)?;
        check_version(&self.log_version)?;
        let format = match &*self.log_format {
            "json" => LineFormat::Json,
            "legacy" => LineFormat::Legacy,
            other => {
                let why = format!(
                    "invalid audit log format {other}, allowed formats are \"legacy,json\""
                );
                return Err(WrongUsage(why).into());
            }
        };
        let log = if path.as_os_str() == "-" {
            LogFile::stdout()
        } else {
            let bytes = u64::from(self.log_maxsize) << 20;
            let files = usize::try_from(self.log_maxbackup).unwrap_or(usize::MAX);
            let age = DAY.checked_mul(self.log_maxage).filter(|it| !it.is_zero());
            let log = LogFile::open(path, bytes)?;
            log.keep_files(files)
                .keep_for(age)
                .compress(self.log_compress)
        };
        let log = Backend::new(log).with_mode(mode).with_format(format);
        Ok(log.with_truncation(truncation))
    }

    fn webhook(&self, file: &Path) -> Result<Backend, Box<dyn Error>> {
        let mode = self.webhook.mode().map_err(WrongUsage)?;
        let truncation = self.webhook.truncation().map_err(WrongUsage)?;
        check_version(&self.webhook_version)?;
        let webhook = AuditWebhook::open(file, self.webhook_initial_backoff)
            .map_err(|error| format!("initializing audit webhook: {}", with_causes(&error)))?;
        let webhook = Backend::new(webhook).with_mode(mode);
        Ok(webhook.with_truncation(truncation))
    }
}

fn check_version(version: &str) -> Result<(), WrongUsage> {
    if version == VERSION {
        return Ok(());
    }
    let why = format!("invalid group version, allowed versions are [{VERSION:?}]");
    Err(WrongUsage(why))
}
