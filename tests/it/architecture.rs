//! The house rules a machine can check: which folder may name which
//! dependency, and what may not appear in the sources at all.

use std::fs;
use std::path::{Path, PathBuf};

/// A dependency and the only places (path prefixes below `src`) that may name it.
const SEAMS: &[(&str, &[&str])] = &[
    ("pyo3", &["python/"]),
    ("numpy", &["python/"]),
    ("faer", &["linalg/", "neighbors/gemm_bounds.rs"]),
    ("petgraph", &["graph/", "lib.rs"]),
    ("system_memory", &["memory.rs"]),
    ("rand_pcg", &["context.rs", "linalg/random.rs"]),
    ("postcard", &["method/saved/first.rs"]),
    ("safetensors", &["method/saved/container.rs"]),
    ("serde_json", &["method/saved/", "python/model_files.rs"]),
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

/// Whether a file is the tests of its folder: like a `mod tests`, it may use later stages.
fn only_tests(file: &str) -> bool {
    file.ends_with("/tests.rs")
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
            if seams.iter().any(|seam| file.starts_with(seam)) || only_tests(&file) {
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

/// The stages in the order of the dataflow: a stage imports itself and earlier ones.
/// `spectrum` and `optimize` are two ways to the same place.
const ORDER: &[&[&str]] = &[
    &["error"],
    &["scale"],
    &["memory"],
    &["context"],
    &["params"],
    &["linalg"],
    &["datasets"],
    &["input"],
    &["neighbors"],
    &["graph"],
    &["landmarks"],
    &["kernel"],
    &["dimension"],
    &["spectrum", "optimize"],
    &["embedding"],
    &["method"],
    &["extend"],
    &["quality"],
    &["methods"],
    &["stages"],
    &["python"],
];

#[test]
fn stages_import_earlier_stages_only() {
    let place = |room: &str| ORDER.iter().position(|level| level.contains(&room));
    let mut faults = Vec::new();
    for (file, text) in sources() {
        let room = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let Some(own) = place(room).filter(|_| !only_tests(&file)) else { continue };
        let code = text.split("mod tests").next().unwrap_or_default();
        for (number, line) in code_lines(code) {
            for (at, _) in line.match_indices("crate::") {
                let rest = &line[at + "crate::".len()..];
                let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
                let named = &rest[..end.unwrap_or(rest.len())];
                if place(named).is_some_and(|other| other > own) {
                    faults.push(format!("src/{file}:{number}: {room} comes before {named}"));
                }
            }
        }
    }
    report(faults);
}

#[test]
fn every_method_file_is_a_registered_method() {
    let sources = sources();
    let registry = &sources.iter().find(|(file, _)| file == "methods/mod.rs").expect("the registry").1;
    let mut faults = Vec::new();
    for (file, text) in sources.iter().filter(|(file, _)| file.starts_with("methods/")) {
        let module = file.trim_start_matches("methods/").trim_end_matches(".rs");
        if module == "mod" || module == "tests" {
            continue;
        }
        if !names(registry, module) {
            faults.push(format!("src/{file} is not in the registry"));
        }
        if !text.contains("impl Method for ")
            || !text.contains("    fn fit(&self, data: Data<'_>, ctx: &Ctx)")
        {
            faults.push(format!("src/{file} has no method with its fit in it: it belongs to a stage"));
        }
    }
    report(faults);
}

/// Lines of a file, and of a function, tests aside.
const FILE_LINES: usize = 350;
const FUNCTION_LINES: usize = 70;
/// Files that may be longer, and functions that may be, with the reason.
const LONG: &[(&str, &str)] = &[
    ("neighbors/index.rs", "one type whose every call chooses among the same engines"),
    ("spectrum/krylov.rs", "one iteration whose steps share its basis"),
];

#[test]
fn files_and_functions_are_short() {
    let mut faults = Vec::new();
    for (file, text) in sources() {
        if LONG.iter().any(|(known, _)| *known == file) || only_tests(&file) {
            continue;
        }
        let code: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
        if code.len() > FILE_LINES {
            faults.push(format!("src/{file} has {} lines, more than {FILE_LINES}", code.len()));
        }
        for (first, line) in code.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let starts = ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "];
            let declared = line.trim_end().ends_with(';');
            if declared || !starts.iter().any(|start| line.trim_start().starts_with(start)) {
                continue;
            }
            let close = format!("{}}}", " ".repeat(indent));
            let length = code[first..].iter().position(|line| **line == close).unwrap_or(0) + 1;
            if length > FUNCTION_LINES {
                faults.push(format!("src/{file}:{}: a function of {length} lines", first + 1));
            }
        }
    }
    for (known, _) in LONG {
        if !sources().iter().any(|(file, _)| file == known) {
            faults.push(format!("src/{known} is excepted but not there"));
        }
    }
    report(faults);
}
