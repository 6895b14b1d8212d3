//! Streams, patches and YAML: every split, garbage, and recorded data.

#[cfg(test)]
mod envelope;
#[cfg(test)]
mod list_stream;
#[cfg(test)]
mod recorded_patches;
#[cfg(test)]
mod transcode;
#[cfg(test)]
mod watch_stream;
#[cfg(test)]
mod yaml;
