from xml.etree.ElementTree import fromstring

import pytest

from emulators.mturk.site.formatted import formatted
from emulators.mturk.site.question_form import read_form

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2017-11-06/QuestionForm.xsd"


def form_of(*questions: str):
    return read_form(fromstring(f'<QuestionForm xmlns="{NAMESPACE}">{"".join(questions)}</QuestionForm>'))


def question(answer: str, *, required: bool = True, identifier: str = "q") -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier><IsRequired>{str(required).lower()}"
        f"</IsRequired><QuestionContent><Text>Which?</Text></QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def selection(*, fewest: int = 1, most: int = 1, style: str = "radiobutton", other: str = "") -> str:
    offered = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier><Text>{name.upper()}</Text></Selection>"
        for name in ("a", "b", "c")
    )
    return (
        f"<SelectionAnswer><MinSelectionCount>{fewest}</MinSelectionCount><MaxSelectionCount>{most}"
        f"</MaxSelectionCount><StyleSuggestion>{style}</StyleSuggestion>"
        f"<Selections>{offered}{other}</Selections></SelectionAnswer>"
    )


def free_text(constraints: str = "") -> str:
    return f"<FreeTextAnswer>{constraints}</FreeTextAnswer>"


def test_a_form_keeps_the_order_of_its_parts_and_their_content():
    overview = (
        "<Overview><Title>Zebras</Title><List><ListItem>one</ListItem><ListItem>two</ListItem></List>"
        "<Binary><MimeType><Type>image</Type></MimeType><DataURL>https://x/z.png</DataURL>"
        "<AltText>a zebra</AltText></Binary></Overview>"
    )
    blocks, asked = form_of(overview, question(selection())).parts
    assert [(block.kind, block.text, block.items) for block in blocks] == [
        ("title", "Zebras", ()),
        ("list", "", ("one", "two")),
        ("picture", "a zebra", ("https://x/z.png",)),
    ]
    assert [choice.identifier for choice in asked.answer.selections] == ["a", "b", "c"]
    assert asked.answer.selections[0].content[0].text == "A"


@pytest.mark.parametrize(("most", "style", "several"), [(1, "radiobutton", False), (2, "radiobutton", True)])
def test_several_selections_may_be_ticked_where_more_than_one_is_allowed(most, style, several):
    assert form_of(question(selection(most=most, style=style))).questions[0].answer.several is several


@pytest.mark.parametrize(
    ("answer", "given", "error"),
    [
        (selection(), ["a"], ""),
        (selection(), [], "This question needs an answer."),
        (selection(), ["z"], "'z' is not one of the answers."),
        (selection(), ["a", "b"], "Choose exactly 1; you chose 2."),
        (selection(fewest=2, most=3), ["a"], "Choose at least 2 and at most 3; you chose 1."),
        (selection(other="<OtherSelection/>"), ["my own"], ""),
        (free_text(), ["  "], "This question needs an answer."),
        (free_text('<Constraints><IsNumeric minValue="1" maxValue="9"/></Constraints>'), ["3"], ""),
        (
            free_text('<Constraints><IsNumeric minValue="1" maxValue="9"/></Constraints>'),
            ["10"],
            "Enter a number at least 1 and at most 9.",
        ),
        (free_text("<Constraints><IsNumeric/></Constraints>"), ["ten"], "Enter a number."),
        (
            free_text('<Constraints><Length minLength="2" maxLength="4"/></Constraints>'),
            ["zebra"],
            "Write at least 2 and at most 4 characters; these are 5.",
        ),
        (
            free_text('<Constraints><AnswerFormatRegex regex="^z" flags="i" errorText="Start with z."/></Constraints>'),
            ["Horse"],
            "Start with z.",
        ),
        (free_text('<Constraints><AnswerFormatRegex regex="^z" flags="i"/></Constraints>'), ["Zebra"], ""),
    ],
)
def test_an_answer_is_held_against_what_the_question_allows(answer, given, error):
    assert form_of(question(answer)).errors({"q": given}) == ({"q": error} if error else {})


def test_a_question_that_need_not_be_answered_may_be_left_out():
    assert form_of(question(selection(), required=False)).errors({}) == {}


def test_an_answer_that_cannot_be_shown_is_named():
    with pytest.raises(ValueError, match="Question 'file' asks for neither free text nor a selection"):
        form_of(question("<FileUploadAnswer/>", identifier="file"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<p>A <b>zebra</b></p>", "<p>A <b>zebra</b></p>"),
        ("<script>alert(1)</script>after", "after"),
        ('<a href="javascript:alert(1)" onclick="x()">go</a>', "<a>go</a>"),
        ('<img src="https://x/z.png" onerror="x()">', '<img src="https://x/z.png">'),
        ("<iframe src='https://x'></iframe>1 &lt; 2", "1 &lt; 2"),
        ('<img alt="&quot;><script>">', '<img alt="&quot;&gt;&lt;script&gt;">'),
    ],
)
def test_formatted_content_keeps_the_documented_tags_only(text, shown):
    assert formatted(text) == shown
