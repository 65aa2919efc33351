"""A server with small limits, for tests: `python wire_server.py --port PORT --data FILE`."""

import sys

from cardenvs.server.app import make_app
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.wire import run

if __name__ == "__main__":
    port, data = int(sys.argv[2]), sys.argv[4]
    limits = Limits(client_seconds=2.0, requests=50)
    run(make_app(Settings(data=data, limits=limits)), "127.0.0.1", port, limits)
