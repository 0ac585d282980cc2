//! The Rust side of `core/kit/rust_bridge.hpp`: a table of functions for each type of an adapter. The structs of both
//! files must have the same layout.

use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::time::Duration;

use crate::json::json_of;
use crate::{
    Adapter, Error, LastError, NativeValue, Published, Publisher, RequestReply, Result, Settings, Subscriber, Text,
    Topic,
};

/// A C++ function that receives messages, and its object. The function does not unwind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Visitor<'a> {
    object: *mut c_void,
    function: unsafe extern "C" fn(object: *mut c_void, message: *const u8, bytes: usize, arrived_ns: u64),
    life: PhantomData<&'a mut ()>,
}

impl Visitor<'_> {
    #[inline]
    pub fn visit(&self, message: &[u8]) {
        self.visit_stamped(message, 0);
    }

    /// `arrived_ns`: when the kernel received the message, in ns of CLOCK_REALTIME from SO_TIMESTAMPING; 0 if the
    /// kernel reported no time. Must not be a time that the adapter measured itself.
    #[inline]
    pub fn visit_stamped(&self, message: &[u8], arrived_ns: u64) {
        // SAFETY: C++ keeps `function` and `object` for the lifetime of the visitor.
        unsafe { (self.function)(self.object, message.as_ptr(), message.len(), arrived_ns) }
    }
}

/// A visitor that the middleware's own thread may call until `silence` has returned.
#[derive(Clone, Copy)]
pub struct Listener(Visitor<'static>);

// SAFETY: the listener is called for one message at a time, and C++ keeps its object until silence() has returned.
unsafe impl Send for Listener {}

impl Listener {
    pub fn visitor(&self) -> Visitor<'_> {
        self.0
    }
}

/// A C++ function to which a call sends its texts: an error with its advice, a description or a note. Not used between
/// the start and the end of a trial.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reader {
    object: *mut c_void,
    function: unsafe extern "C" fn(object: *mut c_void, text: Text<'_>, advice: Text<'_>),
}

impl Reader {
    fn send(&self, text: &str, advice: &str) {
        // SAFETY: C++ keeps `function` and `object` during the call.
        unsafe { (self.function)(self.object, Text::of(text), Text::of(advice)) }
    }

    /// Returns `None` and sends the error to C++ if `what` fails or panics.
    fn attempt<T>(&self, what: impl FnOnce() -> Result<T>) -> Option<T> {
        let failed = match catch_unwind(AssertUnwindSafe(what)) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => error,
            Err(panic) => Error::new(words_of(panic.as_ref()), "it panicked: stderr says where"),
        };
        self.send(&failed.text, &failed.advice);
        None
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
}

#[repr(C)]
struct PublisherCalls {
    loan: unsafe extern "C" fn(*mut c_void, usize) -> *mut u8,
    publish: unsafe extern "C" fn(*mut c_void) -> Published,
    matched: unsafe extern "C" fn(*mut c_void) -> usize,
    last_error: unsafe extern "C" fn(*mut c_void, Reader),
    close: unsafe extern "C" fn(*mut c_void),
}

#[repr(C)]
struct SubscriberCalls {
    take: unsafe extern "C" fn(*mut c_void, Visitor<'_>) -> usize,
    wait: unsafe extern "C" fn(*mut c_void, u64) -> bool,
    listen: unsafe extern "C" fn(*mut c_void, Visitor<'static>, Reader) -> bool,
    silence: unsafe extern "C" fn(*mut c_void),
    publishers_found: unsafe extern "C" fn(*mut c_void, usize) -> usize,
    last_error: unsafe extern "C" fn(*mut c_void, Reader),
    close: unsafe extern "C" fn(*mut c_void),
}

/// The result of a [`Make`] function: a publisher, a subscriber, or both. Pointers that are not used are null.
#[repr(C)]
struct Ends {
    publisher: *mut c_void,
    sends: *const PublisherCalls,
    subscriber: *mut c_void,
    receives: *const SubscriberCalls,
}

type Make = unsafe extern "C" fn(adapter: *mut c_void, &Topic, index: u32, &mut Ends, error: Reader) -> bool;

#[repr(C)]
pub struct AdapterCalls {
    /// Checksum of the layout of this file. `rust_bridge.hpp` must have the same checksum.
    layout: usize,
    describe: unsafe extern "C" fn(Reader, Reader) -> bool,
    check: unsafe extern "C" fn(&'static Settings, Reader) -> bool,
    companions: unsafe extern "C" fn(&'static Settings, Reader, Reader) -> bool,
    run_companion: unsafe extern "C" fn(Text, Reader) -> bool,
    open: unsafe extern "C" fn(&'static Settings, Reader) -> *mut c_void,
    publisher: Make,
    subscriber: Make,
    /// `client` and `server` are null if the adapter has no request/reply; the core then uses two topics.
    client: Option<Make>,
    server: Option<Make>,
    notes: unsafe extern "C" fn(*mut c_void, Reader),
    protected_by: unsafe extern "C" fn(*mut c_void, Reader),
    /// Sends the settings as `advice` and their language as `text`. Sends nothing if the adapter reports no settings.
    own_settings: unsafe extern "C" fn(*mut c_void, Reader),
    refusals: unsafe extern "C" fn(*mut c_void, Reader),
    close: unsafe extern "C" fn(*mut c_void),
}

// SAFETY: the table contains only a number and pointers to functions.
unsafe impl Sync for AdapterCalls {}

/// The object to which C++ has a pointer. `error` is the first field, so that code that does not know `T` can read it.
#[repr(C)]
struct Held<T> {
    error: LastError,
    value: T,
}

fn hold<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(Held { error: LastError::none(), value })).cast()
}

/// Calls `act` with the value in `object`. Returns `otherwise` if `act` panics.
#[inline]
unsafe fn with<T, R>(object: *mut c_void, otherwise: R, act: impl FnOnce(&mut T, &mut LastError) -> R) -> R {
    // SAFETY: `object` comes from hold::<T>(), and one thread at a time uses it.
    let Held { error, value } = unsafe { &mut *object.cast::<Held<T>>() };
    match catch_unwind(AssertUnwindSafe(|| act(value, error))) {
        Ok(value) => value,
        Err(panic) => {
            std::mem::forget(panic); // dropping the payload could panic again
            error.note(format_args!("it panicked: stderr has its message"));
            otherwise
        }
    }
}

unsafe extern "C" fn close<T>(object: *mut c_void) {
    // SAFETY: `object` comes from hold::<T>(), and C++ closes it once.
    let held = unsafe { Box::from_raw(object.cast::<Held<T>>()) };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(held))) {
        std::mem::forget(panic);
    }
}

unsafe extern "C" fn last_error(object: *mut c_void, reader: Reader) {
    // SAFETY: `object` comes from hold(), and `Held<T>` (repr(C)) begins with its `LastError`.
    reader.send(&unsafe { &*object.cast::<LastError>() }.words(), "");
}

impl PublisherCalls {
    const fn of<P: Publisher>() -> Self {
        unsafe extern "C" fn loan<P: Publisher>(object: *mut c_void, bytes: usize) -> *mut u8 {
            let lend = |publisher: &mut P, error: &mut LastError| match publisher.loan(bytes, error) {
                Some(memory) if memory.len() == bytes => memory.as_mut_ptr().cast(),
                _ => null_mut(),
            };
            unsafe { with(object, null_mut(), lend) }
        }
        unsafe extern "C" fn publish<P: Publisher>(object: *mut c_void) -> Published {
            unsafe { with(object, Published::Failed, P::publish) }
        }
        unsafe extern "C" fn matched<P: Publisher>(object: *mut c_void) -> usize {
            unsafe { with(object, 0, |publisher: &mut P, _| publisher.matched()) }
        }
        Self { loan: loan::<P>, publish: publish::<P>, matched: matched::<P>, last_error, close: close::<P> }
    }
}

impl SubscriberCalls {
    const fn of<S: Subscriber>() -> Self {
        unsafe extern "C" fn take<S: Subscriber>(object: *mut c_void, visitor: Visitor<'_>) -> usize {
            unsafe { with(object, 0, |subscriber: &mut S, error| subscriber.take(visitor, error)) }
        }
        unsafe extern "C" fn wait<S: Subscriber>(object: *mut c_void, timeout_ns: u64) -> bool {
            unsafe {
                with(object, false, |subscriber: &mut S, error| {
                    subscriber.wait(Duration::from_nanos(timeout_ns), error)
                })
            }
        }
        unsafe extern "C" fn listen<S: Subscriber>(
            object: *mut c_void,
            visitor: Visitor<'static>,
            error: Reader,
        ) -> bool {
            let listen =
                |subscriber: &mut S, _: &mut _| error.attempt(|| subscriber.listen(Listener(visitor))).is_some();
            unsafe { with(object, false, listen) }
        }
        unsafe extern "C" fn silence<S: Subscriber>(object: *mut c_void) {
            unsafe { with(object, (), |subscriber: &mut S, _| subscriber.silence()) }
        }
        unsafe extern "C" fn publishers_found<S: Subscriber>(object: *mut c_void, expected: usize) -> usize {
            unsafe { with(object, 0, |subscriber: &mut S, _| subscriber.publishers_found().unwrap_or(expected)) }
        }
        Self {
            take: take::<S>,
            wait: wait::<S>,
            listen: listen::<S>,
            silence: silence::<S>,
            publishers_found: publishers_found::<S>,
            last_error,
            close: close::<S>,
        }
    }
}

struct Table<T>(PhantomData<T>);
impl<P: Publisher> Table<P> {
    const PUBLISHER: PublisherCalls = PublisherCalls::of::<P>();
}
impl<S: Subscriber> Table<S> {
    const SUBSCRIBER: SubscriberCalls = SubscriberCalls::of::<S>();
}

impl Ends {
    fn sends_with<P: Publisher>(&mut self, publisher: P) {
        (self.publisher, self.sends) = (hold(publisher), &Table::<P>::PUBLISHER);
    }
    fn receives_with<S: Subscriber>(&mut self, subscriber: S) {
        (self.subscriber, self.receives) = (hold(subscriber), &Table::<S>::SUBSCRIBER);
    }
    fn exchange_with<P: Publisher, S: Subscriber>(&mut self, (sends, receives): (P, S)) {
        self.sends_with(sends);
        self.receives_with(receives);
    }
}

unsafe fn make<A>(adapter: *mut c_void, error: Reader, make: impl FnOnce(&mut A) -> Result<()>) -> bool {
    unsafe { with(adapter, None, |adapter: &mut A, _| error.attempt(|| make(adapter))) }.is_some()
}

macro_rules! makers {
    ($($name:ident<$bound:ident> gives $give:ident)*) => {
        $(unsafe extern "C" fn $name<A: $bound>(
            adapter: *mut c_void,
            topic: &Topic,
            index: u32,
            ends: &mut Ends,
            error: Reader,
        ) -> bool {
            let put = |adapter: &mut A| adapter.$name(topic, index).map(|made| ends.$give(made));
            unsafe { make(adapter, error, put) }
        })*
    };
}
makers! {
    publisher<Adapter> gives sends_with
    subscriber<Adapter> gives receives_with
    client<RequestReply> gives exchange_with
    server<RequestReply> gives exchange_with
}

impl AdapterCalls {
    pub const fn of<A: Adapter>() -> Self {
        unsafe extern "C" fn describe<A: Adapter>(into: Reader, error: Reader) -> bool {
            let json = error.attempt(|| {
                let mut about = A::describe();
                about.most_per_take = Some(A::Subscriber::MOST_PER_TAKE).filter(|most| *most != usize::MAX);
                Ok(json_of(&about))
            });
            json.map(|json| into.send(&json, "")).is_some()
        }
        unsafe extern "C" fn check<A: Adapter>(settings: &'static Settings, error: Reader) -> bool {
            error.attempt(|| A::check(settings)).is_some()
        }
        unsafe extern "C" fn companions<A: Adapter>(settings: &'static Settings, into: Reader, error: Reader) -> bool {
            let json = error.attempt(|| Ok(json_of(&A::companions(settings)?)));
            json.map(|json| into.send(&json, "")).is_some()
        }
        unsafe extern "C" fn run_companion<A: Adapter>(file: Text, error: Reader) -> bool {
            error.attempt(|| A::run_companion(file.get())).is_some()
        }
        unsafe extern "C" fn open<A: Adapter>(settings: &'static Settings, error: Reader) -> *mut c_void {
            error.attempt(|| A::open(settings)).map_or(null_mut(), hold)
        }
        unsafe extern "C" fn notes<A: Adapter>(adapter: *mut c_void, into: Reader) {
            let notes = unsafe { with(adapter, Vec::new(), |adapter: &mut A, _| adapter.notes()) };
            notes.iter().for_each(|note| into.send(note, ""));
        }
        unsafe extern "C" fn protected_by<A: Adapter>(adapter: *mut c_void, into: Reader) {
            let words = unsafe { with(adapter, String::new(), |adapter: &mut A, _| adapter.protected_by()) };
            into.send(&words, "");
        }
        unsafe extern "C" fn own_settings<A: Adapter>(adapter: *mut c_void, into: Reader) {
            let found = unsafe { with(adapter, None, |adapter: &mut A, _| adapter.own_settings()) };
            found.iter().for_each(|it| into.send(it.language, &it.text));
        }
        unsafe extern "C" fn refusals<A: Adapter>(adapter: *mut c_void, into: Reader) {
            let words = unsafe { with(adapter, String::new(), |adapter: &mut A, _| adapter.refusals()) };
            into.send(&words, "");
        }
        Self {
            layout: LAYOUT,
            describe: describe::<A>,
            check: check::<A>,
            companions: companions::<A>,
            run_companion: run_companion::<A>,
            open: open::<A>,
            publisher: publisher::<A>,
            subscriber: subscriber::<A>,
            client: None,
            server: None,
            notes: notes::<A>,
            protected_by: protected_by::<A>,
            own_settings: own_settings::<A>,
            refusals: refusals::<A>,
            close: close::<A>,
        }
    }

    pub const fn with_request_reply<A: RequestReply>() -> Self {
        let mut calls = Self::of::<A>();
        calls.client = Some(client::<A>);
        calls.server = Some(server::<A>);
        calls
    }
}

/// A checksum of the sizes of all types that C++ and Rust share; `bridge.cpp` computes the same. If a change of the
/// contract keeps all sizes, change the first number in both files.
const LAYOUT: usize = {
    let sizes = [
        1,
        size_of::<Settings>(),
        size_of::<Topic>(),
        size_of::<NativeValue>(),
        size_of::<PublisherCalls>(),
        size_of::<SubscriberCalls>(),
        size_of::<AdapterCalls>(),
    ];
    let (mut layout, mut place) = (0, 0);
    while place < sizes.len() {
        layout = layout * 512 + sizes[place];
        place += 1;
    }
    layout
};

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
