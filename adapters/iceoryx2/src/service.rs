//! Clients and servers, by iceoryx2's own requests and responses. A client has one request in progress. A server
//! answers a request while it visits this request.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::rc::Rc;

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::{Client, RequestSendError};
use iceoryx2::port::server::Server;
use iceoryx2::port::{LoanError, ReceiveError, SendError};
use iceoryx2::prelude::{PortFactory as _, *};
use iceoryx2::request_mut_uninit::RequestMutUninit;
use iceoryx2::response_mut_uninit::ResponseMutUninit;
use iceoryx2::service::port_factory::request_response::PortFactory;
use iceoryx2::service::Service;
use middlemark_adapter::{applied, Topic, Visitor};

use crate::bell::{bells, sleeper};
use crate::ends::{Patience, Receiver, Receives, Sender, Sends};
use crate::{Outcome, Trial};

/// A service. The user header (`u32`) of a request contains the client's number, so that the server wakes only this
/// client.
type Factory<V> = PortFactory<V, [u8], u32, [u8], ()>;

fn service<V: Service>(trial: &Trial<V>, topic: &Topic) -> Outcome<Factory<V>> {
    let builder = trial.node.service_builder(&ServiceName::new(&topic.name)?).request_response::<[u8], [u8]>();
    let mut builder = applied!(
        trial.code,
        "service",
        builder.request_user_header::<u32>(),
        max_clients(topic.publishers as usize),
        max_servers(1),
        max_nodes(trial.settings.workers as usize),
        max_active_requests_per_client(1),
        max_loaned_requests(1),
        max_response_buffer_size(1),
        max_borrowed_responses_per_pending_response(1),
        enable_safe_overflow_for_requests(trial.overflows(topic)),
        enable_safe_overflow_for_responses(trial.overflows(topic)),
    );
    if let Some(alignment) = trial.alignment() {
        builder = builder.request_payload_alignment(alignment).response_payload_alignment(alignment);
    }
    Ok(builder.open_or_create()?)
}

/// Returns the name of the event service on which a client waits for replies.
fn replies_to(topic: &Topic, client: u32) -> String {
    format!("{}_replies_{client}", topic.name)
}

/// The request in progress, from which the client takes the reply. The client cannot send another request while this
/// object exists.
type Pending<V> = Rc<RefCell<Option<PendingResponse<V, [u8], u32, [u8], ()>>>>;

pub struct Requests<V: Service> {
    pending: Pending<V>,
    index: u32,
    port: Client<V, [u8], u32, [u8], ()>,
    service: Factory<V>,
}

pub struct Replies<V: Service>(Pending<V>);

type Asking<V> = (Sender<V, Requests<V>>, Receiver<V, Replies<V>>);

pub fn client<V: Service>(trial: &Trial<V>, topic: &Topic, index: u32) -> Outcome<Asking<V>> {
    let service = service(trial, topic)?;
    let sleeper = sleeper(trial, &replies_to(topic, index), 1, 1)?;
    let bells = bells(trial, [&*topic.name], topic.publishers, 1)?;
    let patience = Patience::default();
    let builder = applied!(
        trial.code,
        "client",
        service.client_builder(),
        initial_max_slice_len(topic.message_bytes),
        allocation_strategy(AllocationStrategy::Static),
        backpressure_strategy(BackpressureStrategy::RetryUntilDelivered),
    );
    let port = builder.set_backpressure_handler(patience.handler(trial.settings.write_timeout())).create()?;
    let pending = Pending::<V>::default();
    let requests = Requests { pending: pending.clone(), index, port, service };
    let requests = Sender::new(trial, topic, requests, bells, patience);
    Ok((requests, Receiver { port: Replies(pending), sleeper }))
}

impl<V: Service> Sends for Requests<V> {
    type Lent = RequestMutUninit<V, [MaybeUninit<u8>], u32, [u8], ()>;
    type Error = RequestSendError;
    const TIMED_OUT: RequestSendError = RequestSendError::SendError(SendError::UnableToDeliver);

    /// Drops the last request, after its reply or when the client has stopped waiting for the reply.
    #[inline]
    fn lend(&self, bytes: usize) -> Result<Self::Lent, LoanError> {
        self.pending.replace(None);
        self.port.loan_slice_uninit(bytes)
    }
    #[inline]
    fn memory(lent: &mut Self::Lent) -> &mut [MaybeUninit<u8>] {
        lent.payload_mut()
    }
    #[inline]
    unsafe fn send(&self, lent: Self::Lent) -> Result<(), RequestSendError> {
        let mut request = unsafe { lent.assume_init() };
        *request.user_header_mut() = self.index;
        self.pending.replace(Some(request.send()?));
        Ok(())
    }
    fn found(&self) -> usize {
        self.service.dynamic_config().number_of_servers()
    }
}

impl<V: Service> Receives for Replies<V> {
    #[inline]
    fn receive(&self, visitor: Visitor<'_>) -> Result<bool, ReceiveError> {
        let received = self.0.borrow().as_ref().map_or(Ok(None), |pending| pending.receive())?;
        Ok(received.map(|response| visitor.visit(response.payload())).is_some())
    }
    fn has(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(PendingResponse::has_response)
    }
}

/// The request that a server is visiting, and a number that is different for each visit.
struct Visit<V: Service> {
    request: RefCell<Option<Request<V>>>,
    turn: Cell<u64>,
}
type Request<V> = ActiveRequest<V, [u8], u32, [u8], ()>;
type Response<V> = ResponseMutUninit<V, [MaybeUninit<u8>], ()>;

pub struct Answers<V: Service> {
    visit: Rc<Visit<V>>,
    service: Factory<V>,
}

pub struct Requested<V: Service> {
    visit: Rc<Visit<V>>,
    port: Server<V, [u8], u32, [u8], ()>,
}

type Answering<V> = (Sender<V, Answers<V>>, Receiver<V, Requested<V>>);

pub fn server<V: Service>(trial: &Trial<V>, topic: &Topic) -> Outcome<Answering<V>> {
    let service = service(trial, topic)?;
    let sleeper = sleeper(trial, &topic.name, topic.publishers, 1)?;
    let bells = bells(trial, (0..topic.publishers).map(|client| replies_to(topic, client)), 1, 1)?;
    let patience = Patience::default();
    let builder = applied!(
        trial.code,
        "server",
        service.server_builder(),
        initial_max_slice_len(topic.message_bytes),
        allocation_strategy(AllocationStrategy::Static),
        max_loaned_responses_per_request(1),
        backpressure_strategy(BackpressureStrategy::RetryUntilDelivered),
    );
    let port = builder.set_backpressure_handler(patience.handler(trial.settings.write_timeout())).create()?;
    let visit = Rc::new(Visit::<V> { request: RefCell::default(), turn: Cell::default() });
    let answers = Sender::new(trial, topic, Answers { visit: visit.clone(), service }, bells, patience);
    Ok((answers, Receiver { port: Requested { visit, port }, sleeper }))
}

impl<V: Service> Sends for Answers<V> {
    type Lent = Response<V>;
    type Error = SendError;
    const TIMED_OUT: SendError = SendError::UnableToDeliver;

    #[inline]
    fn lend(&self, bytes: usize) -> Result<Response<V>, LoanError> {
        self.visit
            .request
            .borrow()
            .as_ref()
            .map_or(Err(LoanError::InternalFailure), |request| request.loan_slice_uninit(bytes))
    }
    #[inline]
    fn memory(lent: &mut Response<V>) -> &mut [MaybeUninit<u8>] {
        lent.payload_mut()
    }
    #[inline]
    unsafe fn send(&self, lent: Response<V>) -> Result<(), SendError> {
        unsafe { lent.assume_init() }.send()
    }
    fn addressee(&self) -> usize {
        self.visit.request.borrow().as_ref().map_or(0, |request| *request.user_header() as usize)
    }
    fn turn(&self) -> u64 {
        self.visit.turn.get()
    }
    fn found(&self) -> usize {
        self.service.dynamic_config().number_of_clients()
    }
}

impl<V: Service> Receives for Requested<V> {
    #[inline]
    fn receive(&self, visitor: Visitor<'_>) -> Result<bool, ReceiveError> {
        let Some(request) = self.port.receive()? else {
            return Ok(false);
        };
        let payload: *const [u8] = request.payload();
        self.visit.request.replace(Some(request));
        self.visit.turn.set(self.visit.turn.get() + 1);
        // SAFETY: the payload is in shared memory and is valid until the request is dropped, which is after the visit.
        visitor.visit(unsafe { &*payload });
        self.visit.request.take();
        Ok(true)
    }
    fn has(&self) -> bool {
        self.port.has_requests().unwrap_or(false)
    }
}
