//! The warnings about shortcuts.
//!
//! Owns: the sentences. Place: after [`super::shortcuts`] or [`super::widespread`], when the caller knows
//! which row of the data each node is.

use super::{Shortcut, Widespread};
use crate::context::Ctx;
use crate::error::WarningKind;

/// One warning that names the shortcuts; nothing when there are none.
///
/// `row` turns a node of the graph into the user's row; lengths go with this power of
/// the unit of distances.
pub fn warn_of_shortcuts(found: &[Shortcut], row: impl Fn(u32) -> usize, unit: i32, ctx: &Ctx) {
    const SHOWN: usize = 5;
    let length = |length: f64| if unit == 0 { length } else { ctx.data_length(length) };
    if found.is_empty() {
        return;
    }
    let in_words = |edge: &Shortcut| {
        let without = if edge.detour.is_finite() {
            format!("{:.3e} apart without it", length(edge.detour))
        } else {
            "not connected without it".to_string()
        };
        format!(
            "{}–{} (length {:.3e}, on {:.1} % of the paths, {without})",
            row(edge.from),
            row(edge.to),
            length(edge.length),
            100.0 * edge.share
        )
    };
    let shown: Vec<String> = found.iter().take(SHOWN).map(in_words).collect();
    let more = found.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    ctx.warn(
        WarningKind::Shortcut,
        format!(
            "the neighbourhood graph may have shortcuts, edges between rows that are far apart on the manifold: \
             {}{more}; the distances and the embedding follow them; use fewer `n_neighbors` or a smaller `radius`, \
             or remove those rows",
            shown.join(", ")
        ),
    );
}

/// The warning about a graph that shortcuts have ruined: how it shows, the worst edges, and
/// what number of neighbours is free of them.
pub fn warn_of_widespread(many: &Widespread, row: impl Fn(u32) -> usize, unit: i32, ctx: &Ctx) {
    const SHOWN: usize = 3;
    let length = |length: f64| if unit == 0 { length } else { ctx.data_length(length) };
    let in_words = |edge: &Shortcut| {
        let (length, detour) = (length(edge.length), length(edge.detour));
        format!(
            "{}–{} (length {length:.3e}, {detour:.3e} or more apart otherwise)",
            row(edge.from),
            row(edge.to)
        )
    };
    let shown: Vec<String> = many.edges.iter().take(SHOWN).map(in_words).collect();
    let remedy = match many.sound {
        Some(count) => format!("there are no such signs with n_neighbors={count} or fewer (or a `radius` as small)"),
        None => "fewer `n_neighbors` do not help: rows are as far from their neighbours as from other parts of the \
                 manifold, so remove noise and outliers first, or add rows"
            .to_string(),
    };
    ctx.warn(
        WarningKind::Shortcut,
        format!(
            "the neighbourhood graph has shortcuts in many places, edges between rows that are far apart on the \
             manifold: with {} neighbours of each row half of the distances grow by a factor of {:.2} at most, but \
             a tenth by {:.2} or more; such edges are {}; the distances and the embedding follow them; {remedy}",
            many.fewer,
            many.growth[0],
            many.growth[1],
            shown.join(", "),
        ),
    );
}
