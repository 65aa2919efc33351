"""A server that lets tests in a browser open many tables: `python browser_server.py --port PORT --data FILE`."""

import sys

from cardenvs.server.app import make_app
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.wire import run

if __name__ == "__main__":
    port, data = int(sys.argv[2]), sys.argv[4]
    limits = Limits(new_tables_per_minute=10_000, drawings_per_minute=10_000)
    run(make_app(Settings(data=data, pace=0.0, think=0.0, limits=limits)), "127.0.0.1", port, limits)
