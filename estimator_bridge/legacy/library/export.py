"""Functions of ``export.export_lib``: signatures, tags and folders of SavedModels."""

from __future__ import annotations

from estimator_bridge.tensorflow_private.names import saved_model_utils

__all__ = [
    "EXPORT_TAG_MAP",
    "SIGNATURE_KEY_MAP",
    "build_all_signature_defs",
    "export_outputs_for_mode",
    "get_export_outputs",
    "get_temp_export_dir",
    "get_timestamped_export_dir",
]

# TensorFlow still has them, the same as the original's.
EXPORT_TAG_MAP = saved_model_utils.EXPORT_TAG_MAP
SIGNATURE_KEY_MAP = saved_model_utils.SIGNATURE_KEY_MAP
build_all_signature_defs = saved_model_utils.build_all_signature_defs
export_outputs_for_mode = saved_model_utils.export_outputs_for_mode
get_export_outputs = saved_model_utils.get_export_outputs
get_temp_export_dir = saved_model_utils.get_temp_export_dir
get_timestamped_export_dir = saved_model_utils.get_timestamped_export_dir
