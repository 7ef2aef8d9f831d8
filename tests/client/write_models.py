"""Write the client's models from the description of the API: python -m tests.client.write_models"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from datamodel_code_generator import (
    DataModelType,
    Formatter,
    InputFileType,
    LiteralType,
    PythonVersion,
    generate,
)

MODELS = Path(__file__).resolve().parents[2] / "packages/client/counterpart_client/models.py"
HEADER = '"""What the site answers: written by tests/client/write_models.py from the description of its API."""'


def models() -> str:
    """Return the module of the types that calls answer."""
    from console.api.site_api import api

    written = generate(
        json.dumps({"openapi": "3.1.0", "components": {"schemas": answers(api.get_openapi_schema())}}),
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_310,
        enum_field_as_literal=LiteralType.All,
        collapse_root_models=True,
        use_standard_collections=True,
        use_union_operator=True,
        use_annotated=True,
        use_schema_description=True,
        use_single_line_docstring=True,
        use_field_description=True,
        custom_file_header=HEADER,
        formatters=[Formatter.RUFF_CHECK, Formatter.RUFF_FORMAT],
        settings_path=MODELS.parents[3],
    )
    return f"{written}\n"


def answers(description: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas that answers need, without what only repeats their names."""
    schemas = json.loads(json.dumps(description["components"]["schemas"], default=str))
    calls = [call for path in description["paths"].values() for call in path.values()]
    wanted = list(named_in([call["responses"].get(status) for call in calls for status in (200, 201, 202)]))
    found: set[str] = set()
    while wanted:
        if (name := wanted.pop()) not in found:
            found.add(name)
            wanted += named_in(schemas[name])
    for name in found:
        for part in (schemas[name], *schemas[name].get("properties", {}).values()):
            part.pop("title", None)
    return {name: schema for name, schema in schemas.items() if name in found}


def named_in(part: object) -> Iterator[str]:
    """Yield the schemas that a part of the description refers to."""
    return iter(re.findall(r"#/components/schemas/(\w+)", json.dumps(part, default=str)))


if __name__ == "__main__":
    django.setup()
    MODELS.write_text(models())
