//! Reads regular files up to a size limit.
//!
//! A pipe or device in place of a file would block the start of a server silently.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Returns the contents of a regular file.
///
/// # Errors
/// It cannot be read, is a directory, pipe or device, or is longer than `bytes_max`.
pub fn read_regular_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        let what = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut bytes = Vec::new();
    // One more byte distinguishes a file of that length from a longer one.
    let mut bounded = File::open(path)?.take(bytes_max.saturating_add(1));
    bounded.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_limit_and_folders_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        assert_eq!(read_regular_file(&path, 10).unwrap(), b"0123456789");
        let error = read_regular_file(&path, 9).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 9 bytes");
        let error = read_regular_file(folder.path(), 9).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
    }
}
