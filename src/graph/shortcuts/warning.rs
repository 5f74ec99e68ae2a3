//! What the user is told about shortcuts.
//!
//! Owns: the sentence. Place: after [`super::shortcuts`], when the caller knows
//! which row of the data each node is.

use super::Shortcut;
use crate::context::Ctx;
use crate::error::WarningKind;

/// One warning that names the shortcuts; nothing when there are none.
///
/// `row` turns a node of the graph into the user's row, `length` a length of
/// the graph into the user's unit.
pub fn warn_of_shortcuts(
    found: &[Shortcut],
    row: impl Fn(u32) -> usize,
    length: impl Fn(f64) -> f64,
    ctx: &Ctx,
) {
    const SHOWN: usize = 5;
    if found.is_empty() {
        return;
    }
    let in_words = |edge: &Shortcut| {
        let without = if edge.detour.is_finite() {
            format!("{:.4} apart without it", length(edge.detour))
        } else {
            "not connected without it".to_string()
        };
        format!(
            "{}–{} (length {:.4}, on {:.1} % of the paths, {without})",
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
