//! Links in a tar archive: what they link to is checked by its own name, if it is in the archive.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Component, Path, PathBuf};

use super::is_stream_name;

/// How many recordings and links of one archive are remembered. Links to later recordings, and
/// later links, are ignored.
const REMEMBERED_MAX: usize = 1_000_000;

/// Links to links that are followed, as in the Linux kernel.
const LINKS_FOLLOWED_MAX: usize = 40;

#[derive(Default)]
pub(super) struct TarLinks {
    state: RandomState,
    /// The hashes of the paths of recordings.
    members: HashSet<u64>,
    links: Vec<PathBuf>,
    /// By the hash of the path of a link, that of the path that it links to.
    targets: HashMap<u64, u64>,
}

impl TarLinks {
    pub(super) fn member(&mut self, path: &Path) {
        if self.members.len() < REMEMBERED_MAX {
            self.members.extend(resolved(path).map(|path| self.hash(&path)));
        }
    }

    /// The target of a symbolic link begins at the folder of the link.
    pub(super) fn link(&mut self, path: &Path, target: &Path, is_symbolic: bool) {
        if self.targets.len() == REMEMBERED_MAX {
            return;
        }
        let folder = path.parent().filter(|_| is_symbolic).unwrap_or(Path::new(""));
        let target = resolved(&folder.join(target));
        if let Some((path, target)) = resolved(path).zip(target) {
            self.targets.insert(self.hash(&path), self.hash(&target));
        }
        if is_stream_name(path) {
            self.links.push(path.to_owned());
        }
    }

    /// The links to no recording in the archive.
    pub(super) fn dangling(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().map(PathBuf::as_path).filter(|path| !self.leads_to_member(path))
    }

    /// Hashes the text: `Path` may give `/a` and `a` the same hash.
    fn hash(&self, path: &Path) -> u64 {
        self.state.hash_one(path.as_os_str())
    }

    fn leads_to_member(&self, link: &Path) -> bool {
        let mut at = resolved(link).map(|path| self.hash(&path));
        // A file may have replaced the link: `tar -r` appends it.
        for _ in 0..LINKS_FOLLOWED_MAX {
            if at.is_some_and(|at| self.members.contains(&at)) {
                return true;
            }
            at = at.and_then(|at| self.targets.get(&at).copied());
        }
        false
    }
}

/// A path without `.` and `..`; none if it leaves the archive.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => {}
            Component::ParentDir => resolved.pop().then_some(())?,
            // `tar -P` archives absolute paths.
            Component::RootDir | Component::Prefix(_) => resolved.push(part),
        }
    }
    Some(resolved)
}
