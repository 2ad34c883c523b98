import pytest

from estimator_bridge.model import InputPipelineConfig, TPUConfig


def test_input_pipelines_have_the_originals_numbers():
    pipelines = {k: v for k, v in vars(InputPipelineConfig).items() if k.isupper()}
    assert pipelines == {
        "PER_SHARD_V1": 1,
        "PER_HOST_V1": 2,
        "PER_HOST_V2": 3,
        "BROADCAST": 4,
        "SLICED": 5,
    }


def test_it_is_a_tuple_with_names():
    config = TPUConfig(100, 8, None, InputPipelineConfig.PER_HOST_V2)
    assert config[:4] == (100, 8, None, 3)
    assert config._asdict()["num_shards"] == 8
    assert repr(config).startswith("TPUConfig(iterations_per_loop=100, num_shards=8,")
    assert config == TPUConfig(100, num_shards=8, per_host_input_for_training=3)


def test_replacing_checks_again():
    config = TPUConfig(iterations_per_loop="5m")
    assert config._replace(num_shards=4) == TPUConfig(iterations_per_loop="5m", num_shards=4)
    with pytest.raises(ValueError, match="num_shards must be positive"):
        config._replace(num_shards=-1)


def test_true_is_not_the_number_one():
    assert TPUConfig(per_host_input_for_training=True).per_host_input_for_training == 2
    assert TPUConfig(per_host_input_for_training=1).per_host_input_for_training == 1


@pytest.mark.parametrize("bad", [0, 6, 20, "PER_HOST_V2", None])
def test_an_unknown_pipeline_is_refused_with_the_known_ones(bad):
    with pytest.raises(ValueError, match=r"\{PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2,.*got"):
        TPUConfig(per_host_input_for_training=bad)


def test_host_calls_happen_every_so_many_steps():
    assert TPUConfig(experimental_host_call_every_n_steps=5)[8] == 5
    with pytest.raises(ValueError, match="every_n_steps must be positive, got 0"):
        TPUConfig(experimental_host_call_every_n_steps=0)
