"""FLOPs and arguments of training steps by hand from shapes, to hold the compiler's against.

A multiplication and its addition are two FLOPs. Counted are matrix products and convolutions
alone: what works element by element, such as activations and optimizers, is a few percent. A
product of the forward pass comes back twice in the backward pass, once for the gradient of each
operand; an operand that needs no gradient, as the model's own input, saves one.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "ARGUMENT_BYTES",
    "BY_HAND",
    "bert_argument_bytes",
    "bert_flops",
    "mlp_flops",
    "resnet50_argument_bytes",
    "resnet50_flops",
]


def mlp_flops(batch: int, sizes: Sequence[int]) -> int:
    """A perceptron's training step: for each layer forward, weights' gradient, input's gradient.

    2 B in out each; the first layer's input needs no gradient.

    Args:
      batch: examples.
      sizes: of the input, of each layer, of the output.
    """
    products = [2 * batch * rows * columns for rows, columns in zip(sizes, sizes[1:])]
    return 3 * sum(products) - products[0]


def bert_flops(
    batch: int,
    length: int,
    width: int = 768,
    layers: int = 12,
    inner: int = 3072,
    words: int = 30522,
    classes: int = 2,
) -> int:
    """The training step of BERT's classifier on a TPU; Devlin et al., "BERT", NAACL 2019.

    T = batch length tokens. A layer has four products of width by width (query, key, value,
    output), two of width by inner, and attention's two of length by width for each token. On a TPU,
    BERT looks words up by a product with one-hot vectors, which need no gradient. The defaults are
    BERT-Base's.
    """
    tokens = batch * length
    layer = 2 * tokens * (4 * width * width + 2 * width * inner + 2 * length * width)
    pooler = 2 * batch * (width * width + width * classes)
    lookup = 2 * tokens * (words + 2) * width  # of words, and of the sentence's number
    return 3 * (layers * layer + pooler) + 2 * lookup


def bert_argument_bytes(
    batch: int,
    length: int,
    width: int = 768,
    layers: int = 12,
    inner: int = 3072,
    words: int = 30522,
    positions: int = 512,
    classes: int = 2,
) -> int:
    """Bytes of the arguments of BERT's training step: weights, Adam's two moments, a batch.

    An example has three rows of ids, a label and whether it is real. The global step and the
    position in the input have 8 bytes each.
    """
    embeddings = (words + 2 + positions + 2) * width  # two kinds of sentence, a norm's two rows
    attention = 4 * (width * width + width)
    layer = attention + width * inner + inner + inner * width + width + 4 * width
    pooler = width * width + width + width * classes + classes
    weights = embeddings + layers * layer + pooler
    return 4 * (3 * weights + batch * (3 * length + 2)) + 8 + 8


def resnet50_flops(batch: int, size: int = 224, classes: int = 1000, padding: bool = False) -> int:
    """The training step of ResNet-50; He et al., "Deep residual learning", CVPR 2016, table 1.

    The stride is in a block's 3 by 3 convolution, as in tensorflow/tpu. A convolution of k by k
    takes 2 k k in out FLOPs for each output pixel.

    Args:
      batch: examples.
      size: of a picture's sides.
      classes: of the last layer.
      padding: whether products with the zeros around a picture count; XLA counts none.
    """

    def convolution(size: int, kernel: int, stride: int, channels: int, filters: int) -> int:
        before = (kernel - 1) // 2
        outputs = range(-(-size // stride))
        taps = sum(
            padding or 0 <= stride * out - before + tap < size
            for out in outputs
            for tap in range(kernel)
        )
        return 2 * batch * channels * filters * taps**2

    first = convolution(size, 7, 2, 3, 64)
    total, channels, size = first, 64, size // 4
    for group, (blocks, filters) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            stride = 2 if block == 0 and group else 1
            total += convolution(size, 1, 1, channels, filters)
            total += convolution(size, 3, stride, filters, filters)
            total += convolution(size // stride, 1, 1, filters, 4 * filters)
            if block == 0:
                total += convolution(size, 1, stride, channels, 4 * filters)
            channels, size = 4 * filters, size // stride
    total += 2 * batch * channels * classes
    return 3 * total - first


def resnet50_argument_bytes(batch: int, size: int = 224, classes: int = 1000) -> int:
    """The bytes of the arguments of ResNet-50's training step, as tensorflow/tpu has it.

    They are weights and momentum, the moving statistics of batch norm, and a batch. Weights have
    four bytes, the pictures two (bfloat16), and a label four. The global step and the position in
    the input have 8 bytes each.
    """
    weights, channels, normalized = 7 * 7 * 3 * 64, 64, 64
    for blocks, filters in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(blocks):
            weights += filters * (channels + 9 * filters + 4 * filters)
            normalized += 6 * filters
            if block == 0:
                weights += channels * 4 * filters
                normalized += 4 * filters
            channels = 4 * filters
    weights += channels * classes + classes
    trainable = weights + 2 * normalized  # a scale and an offset for each channel
    return 4 * (2 * trainable + 2 * normalized + batch) + 2 * 3 * batch * size**2 + 8 + 8


# Program of parity.compiled.fetched: FLOPs of a replica's training step.
BY_HAND = {
    "bert: run_classifier, BERT-base": bert_flops(32, 128),
    "tpu: resnet_main, ResNet-50": resnet50_flops(128),
}
# Program: bytes of the arguments of that step.
ARGUMENT_BYTES = {
    "bert: run_classifier, BERT-base": bert_argument_bytes(32, 128),
    "tpu: resnet_main, ResNet-50": resnet50_argument_bytes(128),
}
