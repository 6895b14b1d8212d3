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
    // Its help is `enable_help`.
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',', help = enable_help())]
    enable_admission_plugins: Vec<String>,
    // Its help is `disable_help`.
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',', help = disable_help())]
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
        let check = |it: &PluginSelection| it.check().map_err(|it| WrongUsage(with_causes(&it)));
        let Some(file) = &self.admission_control_config_file else {
            check(&selection)?;
            return Ok(selection);
        };
        let selection = selection.with_configuration(configuration(file)?);
        check(&selection)?;
        for plugin in selection.configured_in_vain() {
            tracing::warn!(
                plugin,
                "--admission-control-config-file configures a plugin that is not enabled"
            );
        }
        Ok(selection)
    }
}

/// Returns the names of the plugins that are on by default, or of those that are off.
fn plugin_names(are_on: bool) -> String {
    let named = PluginSelection::available().filter(|(_, is_on)| *is_on == are_on);
    named.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

fn enable_help() -> String {
    format!(
        "Admission plugins to enable beside those that are on by default ({}). Off by default: {}. \
         The order does not matter. A plugin that this server does not have is refused",
        plugin_names(true),
        plugin_names(false)
    )
}

fn disable_help() -> String {
    format!(
        "Admission plugins to disable. On by default: {}. The rules of NamespaceLifecycle cannot be \
         switched off",
        plugin_names(true)
    )
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
