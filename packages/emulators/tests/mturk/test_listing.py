import pytest

from tests.mturk.conftest import TYPE


@pytest.fixture
def seven(post):
    return [post(RequesterAnnotation=str(number))["HITId"] for number in range(7)]


def ids(page):
    return [hit["HITId"] for hit in page["HITs"]]


def test_hits_come_newest_first_and_every_one_once(mturk, seven):
    pages = mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 3})
    assert [id for page in pages for id in ids(page)] == seven[::-1]


def test_a_short_or_an_empty_page_is_not_the_end(world, seven):
    pages, token = [], {}
    for size in (2, 0, 0, 1, 5):
        page = world.call("ListHITs", {"MaxResults": size} | token)
        pages.append(len(page["HITs"]))
        token = {"NextToken": page["NextToken"]} if "NextToken" in page else {}
    assert (pages, token) == ([2, 0, 0, 1, 4], {})


def test_the_token_after_an_empty_page_is_another_one(world, seven):
    """botocore takes the same token twice for an endless loop."""
    first = world.call("ListHITs", {"MaxResults": 1})["NextToken"]
    assert world.call("ListHITs", {"MaxResults": 0, "NextToken": first})["NextToken"] != first


def test_a_row_that_vanishes_between_pages_moves_no_other(mturk, world, seven):
    first = mturk.list_hits(MaxResults=3)
    for hit_id in (seven[6], seven[4]):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt="2015-01-01")
        mturk.delete_hit(HITId=hit_id)
    assert ids(mturk.list_hits(MaxResults=3, NextToken=first["NextToken"])) == [seven[3], seven[2], seven[1]]


@pytest.mark.parametrize("token", ["nonsense", "W10=", "MTI="])
def test_a_made_up_token_is_refused(mturk, seven, refused, token):
    assert refused(mturk.list_hits, NextToken=token)[0] == "ParameterValidationError"


def test_a_token_continues_only_the_listing_that_gave_it(mturk, seven, do, refused):
    for hit_id in seven:
        do(hit_id)
    token = mturk.list_reviewable_hits(MaxResults=1)["NextToken"]
    refused(mturk.list_hits, NextToken=token)
    refused(mturk.list_reviewable_hits, Status="Reviewing", NextToken=token)
    assert mturk.list_reviewable_hits(NextToken=token)["NumResults"] == 6


def test_reviewable_hits_are_those_of_a_status_and_a_type(mturk, post, do):
    other = mturk.create_hit_type(**TYPE | {"Title": "Other"})["HITTypeId"]
    ours, theirs, offered = post()["HITId"], post(HITTypeId=other)["HITId"], post()["HITId"]
    do(ours)
    do(theirs)
    assert set(ids(mturk.list_reviewable_hits())) == {ours, theirs}
    assert ids(mturk.list_reviewable_hits(HITTypeId=other)) == [theirs]
    mturk.update_hit_review_status(HITId=ours)
    assert ids(mturk.list_reviewable_hits(Status="Reviewing")) == [ours]
    assert offered in ids(mturk.list_hits())


def test_assignments_are_listed_while_the_hit_is_still_offered(mturk, world, post, do, worker):
    hit_id = post(MaxAssignments=4)["HITId"]
    first, second = do(hit_id), do(hit_id)
    world.accept(hit_id, worker)
    mturk.approve_assignment(AssignmentId=second)
    listed = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert [each["AssignmentId"] for each in listed] == [first, second]
    approved = mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Approved", "Rejected"])
    assert [each["AssignmentId"] for each in approved["Assignments"]] == [second]
