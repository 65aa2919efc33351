// A table: shows positions as they come, and sends what the player chooses. The server decides what is legal.
const $ = id => document.getElementById(id);
const link = location.pathname.split("/").pop();
const narrow = matchMedia("(max-width: 640px)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const MOST_PAST = 2000, MOST_BUTTONS = 12, MOST_LISTED = 400;

let socket = null, latest = null, past = [], at = 0, chosen = new Set(), hinted = null, retry = 500, agents = null;

$("symbols").innerHTML = $("suits").innerHTML;

// -- talking to the server ------------------------------------------------------------------------------------

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/${link}`);
  socket.onopen = () => { retry = 500; past = []; if (narrow.matches) send({do: "look", narrow: true}); };
  socket.onmessage = event => receive(JSON.parse(event.data));
  socket.onclose = event => {
    if (event.code >= 4400) return say(event.reason, true);
    say("The connection is lost; trying again ...", true);
    setTimeout(connect, retry);
    retry = Math.min(10000, retry * 2);
  };
}

function send(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

const ask = (what, fields = {}) => { send({do: what, turn: latest.turn, ...fields}); };
const act = (...actions) => { clear(); ask("act", {intents: actions.map(action => ({action}))}); };

function receive(message) {
  if (message.type === "position") return arrive(message);
  if (message.type === "refused") return say(message.reason, true);
  if (message.type === "hint" && message.turn === latest.turn) return showHint(message);
  if (message.type === "plays" && message.turn === latest.turn) return showPlays(message.plays);
}

function arrive(position) {
  if (past.length === 0 || position.log_at === 0) past = [];
  const log = $("log");
  while (log.children.length > position.log_at) log.lastChild.remove();
  for (const line of position.log) log.append(Object.assign(document.createElement("li"), {textContent: line}));
  if (position.log.length) log.scrollTop = log.scrollHeight;
  const isNew = latest === null || position.turn !== latest.turn || position.viewer !== latest.viewer || position.width !== latest.width;
  const looksBack = at < past.length - 1;
  if (isNew || past.length === 0) { past.push(position); hinted = null; clear(); if (latest !== null) say(""); }
  else past[past.length - 1] = position;
  if (past.length > MOST_PAST) past.shift();
  latest = position;
  if (!looksBack) at = past.length - 1;
  document.title = `${position.seat === position.current ? "● " : ""}${position.title} - cardenvs`;
  $("title").textContent = position.title;
  showSeats();
  showControls();
  show();
  if (position.problem) say(position.problem, true);
}

function say(text, isBad = false) {
  $("said").textContent = text;
  $("said").className = isBad ? "bad" : "";
  $("said").hidden = !text;
}

// -- the picture ----------------------------------------------------------------------------------------------

function show() {
  const position = past[at];
  const focused = document.activeElement?.closest?.("#picture [role=button]");
  const hadFocus = focused && (focused.dataset.token ?? focused.dataset.pile);
  const before = still.matches ? new Map() : places();
  $("picture").setAttribute("viewBox", `0 0 ${position.width} ${position.height}`);
  $("picture").setAttribute("aria-label", position.label);
  $("parts").innerHTML = `<rect class="cv-bg" width="${position.width}" height="${position.height}" rx="14"/>${position.parts}`;
  glide(before);
  const open = mine();
  $("prompt").textContent = promptText(position);
  $("prompt").className = open.length ? "yours" : "";
  for (const place of clickable(open)) {
    place.setAttribute("role", "button");
    place.setAttribute("tabindex", "0");
    place.setAttribute("aria-label", nameOf(place));
  }
  mark();
  showChoices(open);
  if (hadFocus) (placeOf(hadFocus) ?? $("picture").querySelector("[role=button]") ?? $("choices").querySelector("button"))?.focus();
  $("place").max = past.length - 1;
  $("place").value = at;
  $("history").hidden = past.length < 2;
  $("end").hidden = !latest.over;
}

function promptText(position) {
  if (at < past.length - 1) return `An earlier position (${at + 1} of ${past.length}).`;
  if (position.over) return `The game is over: ${position.players.map(player => `${player.name} ${signed(player.return)}`).join(", ")}.`;
  if (position.seat === position.current) return position.prompt || "Your turn.";
  const {name, by} = position.players[position.current];
  const absent = by === "person" && !position.here.includes(position.current) ? ", who is not here," : "";
  return `${name}${by === "person" ? absent : ` (${by})`} is to act${position.paused ? "; the agents are paused" : ""}.`;
}

const signed = value => `${value > 0 ? "+" : ""}${Number(value.toFixed(2))}`;
const mine = () => (at === past.length - 1 && latest.seat !== null && latest.viewer === latest.seat && !latest.over ? latest.choices : []);
const placeOf = id => $("parts").querySelector(`[data-token="${CSS.escape(id)}"], [data-pile="${CSS.escape(id)}"]`);

function nameOf(place) {
  if (place.dataset.pile) return place.dataset.pile.replaceAll("_", " ");
  return place.querySelector("title")?.textContent ?? "card";
}

function clickable(open) {
  const tokens = new Set(open.flatMap(choice => choice.tokens ?? []));
  const piles = new Set(open.filter(choice => choice.kind === "pile").map(choice => choice.source));
  for (const choice of fitting()) if (chosen.size && choice.target) piles.add(choice.target);
  return [...$("parts").querySelectorAll("[data-token], [data-pile]")].filter(
    place => tokens.has(place.dataset.token) || piles.has(place.dataset.pile));
}

// Where each token lies, in units of the picture.
function places() {
  const toPicture = $("parts").getScreenCTM()?.inverse(), found = new Map();
  if (!toPicture) return found;
  for (const token of $("parts").querySelectorAll("[data-token]")) {
    const box = token.getBoundingClientRect();
    found.set(token.dataset.token, new DOMPoint(box.x, box.y).matrixTransform(toPicture));
  }
  return found;
}

function glide(before) {
  if (!before.size) return;
  const after = places();
  for (const token of $("parts").querySelectorAll("[data-token]")) {
    const from = before.get(token.dataset.token), to = after.get(token.dataset.token);
    if (!from || Math.abs(from.x - to.x) + Math.abs(from.y - to.y) < 6) continue;
    const start = `translate(${from.x - to.x}px,${from.y - to.y}px)`;
    token.animate([{transform: start}, {transform: "none"}], {duration: 320, easing: "ease-out"});
  }
}

function mark() {
  for (const place of $("parts").querySelectorAll(".chosen, .hinted")) place.classList.remove("chosen", "hinted");
  for (const id of chosen) placeOf(id)?.classList.add("chosen");
  const choice = hinted === null ? null : latest.choices.find(one => one.action === hinted);
  for (const id of choice ? choice.tokens ?? [choice.source] : []) if (id) placeOf(id)?.classList.add("hinted");
}

// -- choosing -------------------------------------------------------------------------------------------------

const fitting = () => mine().filter(choice => choice.kind === "card" && [...chosen].every(id => choice.tokens.includes(id)));

function pick(place) {
  const {token, pile} = place.dataset;
  if (token === undefined) {
    const found = chosen.size ? fitting().filter(choice => choice.target === pile) : mine().filter(choice => choice.kind === "pile" && choice.source === pile);
    if (found.length === 1) act(found[0].action);
    else if (found.length) buttons(found);
    return;
  }
  if (chosen.has(token)) chosen.delete(token); else chosen.add(token);
  if (!fitting().length) chosen = new Set([token]);
  const found = chosen.size ? fitting() : [];
  if (found.length === 1 && found[0].tokens.length === chosen.size) return act(found[0].action);
  show();
}

function clear() { chosen = new Set(); }

function button(text, onclick) {
  return Object.assign(document.createElement("button"), {textContent: text, type: "button", onclick});
}

function buttons(choices) {
  $("choices").replaceChildren(...choices.slice(0, MOST_LISTED).map(choice => button(choice.label, () => act(choice.action))));
}

function showChoices(open) {
  const ranges = open.filter(choice => choice.most !== undefined);
  const plain = open.filter(choice => choice.most === undefined);
  const few = plain.length <= MOST_BUTTONS;
  const isHidden = choice => !(choice.tokens ?? []).some(placeOf);
  buttons(chosen.size ? fitting() : plain.filter(choice => few || choice.kind !== "card" || isHidden(choice)));
  $("amount").hidden = !ranges.length;
  if (ranges.length) {
    for (const id of ["number", "slide"]) Object.assign($(id), {min: ranges[0].amount, max: ranges[0].most, value: ranges[0].amount});
    $("bet").textContent = ranges[0].label.replace(/\s*\d+$/, "") || "Go";
  }
  $("all").hidden = open.length === 0;
  $("allcount").textContent = `All moves (${open.length})`;
  if ($("all").open) listAll();
}

function listAll() {
  const wanted = $("filter").value.trim().toLowerCase();
  const found = mine().filter(choice => choice.label.toLowerCase().includes(wanted));
  $("alllist").replaceChildren(...found.slice(0, MOST_LISTED).map(choice => button(choice.label, () => act(choice.action))));
}

function showPlays(plays) {
  $("alllist").replaceChildren(...plays.slice(0, MOST_LISTED).map(play => button(play.label, () => act(...play.actions))));
}

function inWords(notes) {
  if (notes.search) return ` Values in ${notes.search.worlds} worlds: ${notes.search.values.map(([label, value]) => `${label} ${signed(value)}`).join(", ")}.`;
  if (notes.probabilities) return ` ${notes.probabilities.map(([label, share]) => `${label} ${Math.round(100 * share)}%`).join(", ")}.`;
  return Object.keys(notes).length ? ` ${JSON.stringify(notes)}` : "";
}

function showHint(hint) {
  hinted = hint.action;
  say(`${hint.agent} would choose: ${hint.label}.${inWords(hint.notes ?? {})}`);
  mark();
}

// -- around the picture ---------------------------------------------------------------------------------------

function showSeats() {
  $("seats").textContent = latest.players.map((player, p) => `${player.name}: ${p === latest.seat ? "you" : player.by}`).join(" · ") + inTime(latest.clock);
}

function inTime(seconds) {
  if (!seconds || latest.over) return "";
  return ` · ${seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`} for each move`;
}

async function showControls() {
  const yours = latest.seat !== null && latest.seat === latest.current && !latest.over;
  $("tools").hidden = latest.seat === null || latest.over;
  $("undo").disabled = !latest.undo;
  $("hint").disabled = $("leave").disabled = !yours;
  $("watching").hidden = !latest.controls || latest.over;
  $("run").textContent = latest.paused ? "Go on" : "Pause";
  if (document.activeElement !== $("pace")) $("pace").value = latest.pace;
  $("eyes").hidden = !latest.sees_all;
  if (latest.over) { $("replay").href = `/t/${link}/replay`; $("file").href = `/t/${link}/replay.json`; $("file").download = `${latest.game}.json`; }
  if (latest.sees_all && !$("viewer").options.length) {
    const views = [["spectator", "what everybody sees"], ["everything", "everything"], ...latest.players.map((player, p) => [p, `as ${player.name}`])];
    $("viewer").append(...views.map(([value, text]) => new Option(text, value)));
  }
  if (agents === null) {
    agents = [];
    const found = (await (await fetch("/api/games")).json()).games.find(one => one.name === latest.game);
    agents = found?.agents ?? [];
    $("adviser").append(...agents.map(name => new Option(name, name, false, name === found.default_opponent)));
  }
}

$("picture").addEventListener("click", event => {
  const place = event.target.closest("[role=button]");
  if (place) pick(place);
});
$("picture").addEventListener("keydown", event => {
  const place = event.target.closest("[role=button]");
  if (place && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); pick(place); }
});
$("amount").onsubmit = event => {
  event.preventDefault();
  const range = mine().find(choice => choice.most !== undefined), value = Number($("number").value);
  if (!range || !Number.isInteger(value) || value < range.amount || value > range.most) return say(range ? `An amount from ${range.amount} to ${range.most}.` : "", true);
  act(range.action + value - range.amount);
};
$("slide").oninput = () => { $("number").value = $("slide").value; };
$("number").oninput = () => { $("slide").value = $("number").value; };
$("all").addEventListener("toggle", () => { if ($("all").open) listAll(); });
$("filter").oninput = listAll;
$("plays").onclick = () => ask("plays");
$("undo").onclick = () => ask("undo");
$("leave").onclick = () => { if (confirm("Leave the game? You lose what the rules say.")) ask("leave"); };
$("hint").onclick = () => { say("Thinking ..."); ask("hint", {agent: $("adviser").value}); };
$("run").onclick = () => send({do: "run", how: latest.paused ? "go" : "pause"});
$("step").onclick = () => send({do: "run", how: "step"});
$("pace").onchange = () => send({do: "pace", seconds: Number($("pace").value)});
$("viewer").onchange = () => { const value = $("viewer").value; past = []; send({do: "watch", viewer: /^\d+$/.test(value) ? Number(value) : value}); };
function go(to) { at = Math.max(0, Math.min(past.length - 1, to)); clear(); show(); }
$("place").oninput = () => go(Number($("place").value));
$("back").onclick = () => go(at - 1);
$("on").onclick = () => go(at + 1);
$("now").onclick = () => go(past.length - 1);
narrow.addEventListener("change", () => send({do: "look", narrow: narrow.matches}));
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && chosen.size) { clear(); show(); }
});
connect();
