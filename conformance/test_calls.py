"""Checks of every trial of request/reply: native or over two topics, with one or several clients."""

import numpy as np
from runner import Measured, carried_as
from variants import REPLY_TIMEOUT_S

from middlemark.model.cell import carrier_due
from middlemark.model.protocol import ClientResult, ServerResult
from middlemark.model.samples import NOT_MEASURED
from middlemark.trial.patterns import results_of
from middlemark.trial.patterns.request_reply import TWO_TOPICS


def test_every_call_is_answered(any_call: Measured) -> None:
    failed = any_call.outcome.failed
    assert failed is None, f"{failed.code}: {failed.text} {failed.advice}"


def test_every_client_pairs_each_reply_with_its_request(calls: Measured) -> None:
    kept = calls.kept("client")
    assert set(kept) == set(range(calls.cell.publishers))
    for records in kept.values():
        assert np.array_equal(records["sequence"], np.arange(1, (calls.limits.samples or 0) + 1, dtype=np.uint64))
        assert (records["replies"] == 1).all()
        assert np.array_equal(records["first_reply_ns"], records["round_trip_ns"])
        assert (records["round_trip_ns"] > 0).all()
        assert (records["round_trip_ns"] < REPLY_TIMEOUT_S * 1e9).all()


def test_a_client_sends_its_next_request_after_the_reply(calls: Measured) -> None:
    for records in calls.kept("client").values():
        begin = records["begin_ns"].astype(np.int64)
        assert (begin[1:] >= (begin + records["round_trip_ns"].astype(np.int64))[:-1]).all()
        assert (records["late_ns"] == 0).all()
        assert ((records["take_ns"] == NOT_MEASURED) == (calls.cell.receive == "listen")).all()


def test_client_and_server_count_every_call_once(calls: Measured) -> None:
    assert calls.heard is not None
    [server] = results_of(ServerResult, calls.heard.receivers)
    every = calls.cell.publishers * (calls.limits.samples or 0)
    for client in results_of(ClientResult, calls.heard.senders):
        assert client.sent == client.received == client.samples == calls.limits.samples
        assert client.ended == "samples"
    assert (server.received, server.echoed) == (every, every)
    wrong = ("lost", "duplicated", "reordered", "damaged", "publish_failed")
    assert {name: getattr(server, name) for name in wrong} == dict.fromkeys(wrong, 0)
    counts = calls.outcome.counts
    assert counts is not None
    assert (counts.sent, counts.received, calls.outcome.samples) == (every, every, every)
    assert {name: getattr(counts, name) for name in (*wrong, "late")} == dict.fromkeys((*wrong, "late"), 0)


def test_the_outcome_reports_whether_request_and_reply_were_native(calls: Measured) -> None:
    native = calls.candidate.worker.description.request_reply
    assert calls.outcome.native_request_reply is native
    assert (TWO_TOPICS in calls.outcome.notes) is not native


def test_calls_leave_no_warning(calls: Measured) -> None:
    assert calls.warnings == {}


def test_calls_used_the_requested_transport(calls: Measured) -> None:
    expected = carrier_due(calls.cell, calls.candidate.worker.description)
    if calls.candidate.transport.name == "mislabelled":
        expected = "shared-memory"  # the actual transport of the null adapter's transport with a false name
    assert carried_as(expected, calls.outcome), calls.outcome.evidence


def test_every_client_and_the_server_were_placed(calls: Measured) -> None:
    names = [*(f"client {index}" for index in range(calls.cell.publishers)), "server"]
    whole = [" and ".join(names)] if calls.cell.processes == 1 else names
    assert [each.role for each in calls.outcome.placed] == whole
    assert {each.who for each in calls.outcome.costs} <= set(whole)
