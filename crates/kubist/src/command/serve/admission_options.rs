//! Options for admission plugins.

use super::WrongUsage;
use clap::Args;
use kubist::PluginSelection;
use std::error::Error;

#[derive(Args, Debug)]
pub(super) struct AdmissionOptions {
    /// Upstream's admission plugins to enable beside its default ones. A plugin that this server
    /// does not have is refused
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Upstream's default admission plugins to disable
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
}

impl AdmissionOptions {
    /// Returns the enabled plugins.
    ///
    /// # Errors
    /// A plugin is unknown, in both lists, or does not exist here.
    pub(super) fn plugins(&self) -> Result<PluginSelection, Box<dyn Error>> {
        let (enable, disable) = (
            &self.enable_admission_plugins,
            &self.disable_admission_plugins,
        );
        let selection = PluginSelection::new(enable, disable);
        Ok(selection.map_err(|error| WrongUsage(error.to_string()))?)
    }
}
