//! iceoryx2 behind the small C interface of abi.hpp. No panic crosses it: what panics has failed.

mod bell;
mod client;
mod ends;
mod failure;
mod patience;
mod publisher;
mod server;
mod subscriber;
mod trial;

use std::ffi::{c_char, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use client::Client;
use ends::{Published, Receives, Sends, Visitor};
use failure::Failure;
use publisher::Publisher;
use server::Server;
use subscriber::Subscriber;
use trial::{Outcome, Rules, Topic, Trial};

#[repr(C)]
pub struct RulesOfC {
    scope: *const c_char,
    scratch: *const c_char,
    write_timeout_ns: u64,
    nodes: usize,
    buffer: usize,
    alignment: usize,
    reliable: bool,
    overflows: bool,
    blocks: bool,
    loans: bool,
}

#[repr(C)]
pub struct TopicOfC {
    name: *const c_char,
    bytes: usize,
    publishers: usize,
    subscribers: usize,
}

/// Where the text of an error goes, cut to its capacity and closed by a zero.
#[repr(C)]
pub struct ErrorOfC {
    text: *mut u8,
    capacity: usize,
}

impl ErrorOfC {
    fn say(&self, text: &str) {
        let fits = text.len().min(self.capacity - 1);
        // SAFETY: the caller gives `capacity` bytes, at least one.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.text, fits);
            *self.text.add(fits) = 0;
        }
    }
}

unsafe fn text_of(text: *const c_char) -> String {
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

impl TopicOfC {
    unsafe fn read(&self) -> Topic {
        Topic {
            name: text_of(self.name),
            bytes: self.bytes,
            publishers: self.publishers,
            subscribers: self.subscribers,
        }
    }
}

/// Null, and an error told, where it cannot be made.
fn made<T>(error: &ErrorOfC, make: impl FnOnce() -> Outcome<T>) -> *mut T {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(Ok(object)) => return Box::into_raw(Box::new(object)),
        Ok(Err(why)) => error.say(&format!("{why} ({why:?})")),
        Err(_) => error.say("it panicked; its words are on stderr"),
    }
    std::ptr::null_mut()
}

fn panicked(failure: &Failure) {
    failure.note("panicked", &"its words are on stderr");
}

fn dropped<T>(object: *mut T) {
    // SAFETY: made by made(), given back once.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(object) })));
}

fn told(failure: &Failure, text: *mut u8, capacity: usize) -> usize {
    // SAFETY: the caller gives `capacity` bytes.
    failure.copy_to(unsafe { std::slice::from_raw_parts_mut(text, capacity) })
}

#[no_mangle]
pub extern "C" fn mm_iox2_version(text: *mut u8, capacity: usize) {
    let version = iceoryx2_bb_elementary::package_version::PackageVersion::get();
    ErrorOfC { text, capacity }.say(&version.to_string());
}

#[no_mangle]
pub unsafe extern "C" fn mm_iox2_open(rules: &RulesOfC, error: &ErrorOfC) -> *mut Trial {
    made(error, || {
        let scratch = text_of(rules.scratch);
        let rules = Rules {
            scope: text_of(rules.scope),
            reliable: rules.reliable,
            overflows: rules.overflows,
            blocks: rules.blocks,
            loans: rules.loans,
            nodes: rules.nodes,
            buffer: rules.buffer,
            alignment: (rules.alignment != 0).then_some(rules.alignment),
            write_timeout: Duration::from_nanos(rules.write_timeout_ns),
        };
        Trial::open(rules, &scratch)
    })
}

#[no_mangle]
pub unsafe extern "C" fn mm_iox2_close(trial: *mut Trial) {
    dropped(trial);
}

/// An object that sends, by itself or by a half of it.
trait Sender {
    type Half: Sends;
    unsafe fn with<T>(object: *mut Self, act: impl FnOnce(&mut Self::Half) -> T) -> T;
}

impl Sender for Publisher {
    type Half = Self;
    unsafe fn with<T>(object: *mut Self, act: impl FnOnce(&mut Self) -> T) -> T {
        act(&mut *object)
    }
}

impl Sender for Client {
    type Half = Self;
    unsafe fn with<T>(object: *mut Self, act: impl FnOnce(&mut Self) -> T) -> T {
        act(&mut *object)
    }
}

impl Sender for Server {
    type Half = server::Answering;
    unsafe fn with<T>(object: *mut Self, act: impl FnOnce(&mut Self::Half) -> T) -> T {
        (*object).answer(act)
    }
}

unsafe fn send<S: Sender, T>(object: *mut S, otherwise: T, act: impl FnOnce(&mut S::Half) -> T) -> T {
    S::with(object, |half| {
        catch_unwind(AssertUnwindSafe(|| act(half))).unwrap_or_else(|_| {
            panicked(Sends::failure(half));
            otherwise
        })
    })
}

unsafe fn receive<R: Receives, T>(object: *const R, otherwise: T, act: impl FnOnce(&R) -> T) -> T {
    catch_unwind(AssertUnwindSafe(|| act(&*object))).unwrap_or_else(|_| {
        panicked(Receives::failure(&*object));
        otherwise
    })
}

macro_rules! creates {
    ($type:ident, $create:ident, $destroy:ident) => {
        #[no_mangle]
        pub unsafe extern "C" fn $create(trial: &Trial, topic: &TopicOfC, index: u32, error: &ErrorOfC) -> *mut $type {
            made(error, || $type::new(trial, &topic.read(), index))
        }
        #[no_mangle]
        pub unsafe extern "C" fn $destroy(object: *mut $type) {
            dropped(object);
        }
    };
}

macro_rules! sends {
    ($type:ident, $loan:ident, $publish:ident, $matched:ident, $failure:ident) => {
        #[no_mangle]
        pub unsafe extern "C" fn $loan(object: *mut $type) -> *mut u8 {
            send(object, std::ptr::null_mut(), Sends::loan)
        }
        #[no_mangle]
        pub unsafe extern "C" fn $publish(object: *mut $type) -> Published {
            send(object, Published::Failed, Sends::publish)
        }
        #[no_mangle]
        pub unsafe extern "C" fn $matched(object: *mut $type) -> usize {
            send(object, 0, Sends::matched)
        }
        #[no_mangle]
        pub unsafe extern "C" fn $failure(object: *mut $type, text: *mut u8, capacity: usize) -> usize {
            $type::with(object, |half| told(Sends::failure(half), text, capacity))
        }
    };
}

macro_rules! receives {
    ($type:ident, $take:ident, $wait:ident, $failure:ident) => {
        #[no_mangle]
        pub unsafe extern "C" fn $take(
            object: *const $type,
            most: usize,
            visitor: *mut c_void,
            visit: unsafe extern "C" fn(*mut c_void, *const u8, usize),
        ) -> usize {
            let visitor = Visitor {
                object: visitor,
                function: visit,
            };
            receive(object, 0, |half| half.take(most, &visitor))
        }
        #[no_mangle]
        pub unsafe extern "C" fn $wait(object: *const $type, timeout_ns: u64) -> bool {
            receive(object, false, |half| half.wait(Duration::from_nanos(timeout_ns)))
        }
        #[no_mangle]
        pub unsafe extern "C" fn $failure(object: *const $type, text: *mut u8, capacity: usize) -> usize {
            told(Receives::failure(&*object), text, capacity)
        }
    };
}

creates!(Publisher, mm_iox2_publisher, mm_iox2_publisher_drop);
creates!(Subscriber, mm_iox2_subscriber, mm_iox2_subscriber_drop);
creates!(Client, mm_iox2_client, mm_iox2_client_drop);
creates!(Server, mm_iox2_server, mm_iox2_server_drop);
sends!(
    Publisher,
    mm_iox2_publisher_loan,
    mm_iox2_publisher_publish,
    mm_iox2_publisher_matched,
    mm_iox2_publisher_failure
);
sends!(
    Client,
    mm_iox2_client_loan,
    mm_iox2_client_publish,
    mm_iox2_client_matched,
    mm_iox2_client_failure
);
sends!(
    Server,
    mm_iox2_server_loan,
    mm_iox2_server_publish,
    mm_iox2_server_matched,
    mm_iox2_server_failure
);
receives!(
    Subscriber,
    mm_iox2_subscriber_take,
    mm_iox2_subscriber_wait,
    mm_iox2_subscriber_failure
);
receives!(
    Client,
    mm_iox2_client_take,
    mm_iox2_client_wait,
    mm_iox2_client_receive_failure
);
receives!(
    Server,
    mm_iox2_server_take,
    mm_iox2_server_wait,
    mm_iox2_server_receive_failure
);

#[no_mangle]
pub unsafe extern "C" fn mm_iox2_subscriber_publishers(object: *const Subscriber) -> usize {
    receive(object, 0, Subscriber::publishers_found)
}
