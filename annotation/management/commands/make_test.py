from typing import Any

from annotation.people.qualification_tests import QualificationParameters, make_qualification
from core.commands import ActCommand
from core.text import counted


class Command(ActCommand):
    step = "review"
    help = (
        "Make a test that workers of the browser pool pass before their first HIT: pairs whose answer is known or, "
        "with --sentences, a test of spelling and grammar."
    )

    def act(self, *, parameters: QualificationParameters, **options: Any) -> str:
        test = make_qualification(parameters, actor="make_test")
        of = "sentence" if parameters.sentences else "pair"
        return (
            f"Test {test} has {counted(test.items.count(), of)} of {test.collection}; "
            f"{counted(test.pass_mark, 'right answer passes', 'right answers pass')} it, within "
            f"{counted(test.attempts, 'try', 'tries')}.\nUse it with: publish ROUND --channel browser --test {test}"
        )
