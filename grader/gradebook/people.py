"""Finds the students of a graded class in a gradebook, without guessing: it lists those whom it cannot identify."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..classroom.results import Person, identity
from .layout import Layout
from .table import Table

_NAMES = {
    "name": "name",
    "email": "address",
    "number": "student number",
    "username": "login name",
    "platform_id": "number at the platform",
}


@dataclass(frozen=True)
class GradebookStudent:
    """One student of a gradebook.

    Attributes:
        number: Place in the order of the gradebook.
        person: The student's data in the gradebook.
        rows: The records; several if the export lists a student once per section.
    """

    number: int
    person: Person
    rows: tuple[int, ...]


class Students:
    """All students of a gradebook.

    Attributes:
        all: In the order of the gradebook.
        shared: Ids that several of them have, so that they identify nobody: some gradebooks have `0` or `N/A` where
            there is no number.
    """

    def __init__(self, table: Table, layout: Layout, records: Sequence[int]) -> None:
        ids = {row: _ids(table, layout, row) for row in records}
        people = {row: _person(table, layout, row) for row in records}
        groups = _grouped({row: identity(person.name) for row, person in people.items()}, ids)
        self.all = tuple(GradebookStudent(number, people[rows[0]], tuple(rows)) for number, rows in enumerate(groups))
        self._platform = layout.platform
        self._fields = tuple(dict.fromkeys(field for field, _ in layout.keys))
        self._by_id: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._by_name: dict[str, set[int]] = defaultdict(set)
        for student in self.all:
            for each in {each for row in student.rows for each in ids[row].items()}:
                self._by_id[each].add(student.number)
            self._by_name[identity(student.person.name)].add(student.number)
        self.shared = tuple(sorted({value for (_, value), numbers in self._by_id.items() if len(numbers) > 1}))

    def find(self, person: Person) -> tuple[GradebookStudent | None, str]:
        """The student that this person is.

        All ids must lead to the same student, whose name must agree. An id that several students share identifies
        nobody. The name alone counts only if no id leads to a student, and if the name is unique.

        Returns:
            The student, with anything to check, or None with the reason.
        """
        numbers, fields = self._with_ids(person)
        leading = " and the ".join(_NAMES[field] for field in fields)
        if len(numbers) > 1:
            return None, f"the {leading} lead to different students of the gradebook"
        if numbers:
            student = self.all[numbers.pop()]
            if _different(student.person.name, person.name):
                return None, f"by the {leading}, this is {student.person.name}, who has a different name; see --roster"
            return student, ""
        numbers = self._by_name.get(identity(person.name), set()) if identity(person.name) else set()
        if len(numbers) == 1:
            return self.all[min(numbers)], "found only by name"
        if numbers:
            return None, "the gradebook has several students with this name; see --roster"
        return None, self._why_not_found(person)

    def proposal(self, submission: str) -> GradebookStudent | None:
        """The only student whose name has the words of a submission's name, for a person to confirm."""
        words = sorted(_words(submission))
        students = [student for student in self.all if words and sorted(_words(student.person.name)) == words]
        return students[0] if len(students) == 1 else None

    def identifying_field(self) -> str:
        """The most reliable field that every student has, and each another one; "" if there is none."""
        for field in self._fields:
            values = [_id(field, getattr(student.person, field)) for student in self.all]
            if all(values) and len({*values}) == len(values):
                return field
        return ""

    def _with_ids(self, person: Person) -> tuple[set[int], list[str]]:
        """The students to whom the ids of a person lead, by number, and the fields with these ids."""
        values = {field: _id(field, getattr(person, field)) for field in self._fields if self._counts(field, person)}
        found = {field: self._by_id.get((field, value), set()) for field, value in values.items() if value}
        unique = {field: numbers for field, numbers in found.items() if len(numbers) == 1}
        return set().union(*unique.values()), [*unique]

    def _why_not_found(self, person: Person) -> str:
        if person.platform == "github":
            return "a GitHub user name does not say who somebody is; see --roster"
        # Canvas has one column for login names, which are addresses at some institutions.
        there = {"name", *(field for field, value in self._by_id if field != "email" or "@" in value)}
        given = [word for field, word in _NAMES.items() if getattr(person, field)]
        if given and not any(getattr(person, field) for field in there):
            wanted = " or ".join(word for field, word in _NAMES.items() if field in there)
            return f"the gradebook has no {' and no '.join(given)}; give the {wanted}, see --roster"
        return "is not in the gradebook; see --roster"

    def _counts(self, field: str, person: Person) -> bool:
        """Whether a field identifies a person: a platform's number does only there, and a freely chosen name never."""
        if field == "platform_id":
            return person.platform == self._platform
        return field != "username" or person.platform != "github"


def _ids(table: Table, layout: Layout, row: int) -> dict[str, str]:
    """The ids of one record, by field."""
    ids = {field: _id(field, table.text(row, column)) for field, column in layout.keys}
    return {field: value for field, value in ids.items() if value}


def _grouped(names: Mapping[int, str], ids: Mapping[int, Mapping[str, str]]) -> list[list[int]]:
    """The records of each student: of one name, with an id in common that no other name has, and with none apart."""
    names_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row, name in names.items():
        for each in ids[row].items():
            names_of[each].add(name)

    def same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
        both = one.keys() & other.keys()
        return all(one[field] == other[field] for field in both) and any(
            len(names_of[field, one[field]]) == 1 for field in both
        )

    groups: dict[str, list[list[int]]] = defaultdict(list)
    for row, name in names.items():
        fitting = (group for group in groups[name] if all(same(ids[row], ids[other]) for other in group))
        group = next(fitting, None) if name else None
        if group is None:
            groups[name].append(group := [])
        group.append(row)
    return sorted(group for of_name in groups.values() for group in of_name)


def _person(table: Table, layout: Layout, row: int) -> Person:
    values = {field: table.text(row, column) for field, column in reversed(layout.keys)}
    name = " ".join(table.text(row, column) for column in layout.name)
    return Person(**values | {"name": " ".join(name.split()), "platform": layout.platform})


def _id(field: str, text: str) -> str:
    """An id for comparison; Moodle puts a word in the site's language before the number of a participant."""
    return re.sub(r"^\D+(?=\d+$)", "", identity(text)) if field == "platform_id" else identity(text)


def _different(first: str, second: str) -> bool:
    """Whether two names have no word in common, and are not the same letters: Canvas writes a name as one word."""
    ours, others = map(_words, (first, second))
    if not ours or not others or sorted("".join(ours)) == sorted("".join(others)):
        return False
    return not any(len(word) > 1 for word in {*ours} & {*others})


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", _letters(name))


def _letters(name: str) -> str:
    """Without accents, which many systems drop, and with a dot on each i, which Canvas puts there for a capital."""
    plain = unicodedata.normalize("NFKD", name.casefold()).replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")
    return "".join(c for c in plain if not unicodedata.combining(c))
