// The lobby: a form for a new table, made from what the games declare, and lists of tables and recorded games.
const $ = id => document.getElementById(id);
const make = (tag, fields = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
};
let games = [];

async function ask(path, body, raw) {
  const sent = body === undefined ? {} : {method: "POST", headers: {"content-type": "application/json"}, body: raw ? body : JSON.stringify(body)};
  const answer = await fetch(path, sent);
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.error?.message ?? `the server answers ${answer.status}`);
  return data;
}

function say(id, text) {
  $(id).textContent = text;
  $(id).hidden = !text;
  $(id).className = "bad";
}

const game = () => games.find(one => one.name === $("game").value);

function control(option) {
  const id = `option-${option.name}`;
  if (option.kind === "choice") {
    const select = make("select", {id});
    select.append(...option.choices.map(text => make("option", {value: text, textContent: text, selected: text === String(option.default)})));
    return select;
  }
  if (option.kind === "flag") return make("input", {id, type: "checkbox", checked: option.default});
  if (option.kind === "list") return make("input", {id, value: option.default.join(", ")});
  const value = option.default === null ? "" : option.default;
  const input = make("input", {id, type: "number", value, placeholder: option.default === null ? "none" : ""});
  if (option.low !== undefined) input.min = option.low;
  if (option.high !== undefined) input.max = option.high;
  return input;
}

function bounds(option) {
  if (option.kind !== "number" || option.low === undefined || option.low === option.high) return "";
  return option.high === undefined ? ` (from ${option.low})` : ` (${option.low} to ${option.high})`;
}

function showGame() {
  const fields = game().options.filter(option => option.low === undefined || option.low !== option.high || option.kind !== "number");
  $("options").replaceChildren(...fields.map(option => {
    const note = make("small", {textContent: option.doc + bounds(option)});
    return make("label", {className: "field"}, make("span", {textContent: option.name.replaceAll("_", " ")}), control(option), note);
  }));
  $("option-num_players")?.addEventListener("change", showSeats);
  showSeats();
}

function numPlayers() {
  const option = game().options.find(one => one.name === "num_players");
  return Math.max(1, Math.min(option.high ?? 10, Number($("option-num_players")?.value ?? option.default)));
}

function showSeats() {
  const chosen = [...$("seats").querySelectorAll("select")].map(select => select.value);
  const rows = [];
  for (let player = 0; player < numPlayers(); player++) {
    const wanted = chosen[player] ?? (player === 0 ? "person" : game().default_opponent);
    const select = make("select", {});
    for (const name of ["person", ...game().agents]) {
      select.append(make("option", {value: name, textContent: name, selected: name === wanted}));
    }
    rows.push(make("label", {className: "field"}, make("span", {textContent: `player_${player}`}), select));
  }
  $("seats").replaceChildren(...rows);
}

function optionTexts() {
  const texts = {};
  for (const option of game().options) {
    const input = $(`option-${option.name}`);
    if (!input) continue;
    const text = option.kind === "flag" ? String(input.checked) : input.value.trim();
    const usual = option.kind === "list" ? option.default.join(", ") : String(option.default ?? "");
    if (text !== usual) texts[option.name] = text === "" && option.optional ? "none" : text;
  }
  return texts;
}

async function openTable(event) {
  event.preventDefault();
  say("said", "");
  const seed = $("seed").value.trim();
  if (seed && !/^\d{1,15}$/.test(seed)) return say("said", "A seed is a number of up to 15 digits.");
  $("open").disabled = true;
  $("open").textContent = "Opening ...";
  try {
    const table = await ask("/api/tables", {
      game: game().name, options: optionTexts(), listed: $("listed").checked, deck: $("deck").value.trim() || null,
      seats: [...$("seats").querySelectorAll("select")].map(select => select.value), seed: seed ? Number(seed) : null,
    });
    const people = table.seats.filter(seat => seat.by === "person");
    if (people.length < 2) location.href = `/t/${people[0]?.link ?? table.host}`;
    else showLinks(table);
  } catch (error) {
    say("said", error.message);
  }
  $("open").disabled = false;
  $("open").textContent = "Open the table";
}

function showLinks(table) {
  const rows = table.seats.map((seat, player) => [`player_${player}`, seat.by, seat.link]).filter(row => row[1] === "person");
  rows.push(["spectators", "", table.watch], ["you, to pause the agents", "", table.host]);
  $("linklist").replaceChildren(...rows.map(([who, , link]) => {
    const address = `${location.origin}/t/${link}`;
    const copy = make("button", {type: "button", textContent: "Copy"});
    copy.onclick = async () => { await navigator.clipboard.writeText(address); copy.textContent = "Copied"; };
    return make("li", {}, `${who}: `, make("a", {href: address, textContent: address}), " ", copy);
  }));
  $("links").hidden = false;
  $("links").scrollIntoView();
}

async function showTables() {
  const {tables} = await ask("/api/tables");
  const titles = Object.fromEntries(games.map(one => [one.name, one.title]));
  $("tables").replaceChildren(...tables.map(table => make("li", {},
    make("a", {href: `/t/${table.watch}`, textContent: titles[table.game] ?? table.game}),
    make("span", {className: "dim", textContent: ` ${table.seats.join(", ")}${table.over ? " - over" : ""}`}))));
  if (!tables.length) $("tables").append(make("li", {className: "dim", textContent: "No tables yet."}));
}

async function showRecorded() {
  const {replays, stores} = await ask("/api/recorded");
  $("recorded").replaceChildren(
    ...replays.map(one => make("li", {}, make("a", {href: `/replays/${one.number}`, textContent: one.name}))),
    ...stores.map(one => {
      const list = make("ul", {className: "plain"});
      const box = make("details", {}, make("summary", {textContent: one.name}), list);
      box.addEventListener("toggle", () => { if (box.open && !list.children.length) showStore(one.number, list); });
      return make("li", {}, box);
    }));
}

async function showStore(number, list) {
  const {games: found} = await ask(`/stores/${number}`);
  list.replaceChildren(...found.map(one => make("li", {},
    make("a", {href: `/stores/${number}/${one.match}/${one.deal}/${one.lineup}`, textContent: `${one.game}, deal ${one.deal}`}),
    make("span", {className: "dim", textContent: ` ${one.players.map((name, p) => `${name} ${one.returns[p] ?? "failed"}`).join(", ")}`}))));
}

$("bring").onchange = async event => {
  const [file] = event.target.files;
  if (!file) return;
  say("brought", "");
  try {
    const {name} = await ask("/api/replays", await file.text(), true);
    location.href = `/brought/${name}`;
  } catch (error) {
    say("brought", error.message);
  }
};

games = (await ask("/api/games")).games;
$("game").append(...games.map(one => make("option", {value: one.name, textContent: one.title})));
$("game").onchange = () => { $("seats").replaceChildren(); showGame(); };
$("form").onsubmit = openTable;
showGame();
await Promise.all([showTables(), showRecorded()]);
setInterval(() => showTables().catch(() => {}), 5000);
