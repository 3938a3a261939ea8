//! Links in a tar archive: what they link to is checked by its own name, if it is in the archive.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Component, Path, PathBuf};

/// Recordings, and links, that are remembered of one archive. Further recordings are no targets,
/// and further links are ignored.
const REMEMBERED_MAX: usize = 1_000_000;

#[derive(Default)]
pub(super) struct TarLinks {
    state: RandomState,
    /// The hashes of the paths of recordings.
    members: HashSet<u64>,
    /// Each link, and the hash of the path that it links to; none outside of the archive.
    links: Vec<(PathBuf, Option<u64>)>,
}

impl TarLinks {
    pub(super) fn member(&mut self, path: &Path) {
        if self.members.len() < REMEMBERED_MAX {
            self.members.extend(resolved(path).map(|path| self.state.hash_one(path)));
        }
    }

    /// The target of a symbolic link begins at the folder of the link.
    pub(super) fn link(&mut self, path: &Path, target: &Path, is_symbolic: bool) {
        let folder = path.parent().filter(|_| is_symbolic).unwrap_or(Path::new(""));
        let target = resolved(&folder.join(target)).map(|path| self.state.hash_one(path));
        if self.links.len() < REMEMBERED_MAX {
            self.links.push((path.to_owned(), target));
        }
    }

    /// The links to no recording in the archive.
    pub(super) fn dangling(self) -> impl Iterator<Item = PathBuf> {
        let Self { members, links, .. } = self;
        let is_dangling =
            move |target: Option<u64>| !target.is_some_and(|it| members.contains(&it));
        links.into_iter().filter(move |(_, target)| is_dangling(*target)).map(|(path, _)| path)
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
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved)
}
