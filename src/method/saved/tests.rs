//! Files that were damaged, made up, or made to hurt: one clear error each, never a panic.
//!
//! `PLANISH_FUZZ=100000 cargo test --lib model_files_` fuzzes for longer.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use ndarray::Array2;
use serde_json::{Value, json};

use super::container::LENGTH;
use super::*;
use crate::context::Ctx;
use crate::linalg::random::{Stream, below};
use crate::method::AnyModel;
use crate::methods;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("planish-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sheet(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 3), |(i, axis)| ((i + 7 * axis) as f64 * 0.1).sin())
}

fn models(rows: usize) -> Vec<(&'static str, Box<dyn AnyModel>)> {
    let (points, ctx) = (sheet(rows), Ctx::new(1, 0));
    let fitted = methods::all()
        .into_iter()
        .map(|(name, method)| (name, method.fit(Data::from(&points), &ctx).unwrap()));
    fitted.collect()
}

/// How many inputs each of the loops below has, unless the environment says more.
fn inputs(usual: usize) -> usize {
    std::env::var("PLANISH_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
}

/// The header and the arrays of a file.
fn taken_apart(bytes: &[u8]) -> (Value, Value, Vec<u8>) {
    let end = LENGTH + u64::from_le_bytes(bytes[..LENGTH].try_into().unwrap()) as usize;
    let outer: Value = serde_json::from_slice(&bytes[LENGTH..end]).unwrap();
    let inner = serde_json::from_str(outer["__metadata__"]["planish"].as_str().unwrap()).unwrap();
    (outer, inner, bytes[end..].to_vec())
}

/// A file with these in it, and a checksum that is right.
fn put_together(outer: &Value, inner: &Value, data: &[u8]) -> Vec<u8> {
    let Value::Object(inner) = inner else { panic!("a header is an object") };
    let rest: Vec<String> = inner
        .iter()
        .filter(|(name, _)| !["format", "checksum"].contains(&name.as_str()))
        .map(|(name, value)| format!("{}:{value}", json!(name)))
        .collect();
    let zeros = "0".repeat(16);
    let sum = format!("{:016x}", super::checksum::checksum(data));
    let inner =
        format!("{{\"format\":{},\"checksum\":\"{zeros}{sum}\",{}}}", inner["format"], rest.join(","));
    let arrays: Vec<String> = outer
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "__metadata__")
        .map(|(name, value)| format!(",{}:{value}", json!(name)))
        .collect();
    let json = format!("{{\"__metadata__\":{{\"planish\":{}}}{}}}", json!(inner), arrays.concat());
    sealed(json.as_bytes(), data)
}

/// The same for a header that may be anything.
fn sealed(json: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(json);
    let zeros = b"\\\"checksum\\\":\\\"0000000000000000";
    if let Some(at) = bytes.windows(zeros.len()).position(|window| window == zeros) {
        let sum = super::checksum::checksum(&bytes);
        bytes[at + zeros.len() - 16..at + zeros.len()].copy_from_slice(format!("{sum:016x}").as_bytes());
    }
    bytes.extend_from_slice(data);
    bytes
}

fn why(bytes: &[u8]) -> String {
    match Saved::from_bytes(Cow::Borrowed(bytes))
        .and_then(|saved| saved.model::<methods::pca::FittedPca>("").map(|_| ()))
    {
        Ok(()) => panic!("it was read"),
        Err(fault) => fault.0,
    }
}

#[test]
fn model_files_put_together_again_are_read() {
    for (name, model) in models(40) {
        let bytes = model.save().unwrap();
        let (outer, inner, data) = taken_apart(&bytes);
        let again = methods::restore(name, &put_together(&outer, &inner, &data)).unwrap();
        assert_eq!(again.attributes().unwrap(), model.attributes().unwrap(), "{name}");
        assert_eq!(
            methods::restore(name, &bytes).unwrap().save().unwrap(),
            bytes,
            "{name}: the same file again"
        );
    }
}

#[test]
fn model_files_notice_every_flipped_bit() {
    let (points, ctx) = (sheet(12), Ctx::new(1, 0));
    let bytes = methods::Pca::default().n_components(1).fit(&points, &ctx).unwrap().save().unwrap();
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(methods::Pca::restore(&changed).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(methods::Pca::restore(&bytes[..length]).is_err(), "{length} bytes");
    }
    assert!(methods::Pca::restore(&[&bytes[..], b"\0"].concat()).is_err(), "a byte too many");
}

#[test]
fn model_files_of_every_method_are_fuzzed_with_damage() {
    let folder = Folder::new("damage");
    let files: Vec<Vec<u8>> = models(40).iter().map(|(_, model)| model.save().unwrap()).collect();
    let mut random = Ctx::new(1, 7).stream("damage");
    let path = folder.0.join("damaged");
    for round in 0..inputs(1500) {
        let mut bytes = files[below(&mut random, files.len())].clone();
        let near = if below(&mut random, 2) == 0 { bytes.len() } else { bytes.len().min(600) };
        match below(&mut random, 5) {
            0 => bytes.truncate(below(&mut random, bytes.len())),
            1 => bytes[below(&mut random, near)] ^= 1 << below(&mut random, 8),
            2 => {
                let length = u64::MAX >> below(&mut random, 64);
                bytes[..LENGTH].copy_from_slice(&length.to_le_bytes());
            }
            3 => (0..1 + below(&mut random, 8)).for_each(|_| {
                let at = below(&mut random, near);
                bytes[at] = bytes[at].wrapping_add(1 + below(&mut random, 255) as u8);
            }),
            _ => bytes = (0..below(&mut random, 200)).map(|_| below(&mut random, 256) as u8).collect(),
        }
        fs::write(&path, &bytes).unwrap();
        match methods::load(&path).map(|_| ()) {
            Err(Error::ModelFile { path: named, .. }) => assert_eq!(named, path.display().to_string()),
            other => panic!("input {round}: {other:?}"),
        }
    }
}

/// Change one thing in a tree, at random.
fn mutate(value: &mut Value, random: &mut Stream) {
    match value {
        Value::Object(fields) if !fields.is_empty() && below(random, 8) != 0 => {
            let place = below(random, fields.len());
            if below(random, 16) == 0 {
                let name = fields.keys().nth(place).unwrap().clone();
                fields.remove(&name);
            } else {
                mutate(fields.values_mut().nth(place).unwrap(), random);
            }
        }
        Value::Array(values) if !values.is_empty() && below(random, 8) != 0 => {
            let place = below(random, values.len());
            match below(random, 6) {
                0 => drop(values.remove(place)),
                1 => values.push(values[place].clone()),
                _ => mutate(&mut values[place], random),
            }
        }
        other => {
            *other = match below(random, 12) {
                0 => json!(0),
                1 => json!(1),
                2 => json!(-1),
                3 => json!(u64::MAX),
                4 => json!(usize::MAX / 16),
                5 => json!(1e308),
                6 => Value::Null,
                7 => json!([]),
                8 => json!({"$tensor": "embedding"}),
                9 => json!("NaN"),
                10 => json!(below(random, 100)),
                _ => json!({"x": [1, 2]}),
            }
        }
    }
}

#[test]
fn model_files_with_a_right_checksum_are_fuzzed() {
    let files: Vec<(&str, Vec<u8>)> =
        models(40).iter().map(|(name, model)| (*name, model.save().unwrap())).collect();
    let (points, ctx) = (sheet(45), Ctx::new(1, 0));
    let mut random = Ctx::new(1, 11).stream("forgery");
    let (mut panics, mut read, total) = (Vec::new(), 0, inputs(3000));
    for _ in 0..total {
        let (name, bytes) = &files[below(&mut random, files.len())];
        let (mut outer, mut inner, mut data) = taken_apart(bytes);
        for _ in 0..1 + below(&mut random, 3) {
            match below(&mut random, 8) {
                0 => mutate(&mut outer, &mut random),
                1 if !data.is_empty() => {
                    // The bits of numbers: NaN, infinity, indices that are too large.
                    let at = below(&mut random, data.len());
                    data[at] = if below(&mut random, 2) == 0 { 0xff } else { below(&mut random, 256) as u8 };
                }
                2 => data.truncate(below(&mut random, data.len() + 1)),
                _ => mutate(&mut inner["model"], &mut random),
            }
        }
        if !outer.is_object() {
            continue;
        }
        let bytes = put_together(&outer, &inner, &data);
        let went = catch_unwind(AssertUnwindSafe(|| match methods::restore(name, &bytes) {
            Ok(model) => {
                let _ = model.attributes();
                // What does not fit together is refused, at the latest when rows are placed.
                let _ = model.transform(Data::from(&points), &ctx);
                true
            }
            Err(Error::Restore(_)) => false,
            Err(other) => panic!("{other:?}"),
        }));
        match went {
            Ok(fine) => read += usize::from(fine),
            Err(_) => panics.push((name, inner)),
        }
    }
    assert!(read > total / 50, "some forgeries are read: {read}");
    assert!(panics.is_empty(), "{} of {total} inputs panicked, such as {:?}", panics.len(), panics[0]);
}

#[test]
fn model_files_that_lie_about_sizes_are_refused() {
    let bytes =
        methods::Pca::default().n_components(1).fit(&sheet(12), &Ctx::new(1, 0)).unwrap().save().unwrap();
    let (outer, inner, data) = taken_apart(&bytes);
    let name = outer.as_object().unwrap().keys().find(|name| *name != "__metadata__").unwrap().clone();
    let lie = |change: &dyn Fn(&mut Value)| {
        let mut outer = outer.clone();
        change(&mut outer);
        why(&put_together(&outer, &inner, &data))
    };
    let huge = 1_u64 << 62;
    for offsets in [json!([0, huge]), json!([8, 0]), json!([0, u64::MAX]), json!([-1, 8]), json!([4, 12])] {
        let said = lie(&|outer| outer[&name]["data_offsets"] = offsets.clone());
        assert!(said.contains("header") || said.contains("by its header"), "{said}");
    }
    for shape in [json!([huge, huge]), json!([huge]), json!([u64::MAX, 2]), json!([-3]), json!([0])] {
        let said = lie(&|outer| outer[&name]["shape"] = shape.clone());
        assert!(said.contains("not one of safetensors"), "{said}");
    }
    // Sums that leave the range of 64 bits: the crate's own check of them overflows.
    let said = lie(&|outer| {
        let mut at = data.len() as u64;
        for extra in 0..9 {
            let end = at.saturating_add(u64::MAX / 8 - 7) / 8 * 8;
            outer[format!("z{extra}")] =
                json!({"dtype": "U8", "shape": [end - at], "data_offsets": [at, end]});
            at = end;
        }
    });
    assert!(said.contains("by its header") || said.contains("not one of safetensors"), "{said}");
}

#[test]
fn model_files_that_are_nested_or_no_json_are_refused() {
    let bytes = methods::Pca::default().fit(&sheet(12), &Ctx::new(1, 0)).unwrap().save().unwrap();
    let (outer, mut inner, data) = taken_apart(&bytes);
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    inner["model"] = deep;
    assert!(why(&put_together(&outer, &inner, &data)).contains("recursion"), "too deep for the parser");
    let text = String::from_utf8(bytes[LENGTH..bytes.len() - data.len()].to_vec()).unwrap();
    let open = "[".repeat(200_000);
    for wrong in [text.replace("\"dtype\"", &format!("{open}\"dtype\"")), text[..text.len() / 2].to_string()]
    {
        let (before, after) = wrong.split_once("checksum\\\":\\\"").unwrap();
        let wrong = format!("{before}checksum\\\":\\\"{}{}", "0".repeat(16), &after[16..]);
        assert!(why(&sealed(wrong.as_bytes(), &data)).contains("not one of safetensors"));
    }
}

#[test]
fn model_files_say_what_a_foreign_file_is() {
    let folder = Folder::new("foreign");
    let theirs = br#"{"weight":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let theirs = [&(theirs.len() as u64).to_le_bytes()[..], theirs, &[0; 8]].concat();
    let ours = methods::Pca::default().fit(&sheet(12), &Ctx::new(1, 0)).unwrap().save().unwrap();
    let mut newer = ours.clone();
    let format = b"format\\\":2";
    let at = newer.windows(format.len()).position(|window| window == format).unwrap();
    newer[at + format.len() - 1] = b'3';
    for (name, bytes, said) in [
        ("empty", &b""[..], "it is empty"),
        ("short", b"abc", "it is not a model file of planish"),
        ("pickle", b"\x80\x04\x95abcdefghijk", "it is a Python pickle"),
        ("zip", b"PK\x03\x04abcdefghijk", "it is a zip archive"),
        ("npy", b"\x93NUMPY\x01\x00abcdefgh", "it is an array of NumPy"),
        ("theirs", &theirs, "it is a safetensors file, but not a model of planish"),
        ("text", b"a,b,c\n1,2,3\n4,5,6\n", "it is not a model file of planish"),
        ("newer", &newer, "its format is 3, and this version of planish"),
        ("half", &ours[..ours.len() / 2], "it was cut short or changed"),
        ("less", &ours[..ours.len() - 1], "it was cut short or changed"),
    ] {
        let path = folder.file(name, bytes);
        let error = methods::load(&path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains(&path.display().to_string()), "{name}: {error}");
    }
    for (path, said) in [
        (folder.0.clone(), "it is a folder"),
        (folder.0.join("nothing"), "there is no such file"),
        (folder.0.join("empty").join("below"), "there is no such file"),
        (PathBuf::from("/dev/zero"), "it is a device"),
    ] {
        let error = methods::load(&path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let kind = methods::Isomap::load(folder.file("pca", &ours)).map(|_| ()).unwrap_err().to_string();
    assert!(kind.contains("it is a model of PCA, not of Isomap"), "{kind}");
}

#[test]
fn model_files_appear_whole_or_not_at_all() {
    let folder = Folder::new("whole");
    let (points, ctx) = (sheet(12), Ctx::new(1, 0));
    let small = methods::Pca::default().n_components(1).fit(&points, &ctx).unwrap();
    let large = methods::Isomap::default().n_neighbors(5).fit(&points, &ctx).unwrap();
    let path = folder.0.join("model");
    small.save_to(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let stop = || Err(Error::Cancelled);
    assert_eq!(large.package().unwrap().write(&path, stop), Err(Error::Cancelled));
    assert_eq!(fs::read(&path).unwrap(), before, "the old file is there");
    large.save_to(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), large.save().unwrap(), "a file is the bytes");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing else is left");
    for (wrong, said) in [
        (folder.0.clone(), "it is a folder"),
        (folder.0.join("no folder").join("model"), "does not exist"),
        (path.join("model"), "does not exist"),
        (PathBuf::from("/dev/null"), "it is a device"),
    ] {
        let error = small.save_to(&wrong).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains(&wrong.display().to_string()), "{error}");
    }
    #[cfg(unix)]
    {
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        small.save_to(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && fs::read(&path).unwrap() == before);
    }
}

#[test]
fn numbers_that_json_does_not_have_and_all_shapes_come_back() {
    type Odd =
        (Vec<f64>, f64, Option<f64>, Vec<Option<u32>>, Vec<Vec<f64>>, Vec<[u32; 2]>, Vec<(u32, f64)>, bool);
    let odd: Odd = (
        vec![f64::NAN, -0.0, f64::MIN_POSITIVE / 3.0, f64::NEG_INFINITY],
        f64::INFINITY,
        Some(0.1 + 0.2),
        vec![Some(1), None, Some(3)],
        vec![vec![1.0], vec![], vec![2.0, f64::NAN]],
        vec![[1, 2], [3, u32::MAX]],
        vec![(1, 0.1), (2, f64::NEG_INFINITY)],
        true,
    );
    let matrices = vec![Array2::from_shape_fn((2, 3), |(i, j)| (i + 10 * j) as f64); 2];
    let empty = (Array2::<f64>::zeros((0, 3)), Array2::<f64>::zeros((4, 0)));
    let mut arrays = Vec::new();
    let tree = writer::write("x", &(&odd, &matrices, &empty, u64::MAX, i64::MIN), &mut arrays).unwrap();
    let tree: Value = serde_json::from_str(&tree.to_string()).unwrap();
    let views = arrays.iter().map(|array| {
        (array.name.as_str(), View { kind: array.kind, shape: &array.shape, bytes: &array.bytes })
    });
    let views = reader::Arrays::new(views, 1000);
    type All = (Odd, Vec<Array2<f64>>, (Array2<f64>, Array2<f64>), u64, i64);
    let back = <All as serde::Deserialize>::deserialize(reader::Part::Json(&tree, &views)).unwrap();
    assert_eq!((back.1, back.2, back.3, back.4), (matrices, empty, u64::MAX, i64::MIN));
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&back.0.0), bits(&odd.0));
    assert_eq!(format!("{:?}", back.0), format!("{odd:?}"));
    assert!(arrays.iter().any(|array| array.shape == [2, 2, 3]), "equal matrices are one array");
}

#[test]
fn parameters_go_through_a_file() {
    let init = sheet(30).slice(ndarray::s![.., ..2]).to_owned();
    let method = methods::Mds::default().n_components(2).init(crate::choices::Start::Given(init));
    let fitted = method.fit(&sheet(30), &Ctx::new(1, 0)).unwrap();
    let again = methods::Mds::restore(&fitted.save().unwrap()).unwrap();
    assert_eq!(again.about.parameters.len(), fitted.about.parameters.len());
    for (name, value) in &fitted.about.parameters {
        let (_, found) = again.about.parameters.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!(found.to_string(), value.to_string(), "{name}");
    }
    assert_eq!((again.about.rows, again.about.features), (Some(30), Some(3)));
}
