//! The tests that are not of one file alone, in modules that mirror `src/`: compiled
//! into the library's own test binary, so that they reach every stage and are linked once.

mod architecture;
mod datasets;
mod dimension;
mod extend;
mod face;
mod graph;
mod kernel;
mod methods;
mod model_files;
mod neighbors;
mod optimize;
mod quality;
mod registry;
mod spectrum;
