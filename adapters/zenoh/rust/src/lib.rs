//! zenoh behind a small C ABI. What each call means is said where it is declared for C++, in `zenoh_c.hpp`.

mod abi;
mod alive;
mod endpoint;
mod inbox;
mod outgoing;
mod receiver;
mod sender;
mod session;
