"""Names of the files of a bundle, and of the collections of its graph."""

from __future__ import annotations

__all__ = [
    "ASSETS_DIRECTORY",
    "ASSETS_KEY",
    "CLASSIFICATION_SIGNATURE",
    "EXPORT_BASE_NAME",
    "EXPORT_SUFFIX_NAME",
    "GENERIC_SIGNATURE",
    "GRAPH_KEY",
    "INIT_OP_KEY",
    "META_GRAPH_DEF_FILENAME",
    "REGRESSION_SIGNATURE",
    "SIGNATURES_KEY",
    "VARIABLES_FILENAME",
    "VARIABLES_FILENAME_PATTERN",
    "VARIABLES_FILENAME_PATTERN_V2",
    "VARIABLES_INDEX_FILENAME_V2",
    "VERSION_FORMAT_SPECIFIER",
]

VERSION_FORMAT_SPECIFIER = "%08d"
ASSETS_DIRECTORY = "assets"

EXPORT_BASE_NAME = "export"
EXPORT_SUFFIX_NAME = "meta"
META_GRAPH_DEF_FILENAME = f"{EXPORT_BASE_NAME}.{EXPORT_SUFFIX_NAME}"
VARIABLES_FILENAME = EXPORT_BASE_NAME
VARIABLES_FILENAME_PATTERN = f"{EXPORT_BASE_NAME}-?????-of-?????"
VARIABLES_FILENAME_PATTERN_V2 = f"{EXPORT_BASE_NAME}.data-?????-of-?????"
VARIABLES_INDEX_FILENAME_V2 = f"{EXPORT_BASE_NAME}.index"

INIT_OP_KEY = "serving_init_op"
SIGNATURES_KEY = "serving_signatures"
ASSETS_KEY = "serving_assets"
GRAPH_KEY = "serving_graph"

# The kinds of a signature, which are fields of the message Signature.
REGRESSION_SIGNATURE = "regression_signature"
CLASSIFICATION_SIGNATURE = "classification_signature"
GENERIC_SIGNATURE = "generic_signature"
