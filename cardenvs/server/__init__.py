"""Games in the browser: a lobby, tables for people and agents, and playback. Started by `cardenvs serve`.

    settings    what the server offers, and its limits
    database    SQLite files
    records     tables in a database, so that a restarted server resumes them
    history     earlier positions, rebuilt from a viewer's events
    table       one game: who may do what, and what each viewer has seen
    failures    how failures of agents are handled and described
    agents      available agents, and the threads in which they think
    room        a table with its agents and connections
    host        all rooms
    playback    recorded games
    drawing     processes that draw the pages of recorded games
    messages    messages of clients
    rate        token buckets
    http        HTTP parts shared with applications
    apps        applications of other packages
    app         routes, pages and sockets
    wire        slow and excessive connections

A connection receives only what its viewer may know. See docs/hosting.md.
"""
