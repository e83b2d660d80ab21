//! End-to-end tests of the workspace stand in `tests/`, the bench in `examples/bench`. There is no library.
