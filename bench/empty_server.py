"""The dashboard's own server, started by its own command, with the least page in the place of its frame.

So what a page costs is held against a page alone: the same server class, socket, middleware and settings.
"""

import sys
from pathlib import Path
from unittest.mock import patch

from inferdash import cli
from inferdash.ui.hosting import server

if __name__ == "__main__":
    with patch.object(server, "FRAME", Path(__file__).with_name("empty.py")):  # app.py takes it from there
        sys.exit(cli.main())
