//! An index that is written and read back.
//!
//! Place in the dataflow: inside saved models. Only the points and the order of
//! the tree are written; the rest of a tree follows from them in O(n D), and a
//! file that has no order of its own rows is refused.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kdtree::Tree;
use super::{Index, Metric};
use crate::input::{Csr, Points, PointsRef};

/// An index on disk: the points and the tree's order, which is all a tree needs.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Index")]
struct Saved<P, O> {
    points: P,
    metric: Metric,
    order: Option<O>,
}

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let order = self.tree.as_ref().map(|tree| &tree.order);
        Saved { points: &self.points, metric: self.metric, order }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        use serde::de::Error as _;
        let saved = Saved::<Points, Vec<u32>>::deserialize(deserializer)?;
        let points = match saved.points {
            Points::Dense(matrix) => PointsRef::Dense(matrix.view()).to_owned(),
            Points::Sparse(csr) if !is_sound(&csr) => {
                return Err(D::Error::custom("the saved sparse rows do not fit together"));
            }
            sparse => sparse,
        };
        let mut index = Index::plain(points, saved.metric);
        if let Some(order) = saved.order {
            let mut seen = vec![false; index.len()];
            let fresh =
                |&row: &u32| seen.get_mut(row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            if order.len() != index.len() || order.is_empty() || !order.iter().all(fresh) {
                return Err(D::Error::custom("the saved order is not one of the saved rows"));
            }
            let rows = index.tree_rows();
            index.tree = rows.map(|(rows, dims)| Tree::from_order(rows, dims, order));
        }
        Ok(index)
    }
}

/// Whether every row lies inside the arrays and every column inside the matrix.
fn is_sound(csr: &Csr) -> bool {
    csr.offsets.first() == Some(&0)
        && csr.offsets.last() == Some(&csr.values.len())
        && csr.offsets.is_sorted()
        && csr.indices.len() == csr.values.len()
        && csr.indices.iter().all(|&column| (column as usize) < csr.cols)
}
