"""The XML that travels inside calls, read without DTDs or entities."""

from xml.etree.ElementTree import Element

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"


class XMLError(Exception):
    """A document that cannot be read, or is not what it has to be."""


def parse(document: str) -> Element:
    """Return the root of a document. Raises XMLError."""
    try:
        return ElementTree.fromstring(document.encode(), forbid_dtd=True)
    except (ElementTree.ParseError, DefusedXmlException, UnicodeError) as error:
        raise XMLError(str(error) or type(error).__name__) from error


def split(element: Element) -> tuple[str, str]:
    """Return an element's namespace and name."""
    namespace, _, name = element.tag.rpartition("}")
    return namespace.lstrip("{"), name


def text_of(element: Element, name: str) -> str:
    """Return the stripped text of the first child with this name, in whatever namespace; "" without one."""
    found = element.find(f"{{*}}{name}")
    return (found.text or "").strip() if found is not None else ""
