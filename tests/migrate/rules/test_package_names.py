"""EB041: a name that Python or a package has moved or removed."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "import urllib.request\nurllib.request.urlopen(a)\n",
        "import string, sys, os\nstring.ascii_letters, sys.maxsize, os.getcwd()\n",
        "import collections\nx = collections.OrderedDict()\n",
        "from mine import time\ntime.clock()\n",
        (
            "try:\n    from collections import Mapping\nexcept ImportError:\n"
            "    from collections.abc import Mapping\n"
        ),
        "try:\n    import imp\nexcept ImportError:\n    imp = None\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import urllib\nurllib.urlretrieve(a, b)\n",
            "import urllib.request\nimport urllib\nurllib.request.urlretrieve(a, b)\n",
        ),
        ("from urllib import urlencode\n", "from urllib.parse import urlencode\n"),
        ("import sys\nx = sys.maxint\n", "import sys\nx = sys.maxsize\n"),
        (
            "from collections import Mapping, OrderedDict\n",
            "from collections.abc import Mapping\nfrom collections import OrderedDict\n",
        ),
        (
            "import xml.etree.cElementTree as ET\nET.parse(a)\n",
            "import xml.etree.ElementTree as ET\nET.parse(a)\n",
        ),
        ("import time as t\nx = t.clock()\n", "import time as t\nx = t.process_time()\n"),
    ],
)
def test_changed(before, after):
    check_changed("EB041", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from scipy.misc import imshow\n", "Use matplotlib.pyplot.imshow."),
        ("import imp\nimp.reload(a)\n", "Python 3.12 has no imp."),
        ("import sys\nsys.setdefaultencoding('utf8')\n", "Leave it out"),
        ("import itertools\nitertools.izip(a, b)\n", "Write zip(...)."),
        ("import inspect\ninspect.getargspec(f)\n", "Use inspect.getfullargspec"),
    ],
)
def test_reported(source, words):
    check_reported("EB041", "by hand", source, words)
