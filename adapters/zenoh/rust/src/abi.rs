//! The C ABI. No panic leaves it: before the start it becomes an error's text, afterwards a failed call.

use std::ffi::{c_char, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

use zenoh::{Config, Result, Wait};

use crate::endpoint::Endpoint;
use crate::inbox::{Current, Visitor};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::session::Opened;

/// Where an error's words go.
#[repr(C)]
pub struct Text {
    data: *mut c_char,
    capacity: usize,
}

impl Text {
    fn write(&self, words: &str) {
        if self.capacity == 0 {
            return;
        }
        let length = words.len().min(self.capacity - 1);
        unsafe {
            std::ptr::copy_nonoverlapping(words.as_ptr(), self.data.cast(), length);
            *self.data.add(length) = 0;
        }
    }
}

fn told<T>(error: &Text, what: impl FnOnce() -> Result<T>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(words)) => error.write(without_place(&words.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let literal = panic.downcast_ref::<&str>().copied();
            error.write(text.or(literal).unwrap_or("zenoh panicked"));
        }
    }
    None
}

/// zenoh ends what it says with the file and line that says it, on the machine that compiled it.
fn without_place(words: &str) -> &str {
    words.rsplit_once(" at /").map_or(words, |(said, _)| said)
}

fn guarded<T>(on_panic: T, what: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or(on_panic)
}

fn boxed<T>(value: Option<T>) -> *mut T {
    value.map_or(null_mut(), |value| Box::into_raw(Box::new(value)))
}

unsafe fn dropped<T>(pointer: *mut T) {
    if !pointer.is_null() {
        guarded((), || drop(unsafe { Box::from_raw(pointer) }));
    }
}

unsafe fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

#[no_mangle]
pub extern "C" fn mmz_version(version: Text) {
    let digits = zenoh::GIT_VERSION.trim_start_matches('v');
    version.write(digits.split('-').next().unwrap_or(digits));
}

#[no_mangle]
pub extern "C" fn mmz_config_new() -> *mut Config {
    boxed(Some(Config::default()))
}

#[no_mangle]
pub unsafe extern "C" fn mmz_config_set(
    config: *mut Config,
    path: *const c_char,
    json5: *const c_char,
    error: Text,
) -> bool {
    told(&error, || unsafe {
        (*config).insert_json5(&text(path), &text(json5))
    })
    .is_some()
}

#[no_mangle]
pub unsafe extern "C" fn mmz_config_free(config: *mut Config) {
    unsafe { dropped(config) };
}

#[no_mangle]
pub unsafe extern "C" fn mmz_open(
    config: *const Config,
    scope: *const c_char,
    shared: bool,
    pool_bytes: usize,
    error: Text,
) -> *mut Arc<Opened> {
    boxed(told(&error, || unsafe {
        if std::env::var_os("RUST_LOG").is_some() {
            zenoh::try_init_log_from_env();
        }
        Opened::open((*config).clone(), &text(scope), shared, pool_bytes)
    }))
}

/// zenoh waits up to 10 s for a QUIC link whose peer has left in the same moment; nobody needs what it waits for.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

#[no_mangle]
pub unsafe extern "C" fn mmz_close(session: *mut Arc<Opened>) {
    guarded((), || {
        let session = unsafe { Box::from_raw(session) };
        let (done, closed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = session.zenoh.close().wait();
            drop(session);
            let _ = done.send(());
        });
        let _ = closed.recv_timeout(CLOSE_PATIENCE);
    });
}

#[no_mangle]
pub unsafe extern "C" fn mmz_publisher(
    session: &Arc<Opened>,
    endpoint: &Endpoint,
    error: Text,
) -> *mut Sender {
    boxed(told(&error, || Sender::publisher(session, endpoint)))
}

#[no_mangle]
pub unsafe extern "C" fn mmz_subscriber(
    session: &Arc<Opened>,
    endpoint: &Endpoint,
    error: Text,
) -> *mut Receiver {
    boxed(told(&error, || Receiver::subscriber(session, endpoint)))
}

#[no_mangle]
pub unsafe extern "C" fn mmz_client(
    session: &Arc<Opened>,
    endpoint: &Endpoint,
    receiver: &mut *mut Receiver,
    error: Text,
) -> *mut Sender {
    let both = told(&error, || {
        let (callback, replies) = Receiver::replies(session, endpoint)?;
        Ok((Sender::client(session, endpoint, callback)?, replies))
    });
    split(both, receiver)
}

#[no_mangle]
pub unsafe extern "C" fn mmz_server(
    session: &Arc<Opened>,
    endpoint: &Endpoint,
    receiver: &mut *mut Receiver,
    error: Text,
) -> *mut Sender {
    let both = told(&error, || {
        let asked = Current::default();
        let queries = Receiver::server(session, endpoint, &asked)?;
        Ok((Sender::server(session, endpoint, asked)?, queries))
    });
    split(both, receiver)
}

fn split(both: Option<(Sender, Receiver)>, receiver: &mut *mut Receiver) -> *mut Sender {
    let (sender, received) = both.unzip();
    *receiver = boxed(received);
    boxed(sender)
}

#[no_mangle]
pub unsafe extern "C" fn mmz_sender_free(sender: *mut Sender) {
    unsafe { dropped(sender) };
}

#[no_mangle]
pub extern "C" fn mmz_loan(sender: &mut Sender) -> *mut u8 {
    guarded(null_mut(), || sender.place())
}

#[no_mangle]
pub extern "C" fn mmz_send(sender: &mut Sender) -> bool {
    guarded(false, || sender.send())
}

#[no_mangle]
pub extern "C" fn mmz_matched(sender: &Sender) -> usize {
    guarded(0, || sender.matched())
}

#[no_mangle]
pub extern "C" fn mmz_error(sender: &Sender, error: Text) {
    error.write(sender.error());
}

#[no_mangle]
pub unsafe extern "C" fn mmz_receiver_free(receiver: *mut Receiver) {
    unsafe { dropped(receiver) };
}

#[no_mangle]
pub extern "C" fn mmz_take(receiver: &mut Receiver, visitor: Visitor) -> usize {
    guarded(0, || receiver.take(visitor))
}

#[no_mangle]
pub extern "C" fn mmz_wait(receiver: &mut Receiver, timeout_ns: u64) -> bool {
    guarded(false, || receiver.wait(Duration::from_nanos(timeout_ns)))
}

#[no_mangle]
pub extern "C" fn mmz_listen(receiver: &mut Receiver, visitor: Visitor) {
    guarded((), || receiver.listen(Some(visitor)));
}

#[no_mangle]
pub extern "C" fn mmz_silence(receiver: &mut Receiver) {
    guarded((), || receiver.listen(None));
}

#[no_mangle]
pub extern "C" fn mmz_publishers_found(receiver: &Receiver) -> usize {
    guarded(0, || receiver.publishers_found())
}
