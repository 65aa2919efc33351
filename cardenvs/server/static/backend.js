// How pages reach the tables: on the server that sent them. `cardenvs site` puts another file in the place of this one,
// for pages whose tables are in the reader's browser.

// The link of this page's table.
export const tableLink = () => location.pathname.split("/").pop();

// The address of what the server has under a path: a page, a file, a picture.
export const at = path => path;

// Asks for something under a path, as `fetch` does.
export const get = (path, request) => fetch(path, request);

// Opens a socket to a table.
export const socketTo = (link, how) => new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/${link}${how}`);
