"""Network: a layer that is made of layers, before there was tf.keras.Model."""

from __future__ import annotations

import collections
import weakref
from typing import Any, NoReturn

import tensorflow as tf

from estimator_bridge.tensorflow_private.layers import (
    has_automatic_name,
    layer_name_counts,
    layer_scope,
    place_layer,
    rename_layer,
    use_resource_variables,
    variable_scope_counts,
)

__all__ = ["Network"]

_v1 = tf.compat.v1
_Layer: Any = _v1.layers.Layer
_TOP_LEVEL = object()  # instead of a parent
# By layer that is no network: the first network that tracked it.
_PARENTS: weakref.WeakKeyDictionary[Any, weakref.ref] = weakref.WeakKeyDictionary()


class Network(_Layer):
    """A layer that is made of other layers.

    ``__init__`` of a subclass passes each of its layers to ``track_layer``, and ``call`` uses
    them. A tracked layer's variables have the network's name as a prefix, as in
    "my_network/dense/kernel". A network that another network tracks first has that network's prefix
    too.

    Args:
      name: the name, which no other network in its parent may have. By default it is made from the
        class's name, with a number if need be, once the network is tracked or called.

    Raises:
      ValueError: the name has a slash or is a scope.
    """

    def __init__(self, name: str | None = None):
        if isinstance(name, _v1.VariableScope):
            raise ValueError(
                f"VariableScopes are not valid Network names. Pass a string; got {name.name!r}."
            )
        if name is not None and "/" in name:
            raise ValueError(
                f"Forward slashes ('/') are not allowed in Network names; got {name!r}. Make the "
                "network in a tf.compat.v1.variable_scope for a prefix."
            )
        super().__init__(name=name)
        self._scope: Any
        self._tracked: list[Any] = []
        self._plain_layers: list[Any] = []  # those that are no networks, and had no variables
        self._named_here: dict[str, Any] = {}
        self._name_counts: dict[Any, int] = collections.defaultdict(int)
        self._parent: Any = None  # not known yet
        self._outer_scope = _v1.get_variable_scope()
        self._scopes_at_start = variable_scope_counts()

    def _init_set_name(self, name: str | None) -> None:
        self._name, self._base_name = name, None

    def _gather_saveables_for_checkpoint(self) -> NoReturn:
        raise NotImplementedError(
            "tfe.Network does not support object-based checkpointing. Use "
            "tf.contrib.eager.save_network_checkpoint, or tf.compat.v1.train.Saver with the "
            "network's variables; or derive the class from tf.keras.Model."
        )

    @property
    def name(self) -> str:
        """The name, once the network has been tracked or called, or if it was given one.

        Raises:
          ValueError: it has no name yet.
        """
        if self._name is None:
            raise ValueError(
                "The network does not yet have a final name. It gets one when it is called, or "
                f"tracked by another network; or pass a name to {type(self).__name__}."
            )
        return self._name

    def settle_name(self, parent: Network | None) -> None:
        """Gives the network its name and its parent, unless it has them.

        Args:
          parent: the network that tracks it; None for a network of the top level.
        """
        if not self._name:
            namespace = self._outer_scope.name
            if parent is None:
                prefix = f"{namespace}/" if namespace else ""
                counts = layer_name_counts()
                used_names = {
                    name[len(prefix) :]
                    for name in self._scopes_at_start
                    if name and name.startswith(prefix)
                }
            else:
                counts, used_names = parent._name_counts, set(parent._named_here)
            rename_layer(self, counts, used_names, namespace)
        if self._parent is not _TOP_LEVEL and self._living_parent() is None:
            self._parent = _TOP_LEVEL if parent is None else weakref.ref(parent)

    def _living_parent(self) -> Network | None:
        return self._parent() if isinstance(self._parent, weakref.ref) else None

    def settle_scope(self) -> None:
        """Gives the network and its layers the scopes in which they make variables."""
        self._set_scope()

    def _set_scope(self, scope: Any = None) -> None:
        """Called by the base class before anything is built."""
        if self._scope is not None:
            return
        parent = self._living_parent()
        if parent is None:
            self.settle_name(None)
        if scope is not None:
            raise ValueError(
                f"Networks may not be created with explicit scopes: call the network {self.name!r} "
                "without scope=, or make it in a tf.compat.v1.variable_scope."
            )
        if parent is not None:
            parent.settle_scope()
        self._scope = self._open_scope(parent)
        for layer in self._plain_layers:
            self.settle_layer(layer)

    def _open_scope(self, parent: Network | None) -> Any:
        outer = self._outer_scope if parent is None else layer_scope(parent)
        with _v1.variable_scope(outer) as opened:
            is_taken = f"{opened.name}/{self._name}" in self._scopes_at_start
            with _v1.variable_scope(None, use_resource=True, default_name=self._name) as scope:
                prefix, _, last = scope.name.rpartition("/")
        if is_taken or last != self._name:
            raise ValueError(
                f"A Network named '{self._name}' already exists (or a variable_scope was created "
                "with this name). Names must be unique: give it another name, or none."
            )
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(
                "Network variable names must match a nesting of sub-Network names: "
                f"'{self._name}' belongs to '{parent.scope_name}', but its variables would be in "
                f"'{prefix}'. Call it outside of an explicit variable_scope."
            )
        if parent is None and prefix:
            self._name = scope.name
        return scope

    def settle_layer(self, layer: Any) -> None:
        """Gives a tracked layer that is no network the scope in which it makes variables.

        Args:
          layer: the layer.

        Raises:
          ValueError: the network that tracked it first is gone.
        """
        if layer_scope(layer) is not None:
            return
        owner = _first_parent(layer)
        if owner is None:
            self.settle_name(None)
            raise ValueError(
                f"The parent of the Layer {layer.name!r} added to Network {self.name} was garbage "
                "collected before the Layer was built. Keep a reference to the network that "
                "tracked it first, or call that network once."
            )
        owner.settle_scope()
        with (
            _v1.variable_scope(layer_scope(owner)),
            _v1.variable_scope(None, use_resource=True, default_name=layer.name) as scope,
        ):
            place_layer(layer, scope)

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer, so that the network has its variables.

        Args:
          layer: a layer of ``tf.layers``, or a network.

        Returns:
          The layer.

        Raises:
          RuntimeError: ``Network.__init__`` has not been called.
          TypeError: it is no layer of ``tf.layers``.
          ValueError: the network has another layer of that name.
        """
        if not hasattr(self, "_tracked"):
            raise RuntimeError(
                "Need to call Network.__init__ before adding layers: start the __init__ of "
                f"{type(self).__name__} with super().__init__(name=name)."
            )
        if not isinstance(layer, _Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer. Layers "
                "of tf.keras.layers belong in a tf.keras.Model."
            )
        use_resource_variables(layer)
        if isinstance(layer, Network):
            layer.settle_name(self)
        elif not layer.built:
            if _first_parent(layer) is None:
                if has_automatic_name(layer):  # it counts the layers of the whole graph
                    rename_layer(layer, self._name_counts, self._named_here)
                _PARENTS[layer] = weakref.ref(self)
            self._plain_layers.append(layer)
        if not layer.built and _first_parent(layer) is self:
            namesake = self._named_here.setdefault(layer.name, layer)
            if namesake is not layer:
                raise ValueError(
                    f"Attempt to add two Layers with the name '{layer.name}' to the same Network: "
                    f"{type(self).__name__}. Give one of them another name."
                )
            if any(each is layer for each in self._tracked):
                return layer
        self._tracked.append(layer)
        return layer

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Returns a tracked layer.

        Args:
          name: its name; of several, the first is returned.
          index: or its number, in the order of ``track_layer``.

        Returns:
          The layer.

        Raises:
          ValueError: there is none, or not exactly one of the arguments is given.
        """
        if index is None and not name:
            raise ValueError("Provide either a layer name or layer index.")
        if index is None:
            layer = next((each for each in self._tracked if each.name == name), None)
            if layer is None:
                names = ", ".join(each.name for each in self._tracked)
                raise ValueError(f"No such layer: {name}. The network has: {names or 'none'}.")
            return layer
        if name is not None:
            raise ValueError(
                f"Exactly one of 'index' or 'name' must be provided; got {index} and {name!r}."
            )
        if index >= len(self._tracked):
            raise ValueError(
                f"Was asked to retrieve layer at index {index} but model only has "
                f"{len(self._tracked)} layers."
            )
        return self._tracked[index]

    @property
    def layers(self) -> list[Any]:
        """The tracked layers."""
        return self._tracked

    @property
    def weights(self) -> list[Any]:
        """The layers' variables."""
        return [each for layer in self._tracked for each in layer.weights]

    @property
    def trainable_weights(self) -> list[Any]:
        """The layers' trainable variables."""
        return [each for layer in self._tracked for each in layer.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The layers' other variables."""
        return [each for layer in self._tracked for each in layer.non_trainable_weights]

    @property
    def losses(self) -> list[Any]:
        """The layers' losses; eagerly, they are computed now."""
        return [each for layer in self._tracked for each in layer.losses]

    @property
    def trainable(self) -> bool:
        """True: only layers can be taken out of training."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError(
                "cannot mark Network as not trainable: set trainable of its layers, or pass "
                "var_list to the optimizer."
            )

    def add_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
    ) -> NoReturn:
        """Raises an error: a network has no variables but those of its layers.

        Args:
          name: unused, as all other arguments.
          shape: unused.
          dtype: unused.
          initializer: unused.
          regularizer: unused.
          trainable: unused.
          constraint: unused.

        Raises:
          RuntimeError: always.
        """
        raise RuntimeError(
            f"add_variable not supported in Network class: {name!r} belongs in a tf.layers.Layer "
            "that track_layer adds."
        )

    def add_loss(self, losses: Any, inputs: Any = None) -> NoReturn:
        """Raises an error: a network has no losses but those of its layers.

        Args:
          losses: unused.
          inputs: unused.

        Raises:
          RuntimeError: always.
        """
        raise RuntimeError(
            "add_loss is not supported in Network class. Add the loss to the one that you "
            "minimize, or in a tf.layers.Layer that track_layer adds."
        )


def _first_parent(layer: Any) -> Network | None:
    """Returns the network that tracked a layer first, if it is there."""
    if isinstance(layer, Network):
        return layer._living_parent()
    reference = _PARENTS.get(layer)
    return reference() if reference else None
