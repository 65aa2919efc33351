// A table: shows positions as they come, and sends what the player chooses. The server decides what is legal.
import {sortHands} from "./hand.js";
import {showLog, showSeats} from "./seats.js";
import {rendered} from "./text.js";

const $ = id => document.getElementById(id);
const link = location.pathname.split("/").pop();
const narrow = matchMedia("(max-width: 640px)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const MOST_BUTTONS = 12, MOST_LISTED = 400;

let socket = null, latest = null, chosen = new Set(), hinted = null, retry = 500, agents = null;
let past = null, wanted = null, isAsking = false, playing = null;  // an earlier position, and the one asked for
let round = null, lastRound = null, logged = null;

$("symbols").innerHTML = $("suits").innerHTML;

// -- talking to the server ------------------------------------------------------------------------------------

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/${link}`);
  socket.onopen = () => { retry = 500; isAsking = false; goNow(); if (isNarrow()) look(); };
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
  if (message.type === "past") return arrivePast(message);
  if (message.type === "log") return arriveLog(message);
  if (message.type === "link") return showOpened(message);
  if (message.type === "refused") { isAsking = false; return say(message.reason, true); }
  if (message.type === "hint" && message.turn === latest.turn) return showHint(message);
  if (message.type === "plays" && message.turn === latest.turn) return showPlays(message.plays);
}

function arrive(position) {
  const log = $("log"), before = latest;
  while (log.children.length > position.log_at) log.lastChild.remove();
  for (const line of position.log) log.append(Object.assign(document.createElement("li"), {textContent: line}));
  if (position.log.length) log.scrollTop = log.scrollHeight;
  const isNew = before === null || position.turn !== before.turn || position.viewer !== before.viewer || position.width !== before.width;
  latest = position;
  if (isNew) { hinted = null; clear(); if (before !== null) say(""); }
  if (past !== null && (past.viewer !== position.viewer || past.event > position.events)) past = null;  // moves were taken back
  document.title = `${position.seat === position.current ? "● " : ""}${position.title} - cardenvs`;
  $("title").textContent = position.title;
  showNames();
  showControls();
  showStopped();
  $("problem").textContent = position.problem;
  $("problem").hidden = !position.problem;
  if (past === null) show(); else showHistory();
  beginRound(position.round);
}

function say(text, isBad = false) {
  $("said").textContent = text;
  $("said").className = isBad ? "bad" : "";
  $("said").hidden = !text;
}

// -- the picture ----------------------------------------------------------------------------------------------

function show() {
  const position = past ?? latest;
  const focused = document.activeElement?.closest?.("#picture [role=button]");
  const hadFocus = focused && (focused.dataset.token ?? focused.dataset.pile);
  const before = still.matches ? new Map() : places();
  $("picture").setAttribute("viewBox", `0 0 ${position.width} ${position.height}`);
  $("picture").setAttribute("aria-label", position.label);
  $("parts").innerHTML = `<rect class="cv-bg" width="${position.width}" height="${position.height}" rx="14"/>${position.parts}`;
  sortHands($("parts"), position.held, $("sort").value);
  $("sorting").hidden = !position.held.some(hand => hand.length > 1);
  glide(before);
  const open = mine();
  $("prompt").textContent = promptText();
  $("prompt").className = open.length ? "yours" : "";
  for (const place of clickable(open)) {
    place.setAttribute("role", "button");
    place.setAttribute("tabindex", "0");
    place.setAttribute("aria-label", nameOf(place));
  }
  mark();
  showChoices(open);
  if (hadFocus) (placeOf(hadFocus) ?? $("picture").querySelector("[role=button]") ?? $("choices").querySelector("button"))?.focus();
  showHistory();
  $("end").hidden = !latest.over;
}

function promptText() {
  if (past !== null) return `Event ${past.event} of ${latest.events}. ${past.said.join(" ")}`;
  const position = latest;
  if (position.over) return `The game is over: ${position.players.map(player => `${player.name} ${signed(player.return)}`).join(", ")}.`;
  if (position.seat === position.current) return position.prompt || "Your turn.";
  const {name, by} = position.players[position.current];
  const absent = by === "person" && !position.here.includes(position.current) ? ", who is not here," : "";
  return `${name}${by === "person" ? absent : ` (${by})`} is to act${position.paused ? "; the agents are paused" : ""}.`;
}

const signed = value => `${value > 0 ? "+" : ""}${Number(value.toFixed(2))}`;
const mine = () => (past === null && latest.seat !== null && latest.viewer === latest.seat && !latest.over && !latest.stopped ? latest.choices : []);
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
    const own = token.style.transform || "translate(0px,0px)";
    const start = `translate(${from.x - to.x}px,${from.y - to.y}px) ${own}`;
    token.animate([{transform: start}, {transform: own}], {duration: 320, easing: "ease-out"});
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

function showNames() {
  $("seats").textContent = latest.players.map((player, p) => `${player.name}: ${p === latest.seat && player.by === "person" ? "you" : player.by}`).join(" · ") + inTime(latest.clock);
  if (agents) showSeats($("seatlist"), latest, agents, send, openLog);
}

function inTime(seconds) {
  if (!seconds || latest.over) return "";
  return ` · ${seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`} for each move`;
}

async function showControls() {
  const yours = latest.seat !== null && latest.seat === latest.current && !latest.over && latest.players[latest.seat].by === "person";
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
    agents = {names: [], usual: ""};
    const found = (await (await fetch("/api/games")).json()).games.find(one => one.name === latest.game);
    agents = {names: found?.agents ?? [], usual: found?.default_opponent};
    $("adviser").append(...agents.names.map(name => new Option(name, name, false, name === agents.usual)));
    showNames();
  }
}

// -- earlier positions ----------------------------------------------------------------------------------------

function showHistory() {
  const event = past?.event ?? latest.events;
  $("place").max = latest.events;
  if (document.activeElement !== $("place") || wanted === null) $("place").value = event;
  $("back").disabled = event <= 1;
  $("on").disabled = $("now").disabled = $("play").disabled = past === null;
}

// Shows the table after an event. One question at a time: while an answer is awaited, the last wish counts.
function go(event) {
  if (event >= latest.events) return goNow();
  lookUp(Math.max(1, event));
}

function lookUp(event) {
  wanted = event;
  if (isAsking) return;
  isAsking = true;
  send({do: "past", event: wanted});
}

function goNow() {
  wanted = null;
  past = null;
  stopPlaying();
  clear();
  if (latest !== null) show();
}

function arrivePast(message) {
  isAsking = false;
  if (message.viewer !== latest.viewer || wanted === null) return;
  if (message.event !== wanted) return lookUp(wanted);
  past = message;
  wanted = null;
  clear();
  show();
  if (round !== null && round.at === message.event) showScores(message);
}

const step = by => go((wanted ?? past?.event ?? latest.events) + by);

function stopPlaying() {
  clearInterval(playing);
  playing = null;
  $("play").textContent = "Play";
  $("play").setAttribute("aria-pressed", "false");
}

function startPlaying() {
  stopPlaying();
  playing = setInterval(() => { if (!isAsking) step(1); }, Number($("speed").value));
  $("play").textContent = "Stop";
  $("play").setAttribute("aria-pressed", "true");
}

// -- the end of a hand or round -------------------------------------------------------------------------------

function beginRound(news) {
  const number = news?.number ?? 0;
  const isUnread = lastRound === null ? news?.waits_for.includes(latest.seat) : number > lastRound;
  lastRound = number;
  if (!isUnread || latest.seat === null || latest.over) return;
  if (!$("stops").checked) return send({do: "next"});
  round = news;
  lookUp(round.at);
}

function showScores(message) {
  $("roundtitle").textContent = `Round ${round.number} is over`;
  $("roundsaid").replaceChildren(...message.said.map(line => make("p", line)));
  const names = make("tr", make("th"), ...latest.players.map(player => make("th", player.name)));
  const rows = message.scores.filter(score => score.values.length === latest.players.length && score.values.some(value => value));
  $("scores").replaceChildren(names, ...rows.map(score => make("tr", make("th", score.label), ...score.values.map(value => make("td", typeof value === "number" ? String(Number(value.toFixed(2))) : value ?? "?")))));
  $("round").hidden = false;
  $("next").focus();
}

function make(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

function endRound() {
  round = null;
  $("round").hidden = true;
  send({do: "next"});
  goNow();
}

// -- agents that cannot be asked, and their logs --------------------------------------------------------------

function showStopped() {
  const stopped = latest.stopped, isNew = stopped !== null && $("stopped").hidden;
  $("stopped").hidden = stopped === null;
  if (stopped === null) return;
  $("stoptitle").textContent = `${stopped.agent} cannot play for player_${stopped.player}`;
  $("stopreason").textContent = `Its move failed: ${stopped.reason}. The game waits.`;
  $("stopdetail").textContent = stopped.detail;
  $("stopdetail").hidden = !stopped.detail;
  $("retry").hidden = !stopped.may_retry;
  $("retry").disabled = false;
  if (isNew && stopped.may_retry) $("retry").focus();
}

function openLog(player, before = Number.MAX_SAFE_INTEGER) {
  logged = before;
  send({do: "log", player, before});
}

function arriveLog(log) {
  choose("seats");
  $("asked").hidden = false;
  showLog($("asked"), log, logged !== Number.MAX_SAFE_INTEGER, before => openLog(log.player, before));
  if (logged === Number.MAX_SAFE_INTEGER) $("asked").scrollIntoView({block: "nearest"});
}

function showOpened({player, link: opened}) {
  const address = `${location.origin}/t/${opened}`;
  const anchor = Object.assign(make("a", address), {href: address});
  $("opened").replaceChildren(`The link of player_${player}'s person: `, anchor);
  $("opened").hidden = false;
}

// -- tabs and looks -------------------------------------------------------------------------------------------

const TABS = ["log", "rules", "seats"];

function choose(name) {
  for (const one of TABS) {
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
    $(`panel-${one}`).hidden = one !== name;
  }
  if (name === "rules" && !$("panel-rules").children.length) showRules();
}

async function showRules() {
  const answer = await fetch(`/api/games/${latest.game}/rules`);
  $("panel-rules").replaceChildren(...rendered(await answer.text()));
}

const isNarrow = () => ($("layout").value ? $("layout").value === "narrow" : narrow.matches);

function look() {
  document.body.classList.toggle("narrow", isNarrow());
  send({do: "look", narrow: isNarrow()});
  if (past !== null) lookUp(past.event);
}

// Keeps a choice in this browser.
function keep(id, changed) {
  const control = $(id), name = control.type === "checkbox" ? "checked" : "value";
  const kept = localStorage.getItem(`cardenvs-${id}`);
  if (kept !== null) control[name] = name === "checked" ? kept === "true" : kept;
  control.addEventListener("change", () => { localStorage.setItem(`cardenvs-${id}`, control[name]); changed?.(); });
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
$("viewer").onchange = () => { const value = $("viewer").value; goNow(); send({do: "watch", viewer: /^\d+$/.test(value) ? Number(value) : value}); };
$("place").oninput = () => { stopPlaying(); go(Number($("place").value)); };
$("back").onclick = () => { stopPlaying(); step(-1); };
$("on").onclick = () => { stopPlaying(); step(1); };
$("play").onclick = () => (playing === null ? startPlaying() : stopPlaying());
$("speed").onchange = () => { if (playing !== null) startPlaying(); };
$("now").onclick = goNow;
$("next").onclick = endRound;
$("retry").onclick = () => { $("retry").disabled = true; send({do: "retry"}); };
$("stoplog").onclick = () => openLog(latest.stopped.player);
for (const name of TABS) $(`tab-${name}`).onclick = () => choose(name);
document.querySelector("[role=tablist]").addEventListener("keydown", event => {
  const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!by) return;
  const now = TABS.findIndex(name => $(`tab-${name}`).getAttribute("aria-selected") === "true");
  const name = TABS[(now + by + TABS.length) % TABS.length];
  choose(name);
  $(`tab-${name}`).focus();
});
keep("sort", () => show());
keep("layout", look);
keep("stops");
narrow.addEventListener("change", look);
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && chosen.size) { clear(); show(); }
});
connect();
