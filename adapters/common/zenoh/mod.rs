//! Code that the adapters for zenoh share: sessions, their links, the trial's router, and the ends of topics and services. An
//! adapter includes this folder as its module `common`. Its module `wire` has the names and bytes that it puts on the
//! network, and its `describe` the description.

mod adapter;
mod alive;
mod applied;
mod endpoints;
mod heard;
mod native;
mod protection;
mod receiver;
mod router;
mod sender;
mod session;

pub use adapter::Zenoh;
pub use alive::Role;
pub use native::Native;
