"""Governance and permissions of DDS Security: make both documents for each level, and check a user's documents.

Pure. Messages and discovery are each protected once, as whole RTPS messages (``rtps_protection_kind``):
docs/decisions/0048.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args
from xml.etree import ElementTree

from middlemark.model.protocol import Security

LEVELS: tuple[Security, ...] = tuple(each for each in get_args(Security) if each != "none")
_KINDS: Mapping[Security, str] = {"authenticated": "NONE", "signed": "SIGN", "encrypted": "ENCRYPT"}
_OF_DATA = ("rtps_protection_kind", "metadata_protection_kind", "data_protection_kind")
"""The kinds of protection that cover the data. One of these kinds is enough to protect the messages."""
_DOMAINS = "<domains><id_range><min>0</min><max>230</max></id_range></domains>"
"""The domains in which the rules apply. With its default ports Cyclone DDS supports no domain above 230."""
_TIME = "%Y-%m-%dT%H:%M:%S"


def governance(level: Security) -> str:
    """Return the governance for all domains at this level, in XML."""
    kind = _KINDS[level]
    discovers = str(kind != "NONE").lower()
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<dds>
  <domain_access_rules>
    <domain_rule>
      {_DOMAINS}
      <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
      <enable_join_access_control>true</enable_join_access_control>
      <discovery_protection_kind>{kind}</discovery_protection_kind>
      <liveliness_protection_kind>{kind}</liveliness_protection_kind>
      <rtps_protection_kind>{kind}</rtps_protection_kind>
      <topic_access_rules>
        <topic_rule>
          <topic_expression>*</topic_expression>
          <enable_discovery_protection>{discovers}</enable_discovery_protection>
          <enable_liveliness_protection>{discovers}</enable_liveliness_protection>
          <enable_read_access_control>true</enable_read_access_control>
          <enable_write_access_control>true</enable_write_access_control>
          <metadata_protection_kind>NONE</metadata_protection_kind>
          <data_protection_kind>NONE</data_protection_kind>
        </topic_rule>
      </topic_access_rules>
    </domain_rule>
  </domain_access_rules>
</dds>
"""


def permissions(subjects: Iterable[str], begins: datetime.datetime, ends: datetime.datetime) -> str:
    """Return permissions, in XML, that allow everything to these certificate subjects (RFC 4514)."""
    everything = "<topics><topic>*</topic></topics><partitions><partition>*</partition></partitions>"
    grants = "".join(
        f"""    <grant name="{number}">
      <subject_name>{subject}</subject_name>
      <validity><not_before>{begins:{_TIME}}Z</not_before><not_after>{ends:{_TIME}}Z</not_after></validity>
      <allow_rule>
        {_DOMAINS}
        <publish>{everything}</publish>
        <subscribe>{everything}</subscribe>
      </allow_rule>
      <default>DENY</default>
    </grant>
"""
        for number, subject in enumerate(subjects)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<dds>
  <permissions>
{grants}  </permissions>
</dds>
"""


def faults_of_governance(document: bytes, level: Security) -> Iterator[str]:
    """Yield the problems of a governance document at a level, each as text after the document's name."""
    try:
        rules = list(ElementTree.fromstring(document).iter("domain_rule"))
    except ElementTree.ParseError as error:
        yield f"is not XML ({error})"
        return
    if not rules:
        yield "has no <domain_rule>, so it applies to no domain"
    for rule in rules:
        if _text(rule, "allow_unauthenticated_participants").lower() not in ("false", "0"):
            yield "accepts participants without a certificate; set allow_unauthenticated_participants to false"
        kinds = {_text(each, ".")[:4] for kind in _OF_DATA for each in rule.iter(kind)}
        strongest = next((each for each in reversed(LEVELS) if _KINDS[each][:4] in kinds), "authenticated")
        if strongest != level:
            wanted = " or ".join(_OF_DATA) if level != "authenticated" else "all of " + ", ".join(_OF_DATA)
            yield f"its protection kinds give the level {strongest}; set {wanted} to {_KINDS[level]}"


def faults_of_permissions(document: bytes, subjects: Iterable[str], now: datetime.datetime) -> Iterator[str]:
    """Yield the problems of the permissions for these subjects, each as text after the document's name.

    ``now``: in UTC.
    """
    try:
        grants = list(ElementTree.fromstring(document).iter("grant"))
    except ElementTree.ParseError as error:
        yield f"is not XML ({error})"
        return
    for subject in subjects:
        own = [each for each in grants if _same(_text(each, "subject_name"), subject)]
        if not own:
            yield f"has no grant for {subject}, so the other processes would refuse it"
        for grant in own:
            begins, ends = (_text(grant, f"validity/{each}") for each in ("not_before", "not_after"))
            try:
                if now < _time(begins):
                    yield f"the grant for {subject} is not valid before {begins}; check this machine's clock"
                if now > _time(ends):
                    yield f"the grant for {subject} expired on {ends[:10]}; make a new one"
            except ValueError:
                yield f"the validity of the grant for {subject} is not a time such as 2030-01-31T12:00:00Z"


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip() if path != "." else (element.text or "").strip()


def _same(one: str, other: str) -> bool:
    """Say whether two subjects have the same parts in any order; some middlewares reorder them."""
    return sorted(each.strip() for each in one.split(",")) == sorted(each.strip() for each in other.split(","))


def _time(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)
