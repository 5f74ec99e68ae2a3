//! Warnings about embeddings of local methods that show less than was asked for.
//!
//! Place: beside [`super::component_maps`]. Cost: n·k for the closed groups.

use super::component_maps::JoinedMap;
use crate::context::Ctx;
use crate::error::WarningKind;
use crate::graph::{LocalNeighborhoods, closed_groups};
use crate::neighbors::NeighborRule;

/// How to have more neighbours.
pub fn more_neighbors(neighborhoods: &LocalNeighborhoods) -> &'static str {
    match neighborhoods.graph.rule() {
        _ if neighborhoods.given => "give more of them in `neighbors`",
        NeighborRule::Within(_) => "raise `radius`",
        NeighborRule::Nearest(_) => "raise `n_neighbors`",
    }
}

/// One weight vector ties a row to its neighbours, and not to the rows whose neighbour it
/// is: groups whose rows have all their neighbours inside are free, each a point, unless
/// a row between them has more weight vectors than one.
pub fn warn_of_closed_groups(
    neighborhoods: &LocalNeighborhoods,
    several: &[bool],
    columns: usize,
    ctx: &Ctx,
) {
    let components = &neighborhoods.components;
    let label = |row: u32| components.labels[row as usize];
    let groups = closed_groups(&neighborhoods.near);
    let count = components.count();
    if groups.len() <= count {
        return;
    }
    let rows = neighborhoods.graph.len();
    let mut grouped = vec![false; rows];
    groups.iter().flatten().for_each(|&row| grouped[row as usize] = true);
    let mut held = vec![false; count];
    let between = (0..rows as u32).filter(|&row| !grouped[row as usize] && several[row as usize]);
    between.for_each(|row| held[label(row)] = true);
    let mut groups_of = vec![0; count];
    groups.iter().for_each(|group| groups_of[label(group[0])] += 1);
    let free = |component: usize| !held[component] && groups_of[component] > 1;
    let loose: Vec<&Vec<u32>> = groups.iter().filter(|group| free(label(group[0]))).collect();
    let Some(smallest) = loose.iter().min_by_key(|group| group.len()) else { return };
    let freedom: usize =
        (0..count).filter(|&component| free(component)).map(|component| groups_of[component] - 1).sum();
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "{} groups of rows have no neighbours outside the group (the smallest has {} rows, row {} among \
             them), and nothing else ties them together: {} of the {columns} columns only separate them, and each \
             group is one point there; {}, or use method='ltsa'",
            loose.len(),
            smallest.len(),
            neighborhoods.graph.rows().data_row(smallest[0]),
            freedom.min(columns),
            more_neighbors(neighborhoods)
        ),
    );
}

/// Warn that components are embedded one by one.
pub fn warn_of_components(neighborhoods: &LocalNeighborhoods, ctx: &Ctx) {
    let components = neighborhoods.components.of_data(neighborhoods.graph.rows());
    if components.count() <= 1 {
        return;
    }
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "the number of connected components of the neighbourhood graph is {} (the largest of {} \
             rows); they are embedded one by one and laid side by side: where they lie relative to one another has no meaning; {} if they belong \
             together",
            components.count(),
            components.sizes.iter().max().unwrap_or(&0),
            more_neighbors(neighborhoods)
        ),
    );
}

/// Warn of columns that are zero, and of columns that only repeat others.
pub fn warn_of_rank(neighborhoods: &LocalNeighborhoods, map: &JoinedMap, columns: usize, ctx: &Ctx) {
    let more = more_neighbors(neighborhoods);
    let message = match map.rank {
        rank if rank >= columns => spans_too_few(neighborhoods, map, columns),
        0 if neighborhoods.components.count() == 1 => Some("all rows are equal: all columns are zero".into()),
        0 => Some(format!(
            "every connected component is a single point: the first column only lays them side by side, the \
             others are zero; {more}"
        )),
        rank => Some(format!(
            "no connected component has distinct rows in more than {rank} dimension(s), fewer than the {columns} \
             columns asked for; the other columns are zero, {more} or use n_components <= {rank}"
        )),
    };
    if let Some(message) = message {
        ctx.warn(WarningKind::RankDeficient, message);
    }
}

/// What to say where most neighbourhoods have fewer directions than there are columns.
fn spans_too_few(neighborhoods: &LocalNeighborhoods, map: &JoinedMap, columns: usize) -> Option<String> {
    let features = neighborhoods.graph.locator().points().map_or(usize::MAX, |points| points.cols());
    let rows: usize = map.spans.iter().sum();
    let thin: usize = map.spans.iter().take(columns).sum();
    let (who, typical) = if 2 * thin > rows {
        // As many directions as half of the rows have.
        let mut wider = rows;
        let spans = map.spans.iter().enumerate().take_while(|(_, count)| {
            let enough = 2 * wider >= rows;
            wider -= **count;
            enough
        });
        let typical = spans.last().map_or(0, |(span, _)| span);
        let who = format!(
            "the neighbourhoods of {thin} of {rows} rows span fewer than {columns} directions, most of them {typical}"
        );
        (who, typical)
    } else if map.spans.is_empty() && features < columns {
        (format!("the data has {features} feature(s), fewer than the {columns} components"), features)
    } else {
        return None;
    };
    let more = match () {
        () if typical >= features => String::new(),
        () => format!(", or {} if there are more", more_neighbors(neighborhoods)),
    };
    Some(format!(
        "{who}: the further columns are functions of the others and show nothing new; use n_components <= {}{more}",
        typical.max(1)
    ))
}
