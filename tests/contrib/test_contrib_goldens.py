"""tf.contrib beside TensorFlow 1.15.5: each case gives what was recorded there.

Cases of cells, decoders and estimators are in the files beside this one.
"""

import re

import pytest
from contrib_goldens.differences import COMPARED_ELSEWHERE, OTHER_ARGUMENTS, WITHOUT_A_CASE
from golden_tables import CASES, DOCS, REASONS, RECORDED, Group, check_arguments, check_case

from estimator_bridge_contrib.namespaces import NAMESPACES

GROUP = Group()
EXCUSED = {name: reason for reason, names in WITHOUT_A_CASE.items() for name in names.split()}
ELSEWHERE = {name for names in COMPARED_ELSEWHERE.values() for name in names.split()}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return GROUP.run(tmp_path_factory.mktemp("contrib"))


@pytest.mark.parametrize("name", GROUP.cases)
def test_a_case_gives_what_the_original_gave(seen, name):
    check_case(seen, name)


@pytest.mark.parametrize("name", GROUP.signatures)
def test_arguments_are_those_of_the_original(seen, name):
    check_arguments(seen, name)


def own_callables():
    """The callables that this library wrote, by full name: whether a case covers each."""
    covered = {name.partition(":")[0] for name in CASES if not name.endswith(": not compared")}
    places = places_of(covered)
    return {
        f"{namespace}.{name}": f"{namespace}.{name}" in covered or place in places
        for namespace, table in NAMESPACES.items()
        if namespace != "slim"  # it has the names of layers, framework, losses and metrics
        for name, place in table.places.items()
        if place.startswith("estimator_bridge_contrib") and callable(table.find(name))
    }


def test_every_own_callable_has_a_case():
    without = {name for name, is_covered in own_callables().items() if not is_covered}
    assert without == EXCUSED.keys() | ELSEWHERE, "differences.py lists those without a case"


@pytest.mark.parametrize("name", sorted(EXCUSED))
def test_1_15_5_says_why_a_name_is_without_a_case(name):
    case = CASES[f"{name}: not compared"]
    raised = case.get("error") or case["error at run time"]
    is_missing = EXCUSED[name].startswith("not in the namespace")
    assert raised and (raised[0] == "AttributeError") == is_missing


def test_the_page_counts_the_callables():
    own = own_callables()
    counted = f"Callables compared: {sum(own.values())} of {len(own)}."
    assert counted in (DOCS / "conformance.md").read_text(), counted


def test_the_page_counts_the_cases():
    cases = [name for name in CASES if not name.endswith(": not compared")]
    names = {name.partition(":")[0] for name in cases}
    counted = f"{len(cases)} cases of {len(names)} names"
    assert counted in (DOCS / "differences.md").read_text(), counted


def places_of(names):
    """The paths of names: two names of one object need one case."""
    places = set()
    for full in names:
        namespace, _, name = full.rpartition(".")
        if namespace in NAMESPACES and name in NAMESPACES[namespace].places:
            places.add(NAMESPACES[namespace].places[name])
    return places


def test_reasons_name_cases():
    assert set(REASONS) <= set(CASES)


def documented_names():
    """The names whose difference differences.py gives a reason for, without namespaces."""
    cases = {name.partition(":")[0] for name in REASONS}
    others = {name for names in OTHER_ARGUMENTS.values() for name in names.split()}
    return sorted({name.rpartition(".")[2] for name in cases | others})


@pytest.mark.parametrize("name", documented_names())
def test_the_page_has_the_reason_of_each_difference(name):
    page = (DOCS / "differences.md").read_text()
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", page), f"docs/contrib/differences.md lacks {name}"


def test_no_two_tables_have_a_case_of_one_name():
    count = sum(len(table["cases"]) for table in RECORDED.values())
    assert count == len(CASES)
