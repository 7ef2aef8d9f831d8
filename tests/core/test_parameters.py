"""Parameters of an act: one declaration makes a command's options, a page's form and a job's JSON."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from django import forms
from django.core.management.base import CommandParser

from core.errors import CounterpartError
from core.parameters import OFF_PAGE, POSITIONAL, FlagField, NamesField, Option, Parameters, values_of


class Shearing(Parameters):
    flock: Annotated[str, forms.CharField(label="Flock", help_text="flock to shear"), POSITIONAL]
    sheep: Annotated[int, forms.IntegerField(min_value=1, help_text="sheep to shear")] = 3
    wool: Annotated[Path | None, "file of wool", OFF_PAGE] = None
    wet: Annotated[bool, "shear wet sheep"] = False


class Driving(Parameters):
    flocks: Annotated[tuple[str, ...], "flocks to drive", POSITIONAL] = ()
    dog: Annotated[str, forms.CharField(help_text="at 100% of its speed"), Option(name="with", metavar="DOG")] = "rex"


class Naming(Parameters):
    name: Annotated[str, "name of a sheep"]
    after: Annotated[str | None, "an older sheep"] = None
    kind: Annotated[Literal["ewe", "ram"], "what it is"] = "ewe"


def parsed(*words, parameters=Shearing):
    parser = CommandParser()
    parameters.add_options(parser)
    return vars(parser.parse_args(words))


def test_a_positional_parameter_is_an_argument_without_an_option_name():
    assert Shearing.from_options(parsed("merino", "--sheep", "5")) == Shearing(flock="merino", sheep=5)


def test_the_shown_options_name_positional_parameters_first_and_leave_defaults_out():
    assert Shearing(flock="my flock", wet=True).as_options() == "'my flock' --wet"


def test_a_form_has_no_field_of_a_parameter_that_only_the_command_has():
    fields = Shearing.form_fields()
    assert (list(fields), fields["sheep"].initial) == (["flock", "sheep", "wet"], 3)


def test_a_path_survives_json():
    given = Shearing.from_options(parsed("merino", "--wool", "a/b.csv"))
    assert given.wool == Path("a/b.csv")
    assert Shearing.from_json(given.as_json()) == given


def test_a_positional_parameter_with_a_default_can_be_left_out():
    assert Driving.from_options(parsed(parameters=Driving)) == Driving()
    assert Driving.from_options(parsed("a, b", parameters=Driving)) == Driving(flocks=("a", "b"))
    assert Driving(flocks=("a", "b")).as_options() == "a,b"


def test_a_text_is_the_help_of_the_usual_field_which_may_be_empty_if_the_default_is():
    fields = Shearing.form_fields() | Driving.form_fields()
    assert [type(fields[name]) for name in ("wet", "flocks")] == [FlagField, NamesField]
    assert (fields["flocks"].help_text, fields["flocks"].required) == ("flocks to drive", False)
    assert Naming.form_fields()["name"].required


def test_values_of_a_literal_are_the_choices_of_its_usual_field():
    assert values_of(Naming.form_fields()["kind"]) == ["ewe", "ram"]
    with pytest.raises(CounterpartError, match="Invalid kind 'cow'"):
        Naming(name="dolly", kind="cow")


def test_a_text_that_may_be_left_out_is_then_none():
    assert Naming(name="dolly", after="").after is None


def test_an_option_can_have_another_name_than_its_parameter():
    assert Driving.from_options(parsed("--with", "bello", parameters=Driving)).dog == "bello"
    assert Driving(dog="bello").as_options() == "--with bello"


def test_a_page_shows_names_as_they_are_typed():
    assert [NamesField().prepare_value(value) for value in ((), ("US", "CA"), "US, CA")] == ["", "US,CA", "US, CA"]
