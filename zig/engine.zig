//! What lives behind the handles of the native boundary: vocabularies, grammars, matchers, models with their schedulers, and requests.
//! Grammars may be compiled on any thread; everything else about one handle is done by one thread at a time.
const registry = @import("engine/registry.zig");

pub const Misfit = registry.Registry.Misfit;
pub const Registry = registry.Registry;
pub const Failure = registry.Failure;
pub const Report = registry.Report;

test {
    _ = registry;
}
