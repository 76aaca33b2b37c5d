"""The fit: factors by damped Gauss-Newton steps on logarithms, and how far the labels of a term lie apart.

The loss is Huber's on the logarithm of the time, so that one wrong number moves little. A label (a family, an engine)
lies around the common factor of its term; how far labels of a term lie apart is learned from the results too, so that
those with few of their own stay near to the common factor and those with many do not.
"""

from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np

from bench.fitting.table import ADMISSION, KNOWN, Array, Groups, Mask, Table

HUBER: Final = 0.15
"""Error of a logarithm above which a result pulls no stronger."""
NOISE: Final = 0.15
"""Error of a logarithm that results have of themselves."""
_APART: Final = (0.02, 1.2)
"""The least and the most that labels of a term can lie apart."""
_PRIOR: Final = 2
"""Labels that count beside those of a term, NOISE apart, when that is learned."""
_STEPS: Final = 45
_LEARNED: Final = range(4, 30, 3)
"""Steps after which it is learned how far labels lie apart."""


@dataclass(frozen=True)
class Fit:
    """Factors by term: the common one, and those of labels on it, as logarithms."""

    values: dict[str, dict[str, float]]

    def factor(self, term: str, *labels: str) -> float:
        """The factor of a term, or of a share what it adds to 1."""
        own = self.values[term]
        return exp(own[""] + sum(own.get(label, 0.0) for label in labels if label))


class Problem:
    """What can be moved: a common factor and one a label for each term, and the passes until admission."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names: list[tuple[str, str]] = []
        columns: list[Array] = []
        owner, start, apart, family = [], [], [], []
        families = 0
        terms: list[tuple[str, float, float, Groups]] = [
            (term.name, term.start, term.spread, term.groups) for term in table.terms
        ]
        first, spread, between = ADMISSION
        terms.append(("admission", first, spread, ((table.engines.tolist(), between),)))
        for index, (name, begin, wide, groups) in enumerate(terms):
            levels: list[tuple[str, Array, float, int]] = [("", np.ones(len(table.results)), wide, -1)]
            for labels, far in groups:
                levels += [
                    (label, np.array([one == label for one in labels], float), far, families)
                    for label in sorted({*labels} - {""})
                ]
                families += 1
            for label, column, far, group in levels:
                self.names.append((name, label))
                columns.append(column)
                owner.append(index)
                start.append(np.log(KNOWN.get((name, label), 1.0) if label else begin))
                apart.append(far)
                family.append(group)
        self.columns, self.owner = np.array(columns), np.array(owner)
        self.start, self.apart, self.family = np.array(start), np.array(apart), np.array(family)
        self.amount = np.array([term.amount for term in table.terms])
        self.admitted = np.array([term.admitted for term in table.terms])
        self.shares = np.array([term.share for term in table.terms], float)[:, None]
        self.terms = len(table.terms)

    def _logs(self, theta: Array, columns: Array) -> Array:
        return np.array([theta[self.owner == of] @ columns[self.owner == of] for of in range(self.terms + 1)])

    def fit(self, chosen: Mask) -> Fit:
        """The factors that fit the chosen results."""
        table, columns = self.table, self.columns[:, chosen]
        amount, admitted = self.amount[:, chosen], self.admitted[:, chosen]
        link, admitted_link = table.link[chosen], table.admitted_link[chosen]
        goal, weights = np.log(table.measured[chosen]), table.weights[chosen]
        apart, theta = self.apart.copy(), self.start.copy()

        def loss(theta: Array) -> tuple[float, Array, Array]:
            factors = np.exp(np.clip(self._logs(theta, columns), -25, 14))
            own, passes = factors[:-1], factors[-1]
            units = amount + passes * admitted
            waited = passes * (((own + self.shares) * admitted).sum(axis=0) + admitted_link)
            total = ((own + self.shares) * amount).sum(axis=0) + link + waited
            error = np.log(total) - goal
            size = np.abs(error)
            each = np.where(size < HUBER, size**2 / 2, HUBER * (size - HUBER / 2)) / NOISE**2
            prior = (((theta - self.start) / apart) ** 2).sum() / 2
            return float(weights @ each + prior), error, np.vstack([own * units, waited]) / total

        damping = 1e-3
        current, error, parts = loss(theta)
        for step in range(_STEPS):
            jacobian = columns * parts[self.owner]
            pull = weights * np.minimum(1, HUBER / np.maximum(np.abs(error), 1e-12)) / NOISE**2
            curvature = (jacobian * pull) @ jacobian.T + np.diag(apart**-2.0)
            slope = jacobian @ (pull * error) + (theta - self.start) / apart**2
            while damping < 1e8:
                move = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope)
                there = theta - np.clip(move, -1, 1)
                better = loss(there)
                if better[0] <= current:
                    break
                damping *= 4
            else:
                break
            gained = current - better[0]
            theta, (current, error, parts), damping = there, better, damping / 6
            if step in _LEARNED:
                apart = self._learned(theta, np.diag(np.linalg.inv(curvature)), apart)
                current, error, parts = loss(theta)
            elif step > _LEARNED.stop and gained < 1e-7 * current:
                break
        values: dict[str, dict[str, float]] = {}
        for (term, label), value in zip(self.names, theta.tolist(), strict=True):
            values.setdefault(term, {})[label] = value
        return Fit(values)

    def _learned(self, theta: Array, variances: Array, apart: Array) -> Array:
        """How far labels lie apart, by group: their squares with what is not known of each, beside a prior."""
        new = apart.copy()
        for group in range(self.family.max() + 1):
            here = self.family == group
            squares = ((theta - self.start)[here] ** 2 + variances[here]).sum() + _PRIOR * NOISE**2
            new[here] = np.clip(np.sqrt(squares / (here.sum() + _PRIOR)), *_APART)
        return new


@dataclass(frozen=True)
class Parts:
    """Seconds of the parts of each result."""

    terms: dict[str, Array]
    """By term, what a new request waits for included."""
    link: Array


def parts(table: Table, fit: Fit, *, engine_known: bool = True) -> Parts:
    """Seconds of each part of each result, with what all engines have in common where the engine is not known."""
    engines = table.engines.tolist()

    def logs(name: str, groups: Groups) -> Array:
        own = fit.values[name]
        found = np.full(len(table.results), own[""])
        for labels, _ in groups:
            if engine_known or labels != engines:
                found += [own.get(label, 0.0) if label else 0.0 for label in labels]
        return found

    passes = np.exp(logs("admission", ((engines, 0.0),)))
    rows = {}
    for term in table.terms:
        amount = term.amount if engine_known or term.common is None else term.common
        factor = np.exp(logs(term.name, term.groups)) + term.share
        rows[term.name] = factor * (amount + passes * term.admitted)
    return Parts(rows, table.link + passes * table.admitted_link)


def expected(table: Table, fit: Fit, *, engine_known: bool = True) -> Array:
    """Expected seconds of each result."""
    found = parts(table, fit, engine_known=engine_known)
    total: Array = np.maximum(sum(found.terms.values()) + found.link, table.limit)
    return total
