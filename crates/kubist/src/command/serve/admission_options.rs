//! Options for admission plugins.

use super::WrongUsage;
use clap::{ArgAction, Args};
use kubist::{AdmissionConfiguration, PluginSelection, read_regular_file};
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Maximum bytes of a configuration file.
const CONFIGURATION_BYTES_MAX: u64 = 1 << 20;

#[derive(Args, Debug)]
pub(super) struct AdmissionOptions {
    /// Upstream's admission plugins to enable beside its default ones. A plugin that this server
    /// does not have is refused
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Upstream's default admission plugins to disable
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// Upstream's file with the configurations of admission plugins (apiserver.config.k8s.io/v1).
    /// What this server cannot obey is refused
    #[arg(long, value_name = "FILE")]
    admission_control_config_file: Option<PathBuf>,
    /// Whether Pods may have privileged containers; upstream's default is false
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_value_t = true,
        default_missing_value = "true"
    )]
    allow_privileged: bool,
}

impl AdmissionOptions {
    /// Enables a plugin that upstream enables by default, unless it is disabled.
    pub(super) fn add_upstream_default(&mut self, plugin: &str) {
        let is_listed = |list: &[String]| list.iter().any(|it| it == plugin);
        if !is_listed(&self.enable_admission_plugins) && !is_listed(&self.disable_admission_plugins)
        {
            self.enable_admission_plugins.push(plugin.to_owned());
        }
    }

    /// Reports whether Pods may have privileged containers.
    pub(super) fn allow_privileged(&self) -> bool {
        self.allow_privileged
    }

    /// Returns the enabled plugins with their configurations.
    ///
    /// # Errors
    /// A plugin is unknown, in both lists, or does not exist here; or the file cannot be used.
    pub(super) fn plugins(&self) -> Result<PluginSelection, Box<dyn Error>> {
        let (enable, disable) = (
            &self.enable_admission_plugins,
            &self.disable_admission_plugins,
        );
        let selection = PluginSelection::new(enable, disable);
        let selection = selection.map_err(|error| WrongUsage(error.to_string()))?;
        Ok(match &self.admission_control_config_file {
            Some(file) => selection.with_configuration(configuration(file)?),
            None => selection,
        })
    }
}

fn configuration(file: &Path) -> Result<AdmissionConfiguration, Box<dyn Error>> {
    let option = "--admission-control-config-file";
    let shown = file.display();
    let text = read_regular_file(file, CONFIGURATION_BYTES_MAX)
        .map_err(|error| format!("{option}: cannot read {shown}: {error}"))?;
    // As upstream: paths are relative to the file that has them.
    let folder = file.parent().unwrap_or_else(|| Path::new(""));
    let read = |path: &str| read_regular_file(&folder.join(path), CONFIGURATION_BYTES_MAX);
    let parsed = AdmissionConfiguration::parse(&text, &read);
    let parsed = parsed.map_err(|error| format!("{option}: {shown}: {}", with_causes(&error)));
    Ok(parsed.map_err(WrongUsage)?)
}
