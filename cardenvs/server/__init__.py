"""Games in the browser: a lobby, tables for people and agents, and playback. Started by `cardenvs serve`.

    settings    what the owner of a server allows
    records     tables in a SQLite file, so that a server that is killed goes on where it was
    history     earlier positions, from the events of their viewer
    table       one game: who may do what, and what each viewer has been shown
    failures    what the failures of agents mean at a table
    agents      which agents there are, and the threads in which they think
    room        a table with its agents and its connections
    host        all rooms
    playback    recorded games
    drawing     processes that draw their pages
    messages    what clients send
    app         addresses, pages and sockets
    wire        connections, and what a client may leave half done

A connection gets what its viewer may know and nothing else. See docs/hosting.md.
"""
