"""What else than counts a record says: when, which model, which request, at what cost."""

from collections.abc import Mapping, Sequence
from typing import Final

from inferdash.pricing.dialects.names import AROUND, LONGEST_WAY, normal

_WORDS: Final[Mapping[str, str]] = {
    "time": "time timestamp ts t date datetime created createdat starttime starttimestamp requesttime usagedateutc"
    " requestcreatedat startedat startingat bucketstarttime timecreated processedtime eventtime starttimeunixnano"
    " day datum usagedate loggingtime",
    "time_ms": "timems timestampms createdms",
    "model": "model modelversion modelid modelname requestmodel responsemodel modelpermaslug genairesponsemodel"
    " genairequestmodel llmmodelname aimodelid aimodel providedmodelname modell",
    "message": "messageid responseid generationid genairesponseid paramsupdatepromptid",
    "id": "id",
    "request": "requestid",
    "cost": "cost costusd totalcost totalcostusd spend responsecost costtotal calculatedtotalcost costdetailstotal"
    " costtotalcost aitotalcostusd llmcosttotal genaiusagecost usagecost",
    "ticks": "costinusdticks genaiusagecostinusdticks costusdticks",
    "user": "user userid useremail enduser enduserid distinctid",
    "key": "apikeyid apikeyname keyname keyalias",
    "requests": "nummodelrequests requests requestcount numrequests numberofrequests totalrequests apirequests"
    " calls apicalls modelcalls",
    "service": "servicetier servicetiertype traffictype inferencegeo",
    "speed": "speed usagetype",
    "batch": "batch isbatch",
}
ROLES: Final[Mapping[str, str]] = {word: role for role, words in _WORDS.items() for word in words.split()}
SUMS: Final[Mapping[str, frozenset[str]]] = {
    "genaioperationname": frozenset({"invoke_agent", "create_agent", "invoke_workflow", "execute_tool"}),
    "traceloopspankind": frozenset({"workflow", "agent", "task", "tool"}),
    "openinferencespankind": frozenset({"AGENT", "CHAIN", "TOOL", "RETRIEVER", "RERANKER"}),
    "runtype": frozenset({"chain", "tool", "retriever", "prompt", "parser"}),
    "aioperationid": frozenset({"ai.streamText", "ai.generateText", "ai.streamObject", "ai.generateObject"}),
    "type": frozenset({"result", "SPAN", "EVENT", "TRACE", "message_start"}),
    "model": frozenset({"<synthetic>"}),
    "sessionupdate": frozenset(
        {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}
    ),
}
"""Name -> values of records that are no request: they hold sums of others, or nothing."""
ANSWERS: Final[Mapping[str, frozenset[str]]] = {
    "type": frozenset({"assistant", "gemini", "ai", "GENERATION"}),
    "role": frozenset({"assistant", "model"}),
    "payloadtype": frozenset({"token_count"}),
    "object": frozenset({"chat.completion", "response", "text_completion"}),
    "sessionupdate": frozenset({"turn_completed"}),
}
"""Name -> values of records that are a request, so that one without counts is left out and named."""
KINDS: Final = frozenset({"type", "role", "payloadtype", "object", "sessionupdate"})
SHELLS: Final = frozenset({"event_msg", "message"})
"""Types of records that say below what they are."""


def role_of(path: Sequence[str]) -> str:
    """What stands at the end of a path beside counts, or nothing."""
    if sum(map(len, path)) > LONGEST_WAY:
        return ""
    pieces = [piece for name in path for part in name.split(".") if (piece := normal(part))]
    for taken in (3, 2, 1):
        last, before = "".join(pieces[-taken:]), "".join(pieces[:-taken])
        if len(pieces) >= taken and last in ROLES and AROUND.fullmatch(before):
            return ROLES[last]
    return ""


def kind_of(path: Sequence[str]) -> str:
    """The name of what says of which kind a record is, or nothing."""
    pieces = "".join(map(normal, path)) if sum(map(len, path)) <= LONGEST_WAY else ""
    for name in (*KINDS, *SUMS):
        if pieces.endswith(name) and (name == "payloadtype" or AROUND.fullmatch(pieces[: -len(name)])):
            return "payloadtype" if pieces == "payloadtype" else name
    return ""
