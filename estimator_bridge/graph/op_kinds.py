"""Kinds of ops that the engine treats specially, by their types' names."""

__all__ = ["DEQUEUES", "DRAWS", "MEETINGS", "QUEUES", "READS", "V1_CONTROL_FLOW"]

# Random ops, with the stateless ones of the same numbers (see randomness.py).
DRAWS = {
    "RandomUniform": "StatelessRandomUniformV2",
    "RandomUniformInt": "StatelessRandomUniformIntV2",
    "RandomStandardNormal": "StatelessRandomNormalV2",
    "TruncatedNormal": "StatelessTruncatedNormalV2",
}

# Ops that take a resource and leave it as it is.
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

# In which the replicas meet.
MEETINGS = frozenset({"AllToAll", "CollectivePermute", "CrossReplicaSum"})

QUEUES = frozenset({"FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2"})

DEQUEUES = frozenset({"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"})

# What v1's cond and while_loop are made of.
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
