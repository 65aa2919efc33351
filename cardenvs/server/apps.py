"""Applications that packages add to the server.

A package registers an application in the entry-point group "cardenvs.server_apps":

    [project.entry-points."cardenvs.server_apps"]
    my_game = "my_package.server_app:APP"

APP is a ServerApp. `cardenvs serve --help` imports its module, so the module should import heavy packages in functions.
"""

import functools
import importlib.metadata
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardenvs.core.errors import CardenvsError, OptionError
from cardenvs.server.settings import Settings

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

GROUP = "cardenvs.server_apps"
_log = logging.getLogger("cardenvs.server")


@dataclass(frozen=True)
class ServerApp:
    """An application that the server can run."""

    title: str  # text of the link in the lobby
    path: str  # address of its first page, such as "/game"
    # returns the settings of the application. Its parameters become options of `cardenvs serve`: typer reads their
    # annotations, including environment variables. Each must have a default.
    configure: Callable[..., Any]
    # starts the application with the settings of the server, its own settings, and a stack that closes when the server
    # stops. Returns its routes. Those of the server, and of applications before it, take precedence.
    mount: Callable[[Settings, Any, ExitStack], Sequence["BaseRoute"]]


@functools.cache
def server_apps() -> dict[str, ServerApp]:
    """Return the registered applications by name. One that cannot be loaded is logged and left out."""
    found = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP)):
        try:
            app = point.load()
            if not isinstance(app, ServerApp):
                raise TypeError(f"it is a {type(app).__name__}, not a ServerApp")
        except Exception as error:  # importing a module may raise anything
            _log.error("the application %s is left out: cannot load %s: %s", point.name, point.value, error)
        else:
            found[point.name] = app
    return found


def mount_apps(settings: Settings, stack: ExitStack) -> dict[ServerApp, Sequence["BaseRoute"]]:
    """Start the registered applications and return their routes. One that fails is logged and left out.

    Raises:
        OptionError: the settings name an unknown application.
        CardenvsError: an application rejects its settings.
    """
    apps = server_apps()
    unknown = set(settings.apps) - set(apps)
    if unknown:
        raise OptionError(f"there is no server application {min(unknown)!r}; there are: {', '.join(apps) or 'none'}")
    mounted = {}
    for name, app in apps.items():
        try:
            own = settings.apps[name] if name in settings.apps else app.configure()
            mounted[app] = app.mount(settings, own, stack)
        except CardenvsError:
            raise
        except Exception:
            _log.exception("the application %s is left out: it does not start", name)
    return mounted
