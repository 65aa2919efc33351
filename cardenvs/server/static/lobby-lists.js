// Lists of tables and recorded games. They ask again every few seconds and are drawn only when something has changed.
import {at} from "./backend.js";
import {forget, kept} from "./kept.js";
import {$, ago, ask, counted, labelOf, make, pictureOf, say} from "./lobby-parts.js";

const FEW = 4, SECONDS = 5;
const drawn = {}, isLong = {};
let games = new Map(), finished = [], files = {replays: [], stores: []};

const titleOf = name => games.get(name)?.title ?? name;

// A line of a list: who sits there, and below what goes on there and since when.
function row(href, game, title, seats, below, marks = [], ...more) {
  const picture = game ? make("img", {src: pictureOf(game), alt: "", width: 480, height: 240, loading: "lazy"}) : make("span", {className: "file"});
  const words = make("span", {className: "words"}, make("span", {className: "name"}, make("strong", {textContent: title}), ...marks), make("span", {textContent: seats}));
  if (below.length) words.append(make("span", {}, ...below));
  return make("li", {}, make("a", {href}, picture, words), ...more);
}

const time = seconds => make("time", {dateTime: new Date(seconds * 1000).toISOString(), textContent: ago(seconds)});

// Draws a list if what it shows has changed. Of a long one it shows a few, and a button for the rest.
function draw(id, items, line, empty) {
  const key = JSON.stringify([items, isLong[id]]);
  if (drawn[id] === key) return;
  drawn[id] = key;
  const shown = isLong[id] ? items : items.slice(0, FEW);
  const rows = shown.map(line);
  if (items.length > shown.length) {
    const all = make("button", {type: "button", textContent: `Show all ${items.length}`});
    all.onclick = () => { isLong[id] = true; draw(id, items, line, empty); };
    rows.push(make("li", {className: "rest"}, all));
  }
  $(id).replaceChildren(...(rows.length ? rows : [make("li", {className: "empty"}, make("p", {textContent: empty}))]));
}

const names = table => table.seats.map(name => labelOf(games.get(table.game), name));

const state = table => [`${table.to_act === null ? "waiting" : `${names(table)[table.to_act]} to move`} · opened `, time(table.opened)];

function mineWords(table) {
  const labels = names(table);
  if (table.seat === null) return `You opened it for ${counted(labels)}`;
  const others = labels.filter((_, player) => player !== table.seat);
  return others.length ? `You against ${counted(others)}` : "You play alone";
}

function mineRow(table) {
  const below = table.over ? ["over · opened ", time(table.opened)] : table.your_turn ? ["opened ", time(table.opened)] : state(table);
  const drop = make("button", {type: "button", className: "drop", textContent: "✕", ariaLabel: `Forget this table of ${titleOf(table.game)}`, title: "Take this table off the list. Its link still works."});
  drop.onclick = () => { forget([table.link]); showMine(); };
  const turn = table.your_turn ? [make("strong", {className: "turn", textContent: "Your turn"})] : [];
  return row(at(`/t/${table.link}`), table.game, titleOf(table.game), mineWords(table), below, turn, drop);
}

// The tables of this browser's seats, and those that it opened. Links that lead nowhere are forgotten.
async function showMine() {
  const links = kept();
  const tables = links.length ? (await ask("/api/tables/mine", {links})).tables : [];
  if (tables.length < links.length) forget(links.filter(link => !tables.some(table => table.link === link)));
  const order = table => table.over ? 2 : table.your_turn ? 0 : 1;
  tables.sort((a, b) => order(a) - order(b));
  $("mine").classList.toggle("none", !tables.length);
  draw("mylist", tables, mineRow, "Press Play on a game. Your tables wait here, in this browser, until you come back.");
}

async function showTables() {
  const {tables} = await ask("/api/tables");
  draw("tables", tables.filter(table => !table.over),
    table => row(at(`/t/${table.watch}`), table.game, titleOf(table.game), counted(names(table)), state(table)),
    "Nobody plays right now. Open a table, or let agents play: More on a game, then Watch agents play.");
  finished = tables.filter(table => table.over);
  showRecorded();
}

function showRecorded() {
  const items = [...files.replays.map(one => ["replay", one]), ...files.stores.map(one => ["store", one]), ...finished.map(one => ["table", one])];
  draw("recorded", items, ([kind, one]) => lines[kind](one), "Finished games appear here, and you can play back a replay file of your own.");
}

const lines = {
  replay: one => row(`/replays/${one.number}`, one.game, one.name, "replay file", []),
  table: one => row(at(`/t/${one.watch}/replay`), one.game, titleOf(one.game), counted(names(one)), ["opened ", time(one.opened)]),
  store: one => {
    const list = make("ul", {className: "plain"});
    const box = make("details", {}, make("summary", {textContent: one.name}), list);
    box.addEventListener("toggle", () => { if (box.open && !list.children.length) showStore(one.number, list); });
    return make("li", {className: "store"}, box);
  },
};

async function showStore(number, list) {
  const {games: found} = await ask(`/stores/${number}`);
  list.replaceChildren(...found.map(one => make("li", {},
    make("a", {href: `/stores/${number}/${one.match}/${one.deal}/${one.lineup}`, textContent: `${titleOf(one.game)}, deal ${one.deal}`}),
    make("span", {className: "dim", textContent: ` ${one.players.map((name, p) => `${name} ${one.returns[p] ?? "failed"}`).join(", ")}`}))));
}

$("bring").onchange = async event => {
  const [file] = event.target.files;
  if (!file) return;
  say("brought", "");
  try {
    const {name} = await ask("/api/replays", await file.text(), true);
    location.href = at(`/brought/${name}`);
  } catch (error) {
    say("brought", error.message);
  }
};

async function refresh() {
  if (document.hidden) return;
  await Promise.all([showMine(), showTables()]).catch(() => {}); // the server may be away for a moment
  for (const one of document.querySelectorAll("time")) one.textContent = ago(new Date(one.dateTime) / 1000);
}

export async function showLists(found) {
  games = new Map(found.map(one => [one.name, one]));
  files = await ask("/api/recorded");
  await refresh();
  setInterval(refresh, 1000 * SECONDS);
  document.addEventListener("visibilitychange", refresh);
}
