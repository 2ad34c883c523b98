"""EB031: a module that Python 3 renamed."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
        "import queue\nqueue.Queue()\n",
        "from mine import Queue\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import cPickle\n", "import pickle as cPickle\n"),
        ("import cPickle as pickle\n", "import pickle\n"),
        ("from urlparse import urljoin\n", "from urllib.parse import urljoin\n"),
        (
            "import urllib2\nurllib2.urlopen(a)\n",
            "import urllib.request as urllib2\nurllib2.urlopen(a)\n",
        ),
        ("import Queue, os\n", "import queue as Queue\nimport os\n"),
        (
            "import StringIO\nStringIO.StringIO()\n",
            "import io as StringIO\nStringIO.StringIO()\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB031", before, after)
