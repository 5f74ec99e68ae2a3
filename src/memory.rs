//! How much memory this process may still take: what the machine has free, what its
//! control groups leave it, and what a limited address space (`ulimit -v`) leaves it,
//! whichever is least.
//!
//! Linux says all three in files, which are read here: no library is linked for it.
//! macOS and Windows are asked through `system-memory`, which needs no framework, so that
//! wheels for them can be linked anywhere. Where nothing is known nothing is refused.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Bytes this process may still take.
pub(crate) fn available_memory() -> u64 {
    let text = |file: &str| read_to_string(format!("/proc/{file}")).unwrap_or_default();
    let group = least_left_in_groups(&text("self/cgroup"), &text("self/mountinfo"));
    let address_space = address_space_left(&text("self/limits"), &text("self/status"));
    [machine_memory(), group, address_space].into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// What the machine has free, the page cache that it would give back included.
#[cfg(not(any(target_os = "macos", windows)))]
fn machine_memory() -> Option<u64> {
    free_pages(&read_to_string("/proc/meminfo").ok()?)
}

/// What the machine has free: pages nobody uses now, without those that hold compressed ones.
#[cfg(target_os = "macos")]
fn machine_memory() -> Option<u64> {
    let page = system_memory::macos::page_size().ok()?;
    let now = system_memory::macos::vm_statistics().ok()?;
    let unused = u64::from(now.free_count) + u64::from(now.inactive_count) + u64::from(now.purgeable_count);
    Some(unused.saturating_sub(u64::from(now.compressor_page_count)).saturating_mul(page))
}

/// What the machine has free.
#[cfg(windows)]
fn machine_memory() -> Option<u64> {
    system_memory::Snapshot::get().ok().map(|now| now.available)
}

/// The number after `name` in a text of lines `name number …`.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Free memory as `/proc/meminfo` tells it.
#[cfg_attr(any(target_os = "macos", windows), allow(dead_code))]
fn free_pages(meminfo: &str) -> Option<u64> {
    let kilobytes = |name| number_after(meminfo, name);
    // Linux before 3.14 does not do the sum itself.
    let sum = || Some(kilobytes("MemFree:")? + kilobytes("Cached:")?);
    kilobytes("MemAvailable:").or_else(sum).map(|free| free.saturating_mul(1024))
}

/// What is left of a limited address space, from what Linux says of a process: its limits
/// and its status. `None` without a limit, and on other systems.
fn address_space_left(limits: &str, status: &str) -> Option<u64> {
    let limit = number_after(limits, "Max address space")?;
    let taken = number_after(status, "VmSize:")?.saturating_mul(1024);
    Some(limit.saturating_sub(taken))
}

/// Where the two versions of control groups keep a group's limit and its resident memory.
/// The page cache of a group is left out: the system gives it back when memory is short.
struct GroupFiles {
    limit: &'static str,
    resident: &'static str,
}

const VERSION_1: GroupFiles = GroupFiles { limit: "memory.limit_in_bytes", resident: "total_rss " };
const VERSION_2: GroupFiles = GroupFiles { limit: "memory.max", resident: "anon " };

/// The least that a control group of this process, or a group around it, has left. `None`
/// without a limit, and on other systems.
fn least_left_in_groups(groups: &str, mounts: &str) -> Option<u64> {
    let mut least = None;
    for (files, mount, group) in memory_groups(groups, mounts) {
        for folder in group.ancestors().take_while(|folder| folder.starts_with(&mount)) {
            let left = left_in_group(&files, folder);
            least = least.into_iter().chain(left).min();
        }
    }
    least
}

/// What one group has left.
fn left_in_group(files: &GroupFiles, folder: &Path) -> Option<u64> {
    // Without a limit it says `max`, which is no number.
    let limit: u64 = read_to_string(folder.join(files.limit)).ok()?.trim().parse().ok()?;
    let resident = number_after(&read_to_string(folder.join("memory.stat")).ok()?, files.resident)?;
    Some(limit.saturating_sub(resident))
}

/// The control groups of a process that count memory: the files to look for, the folder where
/// the groups are mounted and that of the process's own group, from `/proc/self/cgroup` and
/// `/proc/self/mountinfo`.
fn memory_groups(groups: &str, mounts: &str) -> Vec<(GroupFiles, PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else { continue };
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (Some(root), Some(mount)) = (place.next(), place.next()) else { continue };
        let (files, controllers) = match (kind.next(), kind.nth(1)) {
            (Some("cgroup2"), _) => (VERSION_2, ""),
            (Some("cgroup"), Some(options)) if options.split(',').any(|option| option == "memory") => {
                (VERSION_1, "memory")
            }
            _ => continue,
        };
        let own = groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let named = fields.next()?.split(',').any(|controller| controller == controllers);
            fields.next().filter(|_| named)
        });
        // A container may see the whole path of its group but only its own folder.
        let below = own.and_then(|own| Path::new(own).strip_prefix(root).ok());
        let below = below.filter(|below| below.components().all(|part| part.as_os_str() != ".."));
        let mount = PathBuf::from(mount);
        let group = below.map_or_else(|| mount.clone(), |below| mount.join(below));
        found.push((files, mount, group));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_address_space_is_seen() {
        let limits = |soft: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space  {soft}  unlimited  bytes\n")
        };
        let status = "Name:\tpython\nVmPeak:\t 9000 kB\nVmSize:\t    2000 kB\n";
        assert_eq!(address_space_left(&limits("3072000"), status), Some(1024 * 1000));
        assert_eq!(address_space_left(&limits("1000"), status), Some(0));
        assert_eq!(address_space_left(&limits("unlimited"), status), None);
        assert_eq!(address_space_left("", ""), None);
    }

    #[test]
    fn free_memory_counts_the_page_cache() {
        let now = "MemTotal: 90 kB\nMemFree:  10 kB\nMemAvailable:  70 kB\nCached:  50 kB\n";
        assert_eq!(free_pages(now), Some(70 * 1024));
        assert_eq!(free_pages(&now.replace("MemAvailable", "Other")), Some(60 * 1024));
        assert_eq!(free_pages(""), None);
    }

    /// A folder of its own with control groups in it; it is removed at the end.
    struct Groups(PathBuf);

    impl Groups {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("planish-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            Groups(folder)
        }

        fn group(&self, path: &str, limit: (&str, &str), stat: &str) {
            let folder = self.0.join(path);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(limit.0), format!("{}\n", limit.1)).unwrap();
            std::fs::write(folder.join("memory.stat"), stat).unwrap();
        }

        /// The line of `mountinfo` for these groups.
        fn mounted(&self, root: &str, kind: &str) -> String {
            format!("35 31 0:32 {root} {} rw,relatime shared:5 - {kind}\n", self.0.display())
        }
    }

    impl Drop for Groups {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_tightest_group_around_the_process_counts() {
        let here = Groups::new("v2");
        let stat = "anon 300\nfile 9000\nanon_thp 1\n";
        here.group("", ("memory.max", "max"), stat);
        here.group("user", ("memory.max", "1000"), stat);
        here.group("user/job", ("memory.max", "1500"), "anon 100\nfile 9000\n");
        here.group("other", ("memory.max", "1"), stat);
        let mounts = here.mounted("/", "cgroup2 cgroup2 rw,nsdelegate");
        assert_eq!(least_left_in_groups("0::/user/job\n", &mounts), Some(700));
        assert_eq!(least_left_in_groups("0::/\n", &mounts), None);
        // A container that sees its whole path but only its own folder.
        let contained = here.mounted("/docker/1", "cgroup2 cgroup2 rw");
        assert_eq!(least_left_in_groups("0::/docker/1/user\n", &contained), Some(700));
        assert_eq!(least_left_in_groups("0::/../../user\n", &contained), None);
        assert_eq!(least_left_in_groups("", ""), None);
    }

    #[test]
    fn groups_of_the_first_version_are_read() {
        let here = Groups::new("v1");
        here.group("box", ("memory.limit_in_bytes", "5000"), "rss 1\ntotal_rss 1200\n");
        let groups = "9:name=systemd:/\n5:devices:/\n4:memory,other:/box\n0::/\n";
        let mounts = here.mounted("/", "cgroup cgroup rw,memory");
        assert_eq!(least_left_in_groups(groups, &mounts), Some(3800));
        // A full group has nothing left, and a group without these files has no say.
        here.group("box", ("memory.limit_in_bytes", "100"), "total_rss 1200\n");
        assert_eq!(least_left_in_groups(groups, &mounts), Some(0));
        let devices = here.mounted("/", "cgroup cgroup rw,devices");
        assert_eq!(least_left_in_groups(groups, &devices), None);
    }

    #[test]
    fn this_machine_has_some_memory() {
        let free = available_memory();
        assert!(free > 1 << 20, "{free} bytes");
        assert!(free < 1 << 50, "{free} bytes");
    }
}
