// How pages reach the tables: in a worker of this browser, which keeps them. Stands in for the server's file of this name.
const KEPT = "cardenvs-table-", BROUGHT = "brought", MOST = 10;
const WRONG = 4400, CODE = 16;

const keyOf = link => `${KEPT}${link}`;
const kept = link => localStorage.getItem(keyOf(link));
const json = (data, status = 200) => new Response(JSON.stringify(data), {status});

// -- addresses ------------------------------------------------------------------------------------------------

export const tableLink = () => location.hash.slice(1);

// The address of what a server has under a path.
export function at(path) {
  const [, kind, name, more] = path.split("/");
  if (kind === "t" && more === "replay.json") return replayFile(name);
  if (kind === "t") return `${more ?? "table"}.html#${name}`;
  if (kind === "brought") return `replay.html#${BROUGHT}`;
  if (kind === "api") return `games/${more}.svg`;
  return "./";
}

function replayFile(link) {
  return URL.createObjectURL(new Blob([JSON.parse(kept(link)).replay], {type: "application/json"}));
}

// What plays back on this page: a finished table of this browser, or a file that the lobby was given.
export function recorded(link) {
  if (link === BROUGHT) return {replay: sessionStorage.getItem(BROUGHT), moves: []};
  return JSON.parse(kept(link) ?? "{}");
}

// -- what a server would answer -------------------------------------------------------------------------------

export async function get(path, request) {
  const [, , what, name, more] = path.split("/");
  const body = request?.body;
  if (more === "rules") return fetch(`games/${name}.md`);
  if (what === "games") return fetch("games.json");
  if (what === "replays") return bring(body);
  if (what === "recorded") return json({replays: [], stores: []});
  if (name === "mine") return json({tables: JSON.parse(body).links.map(listed).filter(Boolean)});
  return body ? newTable(JSON.parse(body)) : json({tables: []});
}

function bring(text) {
  sessionStorage.setItem(BROUGHT, text);
  return json({name: BROUGHT});
}

// Keeps the request for a table. Its page opens it.
function newTable(request) {
  const people = request.seats?.filter(by => by === "person").length ?? 1;
  if (people > 1) return json({error: {message: "One person plays on this page. Give the other seats to agents."}}, 400);
  const link = [...crypto.getRandomValues(new Uint8Array(CODE))].map(byte => byte.toString(16).padStart(2, "0")).join("");
  forgetOldest();
  localStorage.setItem(keyOf(link), JSON.stringify({request, opened: Date.now() / 1000}));
  const seats = (request.seats ?? ["person"]).map(by => by === "person" ? {by, link} : {by});
  return json({host: link, watch: link, seats});
}

// A browser keeps a few million characters for a site.
function forgetOldest() {
  const links = Object.keys(localStorage).filter(key => key.startsWith(KEPT));
  const opened = key => JSON.parse(localStorage.getItem(key)).opened;
  for (const key of links.sort((a, b) => opened(b) - opened(a)).slice(MOST - 1)) localStorage.removeItem(key);
}

// A table as the lobby lists it, once its page has opened it.
function listed(link) {
  const table = JSON.parse(kept(link) ?? "{}");
  if (!table.seats) return null;
  const seat = table.seats.findIndex(([, own]) => own);
  return {
    link, game: table.game, seat: seat < 0 ? null : seat, seats: table.seats.map(([agent]) => agent || "person"),
    opened: table.opened, over: table.over, to_act: table.to_act, your_turn: !table.over && table.to_act === seat,
  };
}

// -- the worker -----------------------------------------------------------------------------------------------

// Starts a worker. `hear` gets each of its messages.
export function work(hear) {
  const worker = new Worker("assets/worker.js");
  worker.onmessage = ({data}) => hear(data);
  worker.onerror = event => hear({is: "failed", text: event.message || "the worker cannot be started"});
  return worker;
}

// The end of a socket whose other end is the worker.
class Socket {
  constructor(link, narrow) {
    this.readyState = WebSocket.CONNECTING;
    this.link = link;
    this.worker = work(message => this.hear(message));
    const found = kept(link);
    if (found) this.worker.postMessage({do: "open", kept: found, narrow});
    else setTimeout(() => this.hear({is: "failed", text: "This browser keeps no table of this link."}));
  }

  send(text) {
    this.worker.postMessage({do: "tell", text});
  }

  hear({is, text}) {
    if (is === "opened") {
      this.readyState = WebSocket.OPEN;
      this.onopen();
    } else if (is === "message") this.onmessage({data: text});
    else if (is === "kept") localStorage.setItem(keyOf(this.link), text);
    else if (is === "failed") this.onclose({code: WRONG, reason: text});
  }
}

export function socketTo(link, how) {
  document.getElementById("prompt").textContent = "The rules of the game are loading …";
  return new Socket(link, how !== "");
}

// -- this page ------------------------------------------------------------------------------------------------

addEventListener("hashchange", () => location.reload());  // another table

// "table.html?game=NAME" opens a new table, for links from elsewhere.
const asked = new URLSearchParams(location.search);
if (asked.has("game")) {
  const {host} = await newTable({game: asked.get("game"), level: asked.get("level") ?? "medium"}).json();
  history.replaceState(null, "", at(`/t/${host}`));
}
