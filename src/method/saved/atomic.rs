//! Writing a file so that it is the old one or the new one, whatever happens: into a
//! temporary file of the same folder, down to the disk, and only then under its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::writer::Fault;

/// Names of temporary files that are free are tried for; this many times.
const ATTEMPTS: usize = 100;

/// Removes the temporary file unless it was given its name.
struct Temporary(Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing else can be done about a file that does not go away.
            let _ = fs::remove_file(path);
        }
    }
}

/// Write `path` by `fill`, all of it or nothing.
pub(super) fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fault> {
    // What a link points to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| old.is_dir()) {
        return Err(Fault("it is a folder; add the name of a file".into()));
    }
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(Fault("it is a device or the like and not a file".into()));
    }
    if target.file_name().is_none() {
        return Err(Fault("it is not the name of a file".into()));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Fault(format!("its folder '{}' does not exist; make it first", folder.display())));
    }
    let said = |fault: io::Error| Fault(sentence(&fault, folder));
    let (file, temporary) = create(folder).map_err(said)?;
    let mut temporary = Temporary(Some(temporary));
    if let Some(old) = old {
        // A file that is replaced keeps who may read it, where the system lets us say so.
        let _ = file.set_permissions(old.permissions());
    }
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    fill(&mut buffered).map_err(said)?;
    let file = buffered.into_inner().map_err(|fault| said(fault.into_error()))?;
    file.sync_all().map_err(said)?;
    drop(file);
    if let Some(ready) = &temporary.0 {
        fs::rename(ready, &target).map_err(said)?;
    }
    temporary.0 = None;
    // The new name is on the disk once the folder is; not every system can be asked for it.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A new file beside the one that is to be written.
fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    for _ in 0..ATTEMPTS {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".planish-{}-{count}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
            Err(fault) => return Err(fault),
        }
    }
    Err(io::Error::from(ErrorKind::AlreadyExists))
}

/// Why a file could not be written, for a person.
fn sentence(fault: &io::Error, folder: &Path) -> String {
    match fault.kind() {
        ErrorKind::PermissionDenied => format!("nothing may be written into the folder '{}'", folder.display()),
        ErrorKind::ReadOnlyFilesystem => format!("the folder '{}' can only be read", folder.display()),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            format!("there is not enough room for it on the disk ({fault}); nothing was written")
        }
        _ => format!("it could not be written ({fault})"),
    }
}
