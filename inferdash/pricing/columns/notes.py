"""What is told of records that came as sums, as of those that are read one by one."""

from inferdash.pricing.columns.sums import Found
from inferdash.pricing.logs.records import Records
from inferdash.pricing.tally import Summed


def noted(found: Found, records: Records) -> Summed | None:
    """What is told of sums, and these under the name of their model as it is kept; None for what is no request."""
    sums, told, group = found.summed.sums, records.told, found.summed.group
    if found.fit is None:
        told.passed += sums.lines
        return None
    records.kind = "usage"
    records.reader.note(found.fit, lines=sums.lines, storing=found.storing)
    for model in found.models:
        told.note_model(model)
    if found.many:
        told.summed += sums.lines
    user = told.user(group.user) if records.users else ""
    model = told.named(group.model) if group.model else ""
    return found.summed._replace(group=group._replace(model=model, user=user))
