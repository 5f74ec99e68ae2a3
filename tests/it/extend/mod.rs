//! New rows.

mod kernel_map;
