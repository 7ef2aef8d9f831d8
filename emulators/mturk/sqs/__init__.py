"""A small SQS: enough of it for ``boto3.client("sqs")`` to read the notifications that MTurk sends."""
