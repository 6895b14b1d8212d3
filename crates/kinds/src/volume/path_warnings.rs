//! Warnings about overlapping file paths in one volume.

use kubist_api::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};
use std::fmt;

/// The maximum number of files of a volume that are compared with the others.
const FILES_COMPARED: usize = 64;

/// A file or directory, and its source if the volume has several sources.
struct File<'a> {
    path: &'a str,
    source: &'a str,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, source) = (self.path, self.source);
        if source.is_empty() {
            write!(f, "{path:?}")
        } else {
            write!(f, "{path:?} ({source})")
        }
    }
}

impl File<'_> {
    /// Reports whether the paths are equal or one is inside the other.
    fn overlaps(&self, other: &File<'_>) -> bool {
        let is_in = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        is_in(self.path, other.path) || is_in(other.path, self.path)
    }
}

/// Adds the warnings for a volume.
pub(crate) fn check(found: &mut Vec<String>, volume: &Volume) {
    let name = volume.name.as_str();
    if let Some(map) = &volume.config_map {
        let what = format!("ConfigMap {:?}", map.name.as_str());
        overlaps(found, name, &what, &[(String::new(), paths(&map.items))]);
    }
    if let Some(secret) = &volume.secret {
        let what = format!("Secret {:?}", secret.secret_name.as_str());
        overlaps(found, name, &what, &[(String::new(), paths(&secret.items))]);
    }
    if let Some(downward) = &volume.downward_api {
        let files = (String::new(), downward_paths(&downward.items));
        overlaps(found, name, "DownwardAPI", &[files]);
    }
    if let Some(projected) = &volume.projected {
        let mut sources = Vec::new();
        for source in &projected.sources {
            match files(source) {
                Some(files) => sources.push(files),
                // Upstream does not handle the newer sources here.
                None => found.push(format!(
                    "volume {name:?} (Projected) has no sources provided"
                )),
            }
        }
        overlaps(found, name, "Projected", &sources);
    }
}

/// Returns the description of a source and the files that it creates.
fn files(source: &VolumeProjection) -> Option<(String, Vec<&str>)> {
    if let Some(map) = &source.config_map {
        let what = format!("ConfigMap {:?}", map.name.as_str());
        return Some((what, paths(&map.items)));
    }
    if let Some(secret) = &source.secret {
        let what = format!("Secret {:?}", secret.name.as_str());
        return Some((what, paths(&secret.items)));
    }
    if let Some(downward) = &source.downward_api {
        return Some(("DownwardAPI".to_owned(), downward_paths(&downward.items)));
    }
    let token = source.service_account_token.as_ref()?;
    Some(("ServiceAccountToken".to_owned(), vec![token.path.as_str()]))
}

fn paths(items: &[KeyToPath]) -> Vec<&str> {
    items.iter().map(|it| it.path.as_str()).collect()
}

fn downward_paths(items: &[DownwardAPIVolumeFile]) -> Vec<&str> {
    items.iter().map(|it| it.path.as_str()).collect()
}

fn overlaps(found: &mut Vec<String>, volume: &str, what: &str, sources: &[(String, Vec<&str>)]) {
    let mut before: Vec<File<'_>> = Vec::new();
    for (source, paths) in sources {
        for path in paths {
            let path = path.trim_end_matches('/');
            let file = File { path, source };
            for other in before.iter().filter(|it| file.overlaps(it)) {
                found.push(format!(
                    "volume {volume:?} ({what}): overlapping paths: {file} with {other}"
                ));
            }
            if before.len() < FILES_COMPARED {
                before.push(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(paths: &[&str]) -> Vec<KeyToPath> {
        let item = |path: &&str| KeyToPath {
            path: (*path).into(),
            ..KeyToPath::default()
        };
        paths.iter().map(item).collect()
    }

    #[test]
    fn a_file_is_no_folder_and_is_there_once() {
        let mut volume = Volume {
            name: "v".into(),
            ..Volume::default()
        };
        let map = volume.config_map.get_or_insert_default();
        map.name = "m".into();
        map.items = items(&["p", "p/q", "pq", "p"]);
        let mut found = Vec::new();
        check(&mut found, &volume);
        assert_eq!(
            found,
            [
                "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"p/q\" with \"p\"",
                "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"p\" with \"p\"",
                "volume \"v\" (ConfigMap \"m\"): overlapping paths: \"p\" with \"p/q\"",
            ]
        );
    }

    #[test]
    fn sources_of_a_volume_are_told_apart() {
        let mut volume = Volume {
            name: "v".into(),
            ..Volume::default()
        };
        let projected = volume.projected.get_or_insert_default();
        let mut secret = VolumeProjection::default();
        let of_secret = secret.secret.get_or_insert_default();
        of_secret.name = "s".into();
        of_secret.items = items(&["k/l"]);
        let mut token = VolumeProjection::default();
        token.service_account_token.get_or_insert_default().path = "k".into();
        projected.sources = vec![secret, token, VolumeProjection::default()];
        let mut found = Vec::new();
        check(&mut found, &volume);
        assert_eq!(
            found,
            [
                "volume \"v\" (Projected) has no sources provided",
                "volume \"v\" (Projected): overlapping paths: \"k\" (ServiceAccountToken) with \
                 \"k/l\" (Secret \"s\")",
            ]
        );
    }
}
