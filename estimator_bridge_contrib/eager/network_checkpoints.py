"""Checkpoints of a Network's variables, also of those that it has not made yet."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import reader_of
from estimator_bridge.tensorflow_private.layers import layer_scope
from estimator_bridge_contrib.eager.networks import Network

__all__ = ["restore_network_checkpoint", "save_network_checkpoint"]

_v1 = tf.compat.v1
Renaming = Callable[[str], str]


@dataclass(frozen=True)
class _Naming:
    """The names of a network's variables in a file.

    Attributes:
      network: the network's name.
      scope: the scope of its variables.
      action: "save" or "restore".
      given: the program's function, or None.
    """

    network: str
    scope: str
    action: str
    renaming: Renaming | None

    def name(self, variable_name: str) -> str:
        """Returns the name in the file."""
        return (
            variable_name.removeprefix(f"{self.scope}/")
            if not self.renaming
            else self.renaming(variable_name)
        )

    def conflict(self, name: str, first: Any, second: Any) -> ValueError:
        """Returns the error for two variables of one name in the file."""
        both = f"two variables named '{name}': '{_name(first)}' and '{_name(second)}'"
        if self.renaming is None:
            return ValueError(
                "The default checkpoint variable name mapping strategy for Network "
                f"'{self.network}' resulted in a naming conflict. Without the prefix "
                f"'{self.scope}/' there are {both}. One of them belongs to a layer that another "
                "network had first. Pass map_func=lambda name: name, to save and to restore, for "
                "the full names."
            )
        return ValueError(
            f"The map_func passed to {self.action}_network_checkpoint for the Network "
            f"'{self.network}' resulted in {both}. It takes a variable's full name and returns "
            "its name in the file; return another name for one of them."
        )

    def variables(self, network: Network) -> dict[str, Any]:
        """Returns a network's variables by their names in the file."""
        by_name: dict[str, Any] = {}
        for variable in network.variables:
            name = self.name(_name(variable))
            if by_name.setdefault(name, variable) is not variable:
                raise self.conflict(name, by_name[name], variable)
        return by_name


@dataclass(frozen=True)
class _Restoration:
    """Values for variables that are not there yet.

    Attributes:
      naming: the names in the file.
      values: by name, the value until a variable has got it, and then None.
      session: the session that initializes the variables; None eagerly.
      restored: by name, the variable that got the value.
    """

    naming: _Naming
    values: dict[str, Any]
    session: Any
    restored: dict[str, Any] = field(default_factory=dict)


# By layer: the restorations that its new variables look at, the latest one last.
_PENDING: weakref.WeakKeyDictionary[Any, list[_Restoration]] = weakref.WeakKeyDictionary()


def save_network_checkpoint(
    network: Network,
    save_path: str,
    global_step: Any = None,
    map_func: Renaming | None = None,
) -> str:
    """Saves a network's variables.

    Args:
      network: a network that has been called.
      save_path: the path; for a folder, the file in it has the network's name.
      global_step: a number that follows the path; by default the global step, if there is one.
      map_func: returns a variable's name in the file for its full name; by default the name
        without the network's.

    Returns:
      The path of the checkpoint.

    Raises:
      ValueError: the network has not been called; or two variables have one name in the file; or,
        in a graph, there is no default session.
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means variables have "
            "not yet been created, so there is nothing to save: call it once on a batch."
        )
    network.settle_scope()
    if global_step is None:
        global_step = _v1.train.get_global_step()
    variables = _Naming(network.name, network.scope_name, "save", map_func).variables(network)
    return _v1.train.Saver(variables).save(
        sess=_session("save"),
        save_path=_in_folder(save_path, network),
        write_meta_graph=False,
        global_step=global_step,
    )


def restore_network_checkpoint(
    network: Network, save_path: str, map_func: Renaming | None = None
) -> None:
    """Restores a network's variables.

    Variables that the network has get their values now, in the default session of a graph. Values
    of other names wait, and a variable of that name that a layer of the network makes later starts
    with it. The latest restoration comes first.

    Args:
      network: the network, called or not.
      save_path: the path that `save_network_checkpoint` returned, or the folder that it was given.
      map_func: the same function that the checkpoint was saved with.

    Raises:
      ValueError: two variables have one name in the file; or, in a graph, there is no default
        session.
      tf.errors.NotFoundError: the file lacks the value of a variable that the network has.
    """
    network.settle_name(None)
    network.settle_scope()
    save_path = _in_folder(save_path, network)
    naming = _Naming(network.name, network.scope_name, "restore", map_func)
    existing = naming.variables(network)
    if existing:
        _v1.train.Saver(existing).restore(sess=_session("restore"), save_path=save_path)
    reader = reader_of(save_path)
    values = {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if name not in existing
    }
    if values:
        _wait_in(network, _Restoration(naming, values, _session("restore")))


def _in_folder(save_path: str, network: Network) -> str:
    if os.path.isdir(save_path):
        return os.path.join(save_path, network.name.replace("/", "_"))
    return save_path


def _session(action: str) -> Any:
    """Returns the default session; None eagerly."""
    if tf.executing_eagerly():
        return None
    session = _v1.get_default_session()
    if session is None:
        raise ValueError(
            f"{action}_network_checkpoint needs a default session in a graph: call it in "
            "`with tf.compat.v1.Session():`."
        )
    return session


def _name(variable: Any) -> str:
    return variable.name.partition(":")[0]


def _wait_in(layer: Any, restoration: _Restoration) -> None:
    """Gives the values of a restoration to the variables that a layer will make."""
    if isinstance(layer, Network):
        layer.settle_scope()
    if layer not in _PENDING:
        _PENDING[layer] = []
        # A closure over the layer would keep it alive.
        getter = functools.partial(_get_restored, _PENDING[layer])
        layer_scope(layer).set_custom_getter(getter)
    _PENDING[layer].append(restoration)
    if isinstance(layer, Network):
        for each in layer.layers:
            if not isinstance(each, Network):
                layer.settle_layer(each)
            _wait_in(each, restoration)


def _get_restored(
    pending: list[_Restoration], getter: Callable[..., Any], name: str, **kwargs: Any
) -> Any:
    """Makes a variable, with the latest restoration's value for it."""
    for restoration in reversed(pending):
        key = restoration.naming.name(name)
        if key in restoration.values:
            break
    else:
        return getter(name, **kwargs)
    value = restoration.values[key]
    if value is not None:
        kwargs.update(initializer=value, shape=None)
    variable = getter(name, **kwargs)
    if value is not None:
        restoration.values[key] = None
        if restoration.session is not None:
            restoration.session.run(variable.initializer)
    first = restoration.restored.setdefault(key, variable)
    if first is not variable:
        raise restoration.naming.conflict(key, first, variable)
    return variable
