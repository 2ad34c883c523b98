"""Kinds of ops that the engine treats specially, by type name."""

__all__ = [
    "DEQUEUES",
    "DRAWS",
    "DRAWS_OF_ROWS",
    "GAMMA",
    "MEETINGS",
    "QUEUES",
    "QUEUE_SIZES",
    "READS",
    "V1_CONTROL_FLOW",
]

GAMMA = "RandomGamma"

# Random ops, with their stateless equivalents (see randomness.py).
DRAWS = {
    "RandomUniform": "StatelessRandomUniformV2",
    "RandomUniformInt": "StatelessRandomUniformIntV2",
    "RandomStandardNormal": "StatelessRandomNormalV2",
    "TruncatedNormal": "StatelessTruncatedNormalV2",
    GAMMA: "StatelessRandomGammaV3",
}

# Of them, those that can draw the same numbers for each row. Gamma variates may have an alpha each.
DRAWS_OF_ROWS = frozenset(DRAWS) - {GAMMA}

# Ops that use a resource without changing it.
READS = frozenset(
    {
        "ReadVariableOp",
        "VarIsInitializedOp",
        "VariableShape",
        "ResourceGather",
        "ResourceGatherNd",
        "LookupTableFindV2",
        "LookupTableSizeV2",
        "LookupTableExportV2",
        "QueueSizeV2",
        "QueueIsClosedV2",
    }
)

# Of these, what threads of the program change between any two reads.
QUEUE_SIZES = frozenset({"QueueSizeV2", "QueueIsClosedV2"})

# Ops that exchange values between replicas.
MEETINGS = frozenset({"AllToAll", "CollectivePermute", "CrossReplicaSum"})

QUEUES = frozenset({"FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2"})

DEQUEUES = frozenset({"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"})

# The ops that make up v1's cond and while_loop.
V1_CONTROL_FLOW = frozenset(
    {
        "Switch",
        "RefSwitch",
        "Merge",
        "RefMerge",
        "Enter",
        "RefEnter",
        "Exit",
        "RefExit",
        "NextIteration",
        "RefNextIteration",
        "LoopCond",
    }
)
