//! The house rules a machine can check: which folder may name which
//! dependency, and what may not appear in the sources at all.

use std::fs;
use std::path::{Path, PathBuf};

/// A dependency and the only places (path prefixes below `src`) that may name it.
const SEAMS: &[(&str, &[&str])] = &[
    ("pyo3", &["python/"]),
    ("numpy", &["python/"]),
    ("faer", &["linalg/", "neighbors/estimate.rs"]),
    ("petgraph", &["graph/"]),
    ("sysinfo", &["context.rs"]),
    ("rand_pcg", &["context.rs", "linalg/random.rs"]),
    ("postcard", &["pipeline.rs", "methods/mod.rs"]),
    ("thiserror", &["error.rs"]),
    ("ThreadPoolBuilder", &["context.rs"]),
];

/// What no source file may contain outside comments.
const BANNED: &[&str] = &[
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
    "todo!",
    "unimplemented!",
    "process::exit",
    "allow(unsafe_code)",
    "#[ignore",
];

/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "misc", "common"];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("src is readable") {
            let path = entry.expect("src is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let below = path.strip_prefix(&root).expect("found below src");
                let name = below.to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).expect("sources are text")));
            }
        }
    }
    assert!(found.len() > 10, "the sources were not found");
    found.sort();
    found
}

/// The lines of a file that are code, with their numbers; comments are cut off.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(number, line)| {
        let code = line.split_once("//").map_or(line, |(before, _)| before);
        (number + 1, code)
    })
}

/// Whether `word` stands in `line` as a word of its own.
fn names(line: &str, word: &str) -> bool {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word)
    })
}

fn report(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn each_dependency_is_named_in_its_seam_only() {
    let mut faults = Vec::new();
    for (file, text) in sources() {
        for (dependency, seams) in SEAMS {
            if seams.iter().any(|seam| file.starts_with(seam)) {
                continue;
            }
            for (number, line) in code_lines(&text).filter(|(_, line)| names(line, dependency)) {
                faults.push(format!("src/{file}:{number} names {dependency}: {}", line.trim()));
            }
        }
    }
    report(faults);
}

#[test]
fn each_seam_is_used() {
    let sources = sources();
    let mut faults = Vec::new();
    for (dependency, seams) in SEAMS {
        for seam in *seams {
            let used = sources
                .iter()
                .filter(|(file, _)| file.starts_with(seam))
                .any(|(_, text)| code_lines(text).any(|(_, line)| names(line, dependency)));
            if !used {
                faults.push(format!("src/{seam} may name {dependency} but does not: tighten SEAMS"));
            }
        }
    }
    report(faults);
}

#[test]
fn nothing_prints_and_nothing_is_left_undone() {
    let mut faults = Vec::new();
    for (file, text) in sources() {
        for (number, line) in code_lines(&text) {
            for banned in BANNED.iter().filter(|banned| line.contains(**banned)) {
                faults.push(format!("src/{file}:{number} contains {banned}"));
            }
        }
    }
    report(faults);
}

#[test]
fn every_file_says_what_it_owns_and_has_a_name() {
    let mut faults = Vec::new();
    for (file, text) in sources() {
        if !text.starts_with("//!") {
            faults.push(format!("src/{file} does not open with what it owns (//!)"));
        }
        let stem = Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        if stem.is_some_and(|stem| EMPTY_NAMES.contains(&stem.as_str())) {
            faults.push(format!("src/{file}: the name says nothing"));
        }
    }
    report(faults);
}

#[test]
fn every_method_file_is_registered_once() {
    let sources = sources();
    let registry = &sources.iter().find(|(file, _)| file == "methods/mod.rs").expect("the registry").1;
    let mut faults = Vec::new();
    for (file, _) in sources.iter().filter(|(file, _)| file.starts_with("methods/")) {
        let module = file.trim_start_matches("methods/").trim_end_matches(".rs");
        if module != "mod" && !module.contains('/') && !names(registry, module) {
            faults.push(format!("src/{file} is not in the registry"));
        }
    }
    report(faults);
}
