//! What the user of a local method is told: of copies and pieces, and of a map that shows
//! less than was asked for.
//!
//! Place: beside [`super::local_rows`] and [`super::local_maps`]. Cost: n·k for the closed groups.

use super::local_maps::LocalMap;
use crate::context::Ctx;
use crate::error::WarningKind;
use crate::graph::closed_groups;
use crate::graph::local_neighborhoods::LocalRows;
use crate::neighbors::Hood;

/// How to have more neighbours.
pub fn more_neighbors(ground: &LocalRows) -> &'static str {
    match ground.hood {
        _ if ground.given => "give more of them in `neighbors`",
        Hood::Within(_) => "raise `radius`",
        Hood::Nearest(_) => "raise `n_neighbors`",
    }
}

/// One weight vector ties a row to its neighbours, and not to the rows whose neighbour it
/// is: groups whose rows have all their neighbours inside are free, each a point, unless
/// a row between them has more weight vectors than one.
pub fn tell_of_closed_groups(ground: &LocalRows, several: &[bool], components: usize, ctx: &Ctx) {
    let groups = closed_groups(&ground.near);
    let pieces = ground.pieces.count();
    if groups.len() <= pieces {
        return;
    }
    let mut grouped = vec![false; ground.len()];
    groups.iter().flatten().for_each(|&row| grouped[row as usize] = true);
    let mut held = vec![false; pieces];
    let between = (0..ground.len()).filter(|&row| !grouped[row] && several[row]);
    between.for_each(|row| held[ground.pieces.labels[row]] = true);
    let mut of_piece = vec![0; pieces];
    groups.iter().for_each(|group| of_piece[ground.pieces.labels[group[0] as usize]] += 1);
    let free = |piece: usize| !held[piece] && of_piece[piece] > 1;
    let loose: Vec<&Vec<u32>> =
        groups.iter().filter(|group| free(ground.pieces.labels[group[0] as usize])).collect();
    let Some(smallest) = loose.iter().min_by_key(|group| group.len()) else { return };
    let freedom: usize = (0..pieces).filter(|&piece| free(piece)).map(|piece| of_piece[piece] - 1).sum();
    let row = ground.rows.as_ref().map_or(smallest[0], |rows| rows[smallest[0] as usize]);
    ctx.warn(
        WarningKind::Disconnected,
        format!(
            "{} groups of rows have no neighbours but each other (the smallest has {} rows, row {row} among them), \
             and nothing but the rows between them holds them together: {} of the {components} columns only tell \
             them apart, and each group is one point there; {}, or use method='ltsa'",
            loose.len(),
            smallest.len(),
            freedom.min(components),
            more_neighbors(ground)
        ),
    );
}

/// Tell of columns that are zero, and of columns that only repeat others.
pub fn tell_of_rank(ground: &LocalRows, map: &LocalMap, components: usize, ctx: &Ctx) {
    let more = more_neighbors(ground);
    let told = match map.rank {
        rank if rank >= components => spans_too_few(ground, map, components),
        0 if ground.pieces.count() == 1 => {
            Some("all rows lie in one place: there is nothing to map, and all columns are zero".into())
        }
        0 => Some(format!(
            "every connected component is a single place: the first column only lays them side by side, the \
             others are zero; {more}"
        )),
        rank => Some(format!(
            "no connected component has distinct rows in more than {rank} dimension(s), fewer than the {components} \
             columns asked for; the other columns are zero, {more} or use n_components <= {rank}"
        )),
    };
    if let Some(message) = told {
        ctx.warn(WarningKind::RankDeficient, message);
    }
}

/// What to say where most neighbourhoods have fewer directions than there are columns.
fn spans_too_few(ground: &LocalRows, map: &LocalMap, components: usize) -> Option<String> {
    let features = ground.locator.points().map_or(usize::MAX, |points| points.cols());
    let rows: usize = map.spans.iter().sum();
    let thin: usize = map.spans.iter().take(components).sum();
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
            "the neighbourhoods of {thin} of {rows} rows span fewer than {components} directions, most of them {typical}"
        );
        (who, typical)
    } else if map.spans.is_empty() && features < components {
        (format!("the data has {features} feature(s), fewer than the {components} components"), features)
    } else {
        return None;
    };
    let more = match () {
        () if typical >= features => String::new(),
        () => format!(", or {} if there are more", more_neighbors(ground)),
    };
    Some(format!(
        "{who}: the further columns are functions of the others and show nothing new; use n_components <= {}{more}",
        typical.max(1)
    ))
}
