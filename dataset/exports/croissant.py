"""Format ``croissant``: Croissant 1.1 metadata with its Responsible-AI fields, and the data as Parquet files."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from dataset.exports import statements
from dataset.exports.citing import citation_of, semantic_version
from dataset.exports.columns import TABLES, meaning_of
from dataset.exports.data_files import describe, write_data_files
from dataset.exports.licences import licence_url
from dataset.exports.specification import Export, Format
from dataset.models import Version
from dataset.releases.credits import authors_of, credits_of, title_of
from dataset.versions.version_files import sha256_of

CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
KINDS = {"string": "sc:Text", "double": "sc:Float"}


def write_croissant(export: Export) -> None:
    """Write ``croissant.json`` and the tables of ``write_data_files``, each of which is a record set."""
    paths = write_data_files(export)
    version = export.version
    licence = export.version.manifest["licence"]
    described = [
        credits_of(version).get("description", ""),
        f"Version {version.name}: judged matches between images and captions of the collection {version.collection}.",
        statements.simulated_votes(version),
    ]
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": title_of(version),
        "description": " ".join(filter(None, described)),
        **({"license": licence_url(licence) or licence} if licence else {}),
        "version": semantic_version(version.name),
        "datePublished": version.released_at.date().isoformat(),
        **_citing(version),
        "keywords": ["image-text retrieval", "crowdsourcing"],
        **responsibility(version),
        "distribution": [_file(name, path, export.folder) for name, path in paths.items()],
        "recordSet": [_record_set(name, path) for name, path in paths.items()],
    }
    (export.folder / "croissant.json").write_text(json.dumps(metadata, indent=2, ensure_ascii=False), encoding="utf-8")


def _citing(version: Version) -> dict[str, Any]:
    """Return who made the version, where it is found and how to cite it, where the release says so."""
    creators = [
        {"@type": "sc:Person", "name": author.name}
        | ({"@id": author.orcid_url, "sameAs": author.orcid_url} if author.orcid else {})
        for author in authors_of(version)
    ]
    fields = {"creator": creators, "url": credits_of(version).get("url"), "citeAs": citation_of(version)}
    return {name: value for name, value in fields.items() if value}


def responsibility(version: Version) -> dict[str, Any]:
    """Return the Responsible-AI fields, filled from the version's manifest and votes."""
    rounds = version.manifest["rounds"]
    provenance = version.manifest["provenance"]
    dates = [provenance[round["name"]][end] for round in rounds for end in ("first_judgment", "last_judgment")]
    annotators = sorted({name for round in rounds for name in round["pool"]["annotators"]})
    fields = {
        "dataCollection": "Retrieval models proposed pairs of images and captions; workers judged each on four levels.",
        "dataCollectionType": ["Crowdsourcing", "Machine-proposed candidates"] if rounds else [],
        "dataCollectionMissingData": " ".join(statements.limits(version)),
        "dataCollectionTimeframe": [min(dates), max(dates)] if all(dates) and dates else [],
        "dataAnnotationProtocol": [
            "A HIT holds candidates and gold controls in an order of its own for each worker. Answer sets that fail a "
            "control are checked by a person, who decides whether their votes count.",
            *statements.workers(version),
            *statements.annotators(version),
        ],
        "dataAnnotationPlatform": sorted({provenance[round["name"]]["channel"] for round in rounds}),
        "dataAnnotationAnalysis": [statements.agreement(version)] if rounds else [],
        "annotationsPerItem": ", ".join(f"{round['name']}: {round['replication']}" for round in rounds),
        "annotatorDemographics": [
            "Not recorded. Workers are known by pseudonyms.",
            *statements.pay(version),
            statements.simulated_votes(version),
        ],
        "machineAnnotationTools": annotators,
        "dataBiases": list(statements.biases(version)),
        "dataLimitations": list(statements.limits(version)),
        "dataUseCases": ["To measure image-caption retrieval", "To study how people judge image-caption pairs"],
        "dataSocialImpact": "Rankings of models depend on which pairs were judged; read the biases first.",
        "personalSensitiveInformation": ["Pseudonyms of workers are keyed by a secret and different in every release."],
        "dataReleaseMaintenancePlan": "A version never changes; corrections come as a new version.",
    }
    return {f"rai:{name}": value for name, value in fields.items() if value}


def _file(name: str, path: Path, folder: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{name}.parquet",
        "name": f"{name}.parquet",
        "description": TABLES[name],
        "contentUrl": path.relative_to(folder).as_posix(),
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": sha256_of(path),
    }


def _record_set(name: str, path: Path) -> dict[str, Any]:
    schema, _rows = describe(path)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": TABLES[name],
        "field": [_field(name, column) for column in schema],
    }


def _field(table: str, column: pa.Field) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": meaning_of(column),
        "dataType": KINDS.get(str(column.type), "sc:Integer"),
        "source": {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column.name}},
    }


FORMAT = Format(write_croissant, "Croissant 1.1 metadata and the data as Parquet files", controls=True)
