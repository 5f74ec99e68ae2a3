//! The warning about shortcuts.
//!
//! Owns: the sentence. Place: after [`super::shortcuts`], when the caller knows
//! which row of the data each node is.

use super::Shortcut;
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
