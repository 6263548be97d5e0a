# SPDX-License-Identifier: BSD-3-Clause
"""The text of objectives: what it means, that it leads back, and what is said of a mistake."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.parameters.as_text import read_entries, read_entry, write_entry
from swftools.simulator.search.measures import list_measures, planned_measure
from swftools.simulator.search.objectives import MODELS, MOST_MEASURES, Objective, Term, read_objective

MEASURES = ", ".join(sorted(list_measures()))

TAKERS = " and ".join(sorted(name for name, measure in list_measures().items() if measure.takes_threshold))

A_MODEL = "a model: lexical, tradeoff-a, tradeoff-b, tradeoff-c, each also behind strict-"

A_NUMBER = "a number of 0 or more and its unit, such as 50h"


@st.composite
def objectives(draw: st.DrawFn) -> Objective:
    """Draw an objective: any model, measures, and thresholds of those that take one."""
    model = draw(st.sampled_from(MODELS))
    most = MOST_MEASURES if model == "lexical" else 2
    least = 1 if model == "lexical" else 2
    names = draw(st.lists(st.sampled_from(sorted(list_measures())), min_size=least, max_size=most, unique=True))
    seconds = st.floats(0, allow_infinity=False) | st.integers(0, 10**9).map(float)
    thresholds = [draw(st.none() | seconds) if list_measures()[name].takes_threshold else None for name in names]
    return Objective(model, draw(st.booleans()), tuple(map(Term, names, thresholds)))


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("lexical(maxW)", Objective("lexical", False, (Term("maxW"),))),
        ("lexical(T_w->avgX)", Objective("lexical", False, (Term("T_w"), Term("avgX")))),
        (
            "strict-lexical(T_w -> avgX -> lost-utility -> maxE(1.5min))",
            Objective("lexical", True, (Term("T_w"), Term("avgX"), Term("lost-utility"), Term("maxE", 90.0))),
        ),
        ("tradeoff-a(T_w:avgX)", Objective("tradeoff-a", False, (Term("T_w"), Term("avgX")))),
        ("strict-tradeoff-b(avgW:maxW)", Objective("tradeoff-b", True, (Term("avgW"), Term("maxW")))),
        (
            " tradeoff-c ( T_w ( 50 h ) :\tavgX ) ",
            Objective("tradeoff-c", False, (Term("T_w", 180_000.0), Term("avgX"))),
        ),
    ],
)
def test_what_a_text_means(text: str, objective: Objective) -> None:
    """The model, whether it is strict, and the measures in their order; blanks do not count."""
    assert read_objective(text) == objective


@pytest.mark.parametrize(
    ("text", "seconds", "canonical"),
    [
        ("0d", 0.0, "0s"),
        ("59s", 59.0, "59s"),
        ("60s", 60.0, "1min"),
        ("1.1h", 3_960.0, "66min"),  # 1.1 * 3600 in floating point is no whole number
        ("72h", 259_200.0, "3d"),
        ("50h", 180_000.0, "50h"),
        (".5s", 0.5, "0.5s"),
        ("0.00000001s", 1e-8, "0.00000001s"),
    ],
)
def test_thresholds(text: str, seconds: float, canonical: str) -> None:
    """A threshold is kept in seconds, and written in the longest unit of which it is a whole number."""
    objective = read_objective(f"lexical(T_w({text}))")
    assert objective.terms == (Term("T_w", seconds),)
    assert objective.to_text() == f"lexical(T_w({canonical}))"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" strict-lexical( T_w->maxW )", "strict-lexical(T_w -> maxW)"),
        ("tradeoff-a( T_w : avgX )", "tradeoff-a(T_w:avgX)"),
        ("tradeoff-b(maxE(3600s):avgW)", "tradeoff-b(maxE(1h):avgW)"),
    ],
)
def test_one_canonical_form(text: str, canonical: str) -> None:
    """Texts that mean the same have one canonical form."""
    assert read_objective(text).to_text() == canonical


@given(objectives())
@example(Objective("lexical", True, (Term("T_w", 5e-324), Term("maxE", 1.7976931348623157e308))))
def test_a_text_leads_back(objective: Objective) -> None:
    """What an objective writes is read as the same objective, alone and among the parameters of a policy."""
    text = objective.to_text()
    assert read_objective(text) == objective
    entry = write_entry("search", {"objective": text, "nodes": 1000})
    assert read_entry(entry) == ("search", {"objective": text, "nodes": 1000})


@given(objectives(), st.data())
def test_blanks_do_not_count(objective: Objective, data: st.DataObject) -> None:
    """Blanks around marks, also at both ends, leave the meaning as it is."""
    blanks = st.sampled_from(["", " ", "\t", "  \n"])
    text = objective.to_text().replace("->", "\0")
    spread = "".join(data.draw(blanks) + mark + data.draw(blanks) if mark in "():\0" else mark for mark in text)
    assert read_objective(spread.replace("\0", "->")) == objective


@pytest.mark.parametrize(
    ("entry", "objective"),
    [
        ("search:objective=tradeoff-a(T_w:avgX),nodes=1000", "tradeoff-a(T_w:avgX)"),
        ("search:nodes=1000,objective=tradeoff-a(T_w:avgX)", "tradeoff-a(T_w:avgX)"),
        ('search:objective="lexical(T_w -> avgX)",nodes=1000', "lexical(T_w -> avgX)"),
        ("search:objective=lexical(T_w -> avgX),nodes=1000", "lexical(T_w -> avgX)"),
        ("my_measures:search:objective='strict-lexical(T_w(50h)->avgX)',nodes=1000", "strict-lexical(T_w(50h)->avgX)"),
    ],
)
def test_within_the_text_of_a_policy(entry: str, objective: str) -> None:
    """Colons, brackets and arrows of an objective do not disturb the parameters around it, quoted or not."""
    _, given_ = read_entry(entry)
    assert given_ == {"objective": objective, "nodes": 1000}
    assert read_objective(given_["objective"]) == read_objective(objective)
    assert [len(values) for _, values in read_entries(f"easy,{entry},fcfs")] == [0, 2, 0]


@pytest.mark.parametrize(
    ("text", "wrong", "place", "expected"),
    [
        ("", "the model is missing", 0, A_MODEL),
        ("  ", "the model is missing", 2, A_MODEL),
        ("(T_w)", "the model is missing", 0, A_MODEL),
        ("tradeoff(T_w:avgX)", "there is no model 'tradeoff'", 0, f"{A_MODEL}; did you mean tradeoff-a?"),
        (
            "Strict-Lexicall(T_w)",
            "there is no model 'Strict-Lexicall'",
            0,
            f"{A_MODEL}; did you mean strict-lexical?",
        ),
        ("B-Tradeoff(T_w:avgX)", "there is no model 'B-Tradeoff'", 0, f"{A_MODEL}; did you mean tradeoff-b?"),
        (
            "Strict-Tradeoff(T_w:avgX)",
            "there is no model 'Strict-Tradeoff'",
            0,
            f"{A_MODEL}; did you mean strict-tradeoff-a?",
        ),
        (" pareto(T_w)", "there is no model 'pareto'", 1, A_MODEL),
        ("lexical", "the measures are missing", 7, "( behind lexical, and its measures"),
        ("strict-tradeoff-b T_w", "the measures are missing", 18, "( behind tradeoff-b, and its measures"),
        ("lexical()", "a measure is missing", 8, f"a measure: {MEASURES}"),
        ("tradeoff-a(T_w:)", "a measure is missing", 15, f"a measure: {MEASURES}"),
        ("lexical(T_w -> 3)", "a measure is missing", 15, f"a measure: {MEASURES}"),
        (
            "tradeoff-a(T_w: avgY)",
            "there is no measure 'avgY'",
            16,
            f"a measure: {MEASURES}; did you mean avgX?",
        ),
        ("lexical(t_ww)", "there is no measure 't_ww'", 8, f"a measure: {MEASURES}; did you mean T_w?"),
        ("lexical(zzzzzzz)", "there is no measure 'zzzzzzz'", 8, f"a measure: {MEASURES}"),
        ("lexical(avgX-T_w)", "there is no measure 'avgX-T_w'", 8, f"a measure: {MEASURES}; did you mean avgX?"),
        (
            "lexical(T_w -> T_w)",
            "T_w appears twice",
            15,
            f"another measure: {MEASURES.replace('T_w, ', '')}",
        ),
        (
            "tradeoff-c(T_w(1h):T_w(2h))",
            "T_w appears twice",
            19,
            f"another measure: {MEASURES.replace('T_w, ', '')}",
        ),
        ("lexical(T_w:avgX)", "the measures do not end here", 11, "-> and another measure, or )"),
        ("lexical(T_w", "the measures do not end here", 11, "-> and another measure, or )"),
        ("lexical(T_w -> avgX -> avgW -> maxW -> maxE)", "lexical has 4 measures at most", 36, ")"),
        ("tradeoff-a(T_w)", "tradeoff-a has two measures, joined by a colon", 14, ": and another measure"),
        ("tradeoff-b(T_w -> avgX)", "tradeoff-b has two measures, joined by a colon", 15, ": and another measure"),
        ("tradeoff-a(T_w,avgX)", "tradeoff-a has two measures, joined by a colon", 14, ": and another measure"),
        ("tradeoff-a(T_w:avgX:avgW)", "tradeoff-a has two measures", 19, ")"),
        ("tradeoff-a(T_w:avgX", "tradeoff-a has two measures", 19, ")"),
        ("lexical(avgX(50h))", "avgX takes no threshold", 12, f"none here; {TAKERS} take one"),
        ("lexical(T_w())", "a threshold is missing", 12, A_NUMBER),
        ("lexical(T_w(h))", "a threshold is missing", 12, A_NUMBER),
        ("lexical(T_w(-5h))", "a threshold is missing", 12, A_NUMBER),
        ("lexical(T_w(50))", "the unit is missing", 14, "a unit: s, min, h, d"),
        ("lexical(T_w(50 hours))", "there is no unit 'hours'", 15, "a unit: s, min, h, d"),
        ("lexical(T_w(1e5s))", "there is no unit 'e5s'", 13, "a unit: s, min, h, d"),
        ("lexical(T_w(50h5))", "there is no unit 'h5'", 14, "a unit: s, min, h, d"),
        ("lexical(T_w(50h 5min))", "the threshold does not end here", 16, ")"),
        ("lexical(T_w(50h", "the threshold does not end here", 15, ")"),
        ("lexical(T_w))", "there is more behind the objective", 12, "nothing more"),
        ("lexical(T_w) avgX", "there is more behind the objective", 13, "nothing more"),
        ("lexical(T_w\n\x07 avgX)", "the measures do not end here", 12, "-> and another measure, or )"),
    ],
)
def test_mistakes_are_shown(text: str, wrong: str, place: int, expected: str) -> None:
    """The message is the mistake, the text with a caret under it, what was expected, and what may have been meant."""
    with pytest.raises(ParameterError) as caught:
        read_objective(text)
    shown = text.replace("\n", " ").replace("\x07", " ")
    assert str(caught.value) == f"objective: {wrong}\n  {shown}\n  {' ' * place}^\nexpected {expected}"


def test_a_long_text_is_shown_about_the_mistake() -> None:
    """Of a text longer than a line the part about the mistake is shown, with dots where something is left out."""
    blanks = " " * 60
    for text, shown in (
        (f"lexical(T_w{blanks}:avgX)", f"...{blanks[:30]}:avgX)"),
        (f"lexical(T_w:avgX){blanks}", f"lexical(T_w:avgX){blanks[:43]}..."),
        (f"lexical({blanks}T_w:avgX{blanks})", f"...{blanks[:27]}T_w:avgX{blanks[:25]}..."),
    ):
        with pytest.raises(ParameterError) as caught:
            read_objective(text)
        _, line, caret, _ = str(caught.value).split("\n")
        assert line == f"  {shown}"
        assert line[len(caret) - 1] == ":"


def test_a_threshold_that_no_number_holds() -> None:
    """A threshold beyond the greatest number is refused, however many digits it has."""
    for digits in ("9" * 309, "9" * 10_000):
        with pytest.raises(ParameterError, match=r"^objective: the threshold is too great for a number\n"):
            read_objective(f"lexical(T_w({digits}d))")


@pytest.mark.parametrize("thing", [5, None, True, ["lexical(T_w)"]])
def test_no_text(thing: object) -> None:
    """What a YAML scalar may be, but is no text, is named as it is."""
    with pytest.raises(ParameterError) as caught:
        read_objective(thing)  # type: ignore[arg-type]
    assert str(caught.value) == f"objective: {thing!r} is not a text, such as tradeoff-a(T_w:avgX)"


@pytest.mark.parametrize("facts", [{"fold": "median"}, {"reference": "sjf"}, {"fold": "", "reference": "lxf"}])
def test_a_measure_of_ones_own_is_folded_in_one_of_the_known_ways(facts: dict[str, str]) -> None:
    """Another fold, or another reference, is refused before the function is looked at; nothing is registered."""
    given = {"fold": "sum", "reference": "fcfs"} | facts
    said = (
        f"measure 'mine': fold={given['fold']!r}, reference={given['reference']!r}; "
        "fold one of sum, mean, max, reference one of fcfs, lxf"
    )
    with pytest.raises(ParameterError) as caught:
        planned_measure("mine", **facts)
    assert str(caught.value) == said
    assert "mine" not in list_measures()
