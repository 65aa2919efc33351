"""The server of the soak: as usual, but what is idle ends sooner, so that a short soak shows it."""

import sys

from cardenvs.server.app import make_app
from cardenvs.server.settings import Limits, Settings
from cardenvs.server.wire import run

if __name__ == "__main__":
    port, data = int(sys.argv[2]), sys.argv[4]
    limits = Limits(idle_seconds=10.0, sweep_seconds=1.0, client_seconds=5.0)
    agents = {"guest": "python:table_agents:quick"}
    run(make_app(Settings(data=data, agents=agents, pace=0.0, limits=limits)), "127.0.0.1", port, limits)
