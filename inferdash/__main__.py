"""`python -m inferdash` is the command `inferdash`."""

import sys

from inferdash.cli import main

sys.exit(main())
