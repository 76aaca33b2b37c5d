"""A formula and its display are one thing.

A formula is an ordinary function: keyword-only numbers in, a docstring, and one `return` expression.
`@formula(unit=..., ref=...)` leaves it callable and typed. Inside `with recording() as steps:` each call with
numbers is kept with its inputs and its result, so that a page can show the arithmetic that really ran, as text and
as LaTeX, read from the expression itself. Nothing is typed twice, so nothing drifts.

The expression may use + - * / **, numbers, its parameters, `numpy.maximum`, `minimum`, `ceil`, `floor`, `rint`,
`exp`, `log`, and `sum(... for i in range(n))`. So it works on numbers and on numpy arrays alike.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache, update_wrapper, wraps
from typing import Final, Generic, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from inferdash import quantities

Number: TypeAlias = float | NDArray[np.float64]
"""A plain number, or an array of them for a whole curve."""

H = TypeVar("H", bound=Hashable)
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

FUNCTIONS: Final = {
    "maximum": "max",
    "minimum": "min",
    "ceil": "ceil",
    "floor": "floor",
    "rint": "round",
    "exp": "exp",
    "log": "log",
}
"""numpy name -> name in the text of a formula."""
_FENCES: Final = {"ceil": (r"\lceil ", r" \rceil"), "floor": (r"\lfloor ", r" \rfloor")}
_NAMED: Final = {"max", "min", "exp", "log"}
"""Functions that LaTeX has a sign for."""
_TIGHTNESS: Final = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.USub: 3, ast.Pow: 4}
_ATOM: Final = 9
_WRITTEN_OUT: Final = 1e7
"""Below this a whole number is substituted digit by digit, above it in powers of ten."""


@dataclass(frozen=True)
class Step:
    """One call of a formula: which, with what, what came out, and under which heading it was made."""

    formula: "Formula[..., Number]"
    inputs: Mapping[str, Number]
    value: Number
    section: str

    @property
    def text(self) -> str:
        """The expression with this call's numbers, as a line that Python evaluates to the value."""
        return self.formula.text(self.inputs)

    @property
    def result(self) -> str:
        """The value with its unit, as a page shows it."""
        return str(quantities.shown(float(self.value), self.formula.unit))

    @property
    def latex(self) -> str:
        """Symbols, then this call's numbers, then the result, as three aligned lines."""
        unit = quantities.shown(float(self.value), self.formula.unit)
        return (
            r"\begin{aligned}"
            rf"{_latex_name(self.formula.name)} &= {self.formula.latex()} \\[0.5em] "
            rf"&= {self.formula.latex(self.inputs)} \\[0.5em] "
            rf"&= {_latex_text(unit.number)}\ {_latex_text(unit.unit)}"
            r"\end{aligned}"
        )


_steps: ContextVar[list[Step] | None] = ContextVar("steps", default=None)
_section: ContextVar[str] = ContextVar("section", default="")


@contextmanager
def recording() -> Iterator[list[Step]]:
    """Keeps each formula that is called inside, in order."""
    steps: list[Step] = []
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keeps no formula that is called inside, whoever records outside: thousands that nobody would read."""
    token = _steps.set(None)
    try:
        yield
    finally:
        _steps.reset(token)


def once(steps: Iterable[Step]) -> list[Step]:
    """The same formula with the same numbers once under each heading."""
    return list({(step.section, step.formula.name, step.text): step for step in steps}.values())


def remembered(function: Callable[[H], T]) -> Callable[[H], T]:
    """A function of one value whose latest results are kept, but while formulas are recorded."""
    latest = lru_cache(maxsize=64)(function)

    @wraps(function)
    def asked(value: H) -> T:
        return latest(value) if _steps.get() is None else function(value)

    return asked


@contextmanager
def section(title: str) -> Iterator[None]:
    """Puts the steps recorded inside under a heading."""
    token = _section.set(title)
    try:
        yield
    finally:
        _section.reset(token)


class Formula(Generic[P, R]):
    """A function of one expression that can also show itself."""

    def __init__(self, function: Callable[P, R], unit: str, ref: str) -> None:
        update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        self.unit = unit
        self.ref = ref

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        value = self.function(*args, **kwargs)
        steps = _steps.get()
        if steps is not None and not isinstance(value, np.ndarray):  # a whole curve is no step to write out
            steps.append(Step(self, kwargs, value, _section.get()))  # type: ignore[arg-type]  # R is a Number; a bound would lose float from float
        return value

    @cached_property
    def summary(self) -> str:
        """The first paragraph of the docstring on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    @cached_property
    def expression(self) -> ast.expr:
        """The tree of the one returned expression.

        Raises:
            TypeError: where the function is more than a docstring and one `return`.
        """
        source = textwrap.dedent(inspect.getsource(self.function))
        definition = ast.parse(source).body[0]
        if not isinstance(definition, ast.FunctionDef):
            raise TypeError(f"{self.name} is not a plain function")
        match definition.body:
            case [ast.Expr(), ast.Return(value=ast.expr() as expression)]:
                return expression
        raise TypeError(f"{self.name} is not one docstring and one returned expression")

    def text(self, inputs: Mapping[str, Number] | None = None) -> str:
        """The expression as a line of text, with symbols, or with the numbers of `inputs` in their place."""
        return ast.unparse(ast.fix_missing_locations(_Substitution(inputs or {}).visit(_copy(self.expression))))

    def latex(self, inputs: Mapping[str, Number] | None = None) -> str:
        """The expression as LaTeX, with symbols, or with the numbers of `inputs` in their place."""
        return _latex(self.expression, inputs or {})


def formula(*, unit: str, ref: str) -> Callable[[Callable[P, R]], Formula[P, R]]:
    """Marks a function of one expression as a formula.

    Args:
        unit: the base unit of its result, as `quantities.shown` knows it.
        ref: a key of `references.REFERENCES`: where it comes from.
    """

    def mark(function: Callable[P, R]) -> Formula[P, R]:
        return Formula(function, unit, ref)

    return mark


def _copy(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body


def _plain(value: Number) -> float:
    """A Python int where it is whole and was one, else a float, so that its repr is exact and short."""
    return value if isinstance(value, int) else float(value)


class _Substitution(ast.NodeTransformer):
    """Names become numbers, `numpy.maximum` becomes `max`."""

    def __init__(self, inputs: Mapping[str, Number]) -> None:
        self.inputs = inputs

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.inputs:
            return node
        value = _plain(self.inputs[node.id])
        constant = ast.Constant(abs(value))
        return ast.UnaryOp(ast.USub(), constant) if value < 0 else constant

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(FUNCTIONS[node.attr])


def _tightness(node: ast.expr) -> int:
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return _TIGHTNESS[type(node.op)]
    return _ATOM


def _latex(node: ast.expr, inputs: Mapping[str, Number]) -> str:
    """LaTeX of an expression.

    Raises:
        TypeError: for a kind of expression that a formula may not use.
    """

    def part(child: ast.expr, least: int) -> str:
        inner = _latex(child, inputs)
        negative = isinstance(child, ast.Name) and child.id in inputs and _plain(inputs[child.id]) < 0
        return rf"\left({inner}\right)" if _tightness(child) < least or negative else inner

    match node:
        case ast.Constant(value=int() | float() as value):
            return _latex_number(value)
        case ast.Name(id=name):
            return _latex_number(_plain(inputs[name])) if name in inputs else _latex_name(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return "-" + part(operand, _TIGHTNESS[ast.USub])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{part(left, 1)} + {part(right, 1)}"
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"{part(left, 1)} - {part(right, 2)}"
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return rf"{part(left, 2)} \cdot {part(right, 2)}"
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return rf"\frac{{{_latex(left, inputs)}}}{{{_latex(right, inputs)}}}"
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"{{{part(left, _ATOM)}}}^{{{_latex(right, inputs)}}}"
        case ast.Call(func=ast.Attribute(attr=function), args=arguments):
            inner = r",\ ".join(_latex(argument, inputs) for argument in arguments)
            if function in _FENCES:
                return inner.join((r"\left" + _FENCES[function][0], r"\right" + _FENCES[function][1].lstrip()))
            name = FUNCTIONS[function]
            return (rf"\{name}" if name in _NAMED else rf"\text{{{name}}}") + rf"\left({inner}\right)"
        case ast.Call(
            func=ast.Name(id="sum"),
            args=[
                ast.GeneratorExp(
                    elt=term,
                    generators=[ast.comprehension(target=ast.Name(id=i), iter=ast.Call(args=[stop]))],
                )
            ],
        ):
            last = f"{_latex(stop, inputs)} - 1"
            match stop:  # range(n + 1) ends at n
                case ast.BinOp(left=n, op=ast.Add(), right=ast.Constant(value=1)):
                    last = _latex(n, inputs)
            return rf"\sum_{{{i}=0}}^{{{last}}} {part(term, 2)}"
    raise TypeError(f"a formula may not use {ast.unparse(node)}")


def _latex_name(name: str) -> str:
    return name if len(name) == 1 else rf"\text{{{name.replace('_', ' ')}}}"


def _latex_text(text: str) -> str:
    for sign in ("$", "%"):
        text = text.replace(sign, "\\" + sign)
    return rf"\text{{{text}}}" if text else ""


def _latex_number(value: float) -> str:
    if value == int(value) and abs(value) < _WRITTEN_OUT:
        return f"{value:,.0f}".replace(",", "{,}")
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    if not exponent:
        return (
            mantissa if abs(value) < _WRITTEN_OUT and "." in mantissa else f"{float(mantissa):,.0f}".replace(",", "{,}")
        )
    return rf"{float(mantissa):g} \times 10^{{{int(exponent)}}}"
