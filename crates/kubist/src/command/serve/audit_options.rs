//! Options of the audit log, under upstream's names.

use super::WrongUsage;
use clap::Args;
use kubist::apiserver::audit::{Audit, LogFile, Policy};
use kubist::read_regular_file;
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum bytes of a policy file.
const POLICY_BYTES_MAX: u64 = 1 << 20;
const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Args, Debug)]
pub(super) struct AuditOptions {
    /// The policy of the audit log (audit.k8s.io/v1, in YAML): which requests are in it, and with
    /// what
    #[arg(long = "audit-policy-file", value_name = "FILE", requires = "log_path")]
    policy_file: Option<PathBuf>,
    /// The audit log, a line of JSON for each event; - is the standard output
    #[arg(long = "audit-log-path", value_name = "FILE", requires = "policy_file")]
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
        default_value_t = 0
    )]
    log_maxbackup: u32,
    /// For how many days renamed audit logs are kept; 0: for ever
    #[arg(long = "audit-log-maxage", value_name = "DAYS", default_value_t = 0)]
    log_maxage: u32,
}

impl AuditOptions {
    /// Returns the audit log, if there is to be one.
    ///
    /// # Errors
    /// The policy cannot be used, or the log cannot be opened.
    pub(super) fn audit(&self) -> Result<Option<Audit>, Box<dyn Error>> {
        let (Some(policy), Some(path)) = (&self.policy_file, &self.log_path) else {
            return Ok(None);
        };
        let shown = policy.display();
        let text = read_regular_file(policy, POLICY_BYTES_MAX)
            .map_err(|error| format!("--audit-policy-file: cannot read {shown}: {error}"))?;
        let policy = Policy::parse(&text)
            .map_err(|error| WrongUsage(format!("--audit-policy-file: {shown}: {error}")))?;
        let log = if path.as_os_str() == "-" {
            LogFile::stdout()
        } else {
            let bytes = u64::from(self.log_maxsize) << 20;
            let files = usize::try_from(self.log_maxbackup).unwrap_or(usize::MAX);
            let age = DAY.checked_mul(self.log_maxage).filter(|it| !it.is_zero());
            LogFile::open(path, bytes)?.keep_files(files).keep_for(age)
        };
        Ok(Some(Audit::new(policy, log)?))
    }
}
