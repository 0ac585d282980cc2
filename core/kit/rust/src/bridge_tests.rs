//! Calls a fake adapter as C++ does: through its tables of functions.

use std::mem::MaybeUninit;

use super::*;
use crate::{Buffer, Description, Identity, List, OwnSettings, Pattern, Reception, Reliability, RequestReply};

/// An adapter whose behaviour depends on the transport.
struct Fake {
    settings: &'static Settings,
}
struct Sender {
    message: Buffer,
    panics: bool,
}
struct Receiver;

impl Adapter for Fake {
    type Publisher = Sender;
    type Subscriber = Receiver;
    fn describe() -> Description {
        Description { name: "fake", ..Description::default() }
    }
    fn open(settings: &'static Settings) -> Result<Self> {
        match settings.transport.get() {
            "none" => Err(Error::new("fake: none: cannot be opened", "take another")),
            "broken" => panic!("the middleware is {}", "broken"),
            _ => Ok(Self { settings }),
        }
    }
    fn publisher(&mut self, topic: &Topic, _index: u32) -> Result<Sender> {
        Ok(Sender { message: Buffer::of(topic.message_bytes), panics: self.settings.transport == "panics" })
    }
    fn subscriber(&mut self, _topic: &Topic, _index: u32) -> Result<Receiver> {
        Ok(Receiver)
    }
    fn notes(&self) -> Vec<String> {
        vec!["one".into(), "two".into()]
    }
    fn protected_by(&self) -> String {
        self.settings.credential(self.settings.identity.word(), ".key").display().to_string()
    }
    fn own_settings(&self) -> Option<OwnSettings> {
        (self.settings.transport == "udp").then(|| OwnSettings { language: "json5", text: "{ mode: \"peer\" }".into() })
    }
    fn refusals(&self) -> String {
        "a stranger was refused".into()
    }
}

impl RequestReply for Fake {
    type Requests = Sender;
    type Replies = Receiver;
    type Answers = Sender;
    type Requested = Receiver;
    fn client(&mut self, service: &Topic, index: u32) -> Result<(Sender, Receiver)> {
        Ok((self.publisher(service, index)?, Receiver))
    }
    fn server(&mut self, _service: &Topic, _index: u32) -> Result<(Sender, Receiver)> {
        Err("fake: no servers".into())
    }
}

impl Publisher for Sender {
    fn loan(&mut self, bytes: usize, _error: &mut LastError) -> Option<&mut [MaybeUninit<u8>]> {
        self.message.loan(bytes)
    }
    fn publish(&mut self, _error: &mut LastError) -> Published {
        assert!(!self.panics, "the test requested a panic");
        Published::Ok
    }
    fn matched(&mut self) -> usize {
        1
    }
}

impl Subscriber for Receiver {
    fn take(&mut self, visitor: Visitor<'_>, _error: &mut LastError) -> usize {
        visitor.visit(b"one");
        visitor.visit(b"three");
        2
    }
    fn wait(&mut self, _timeout: Duration, _error: &mut LastError) -> bool {
        true
    }
}

static CALLS: AdapterCalls = AdapterCalls::with_request_reply::<Fake>();

/// Collects each text with its advice.
#[derive(Default)]
struct Collected(Vec<(String, String)>);

impl Collected {
    fn reader(&mut self) -> Reader {
        unsafe extern "C" fn keep(object: *mut c_void, text: Text<'_>, advice: Text<'_>) {
            let collected = unsafe { &mut *object.cast::<Collected>() };
            collected.0.push((text.to_string(), advice.to_string()));
        }
        Reader { object: std::ptr::from_mut(self).cast(), function: keep }
    }
    fn texts(&self) -> Vec<&str> {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }
}

fn settings(transport: &'static str) -> &'static Settings {
    let mut settings: Settings = unsafe { std::mem::zeroed() };
    settings.request.pattern = Pattern::Stream;
    settings.request.reliability = Reliability::Reliable;
    settings.request.reception = Reception::Poll;
    settings.request.transport = Text::of(transport);
    settings.endpoints = List::of(&[]);
    settings.request.identity = Identity::Receiver;
    settings.request.certs = Text::of("/certs");
    Box::leak(Box::new(settings))
}

fn topic() -> Topic<'static> {
    let mut topic: Topic = unsafe { std::mem::zeroed() };
    topic.name = Text::of("trial_topic");
    topic.message_bytes = 8;
    topic
}

fn opened(transport: &'static str) -> *mut c_void {
    unsafe { (CALLS.open)(settings(transport), Collected::default().reader()) }
}

fn made(make: Make, adapter: *mut c_void, error: &mut Collected) -> Option<Ends> {
    let mut ends = Ends { publisher: null_mut(), sends: null_mut(), subscriber: null_mut(), receives: null_mut() };
    unsafe { make(adapter, &topic(), 0, &mut ends, error.reader()) }.then_some(ends)
}

#[test]
fn a_failed_open_reports_its_error_and_advice() {
    let mut error = Collected::default();
    assert!(unsafe { (CALLS.open)(settings("none"), error.reader()) }.is_null());
    assert_eq!(error.0, [("fake: none: cannot be opened".into(), "take another".into())]);
}

#[test]
fn a_panic_before_the_start_is_an_error_with_the_text_of_the_panic() {
    let mut error = Collected::default();
    assert!(unsafe { (CALLS.open)(settings("broken"), error.reader()) }.is_null());
    assert_eq!(error.texts(), ["the middleware is broken"]);
}

#[test]
fn a_panic_after_the_start_is_a_failed_call_and_the_last_error() {
    let ends = made(CALLS.publisher, opened("panics"), &mut Collected::default()).unwrap();
    let calls = unsafe { &*ends.sends };
    assert_eq!(unsafe { (calls.publish)(ends.publisher) }, Published::Failed);
    let mut words = Collected::default();
    unsafe { (calls.last_error)(ends.publisher, words.reader()) };
    assert_eq!(words.texts(), ["it panicked: stderr has its message"]);
    unsafe { (calls.close)(ends.publisher) };
}

#[test]
fn a_loan_of_a_wrong_size_is_null() {
    let ends = made(CALLS.publisher, opened("tcp"), &mut Collected::default()).unwrap();
    let calls = unsafe { &*ends.sends };
    assert!(!unsafe { (calls.loan)(ends.publisher, 8) }.is_null());
    assert!(unsafe { (calls.loan)(ends.publisher, 9) }.is_null());
    assert_eq!(unsafe { (calls.publish)(ends.publisher) }, Published::Ok);
    unsafe { (calls.close)(ends.publisher) };
}

#[test]
fn a_visitor_gets_every_message() {
    unsafe extern "C" fn add(object: *mut c_void, _message: *const u8, bytes: usize, _arrived_ns: u64) {
        unsafe { (*object.cast::<Vec<usize>>()).push(bytes) };
    }
    let mut seen: Vec<usize> = Vec::new();
    let visitor = Visitor { object: std::ptr::from_mut(&mut seen).cast(), function: add, life: PhantomData };
    let ends = made(CALLS.subscriber, opened("tcp"), &mut Collected::default()).unwrap();
    let calls = unsafe { &*ends.receives };
    assert_eq!(unsafe { (calls.take)(ends.subscriber, visitor) }, 2);
    assert_eq!(seen, [3, 5]);
    let mut error = Collected::default();
    assert!(!unsafe { (calls.listen)(ends.subscriber, visitor, error.reader()) });
    assert_eq!(error.texts(), ["the middleware has no thread to listen on"]);
    assert_eq!(unsafe { (calls.publishers_found)(ends.subscriber, 7) }, 7, "an unreported count is not waited for");
    unsafe { (calls.close)(ends.subscriber) };
}

#[test]
fn a_client_has_a_publisher_and_a_subscriber() {
    let adapter = opened("tcp");
    let ends = made(CALLS.client.unwrap(), adapter, &mut Collected::default()).unwrap();
    assert!(!ends.publisher.is_null() && !ends.subscriber.is_null());
    let mut error = Collected::default();
    assert!(made(CALLS.server.unwrap(), adapter, &mut error).is_none());
    assert_eq!(error.texts(), ["fake: no servers"]);
}

#[test]
fn settings_are_passed_on_with_their_language_or_not_at_all() {
    for (transport, sent) in [("udp", vec![("json5".into(), "{ mode: \"peer\" }".into())]), ("tcp", vec![])] {
        let (adapter, mut found) = (opened(transport), Collected::default());
        unsafe { (CALLS.own_settings)(adapter, found.reader()) };
        assert_eq!(found.0, sent);
        unsafe { (CALLS.close)(adapter) };
    }
}

#[test]
fn the_description_the_notes_and_the_security_texts_are_passed_on() {
    let (mut json, mut notes) = (Collected::default(), Collected::default());
    assert!(unsafe { (CALLS.describe)(json.reader(), Collected::default().reader()) });
    assert!(json.texts()[0].starts_with(r#"{"protocol":1,"name":"fake","title":"","#));
    let adapter = opened("tcp");
    unsafe { (CALLS.notes)(adapter, notes.reader()) };
    assert_eq!(notes.texts(), ["one", "two"]);
    let mut words = Collected::default();
    unsafe { (CALLS.protected_by)(adapter, words.reader()) };
    unsafe { (CALLS.refusals)(adapter, words.reader()) };
    assert_eq!(words.texts(), ["/certs/receiver.key", "a stranger was refused"]);
    unsafe { (CALLS.close)(adapter) };
}
