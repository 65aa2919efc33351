// A table: shows positions as they come, and sends what the player chooses. The server decides what is legal.
import {at, get, socketTo, tableLink} from "./backend.js";
import {dragging} from "./drag.js";
import {sortHands} from "./hand.js";
import {keep as keepLink} from "./kept.js";
import {ask as post} from "./lobby-parts.js";
import {Log, coloured} from "./log.js";
import {move, places} from "./motion.js";
import {notesOf} from "./notes.js";
import {pictured} from "./pictures.js";
import {showLog, showSeats} from "./seats.js";
import {rendered} from "./text.js";

const $ = id => document.getElementById(id);
const link = tableLink();
const narrow = matchMedia("(max-width: 640px)");
const HAND = 2;  // what an earlier position may close: a trick is 1
const MOST_BUTTONS = 12, MOST_LISTED = 400, MOST_FOLLOWED = 12;
const MARGIN = 12;  // around what a phone scrolls to, in pixels
const MOST_LAST = 4;  // lines about the end of a game
const log = new Log($("log"));

let socket = null, latest = null, chosen = new Set(), hinted = null, retry = 500, agents = new Map(), usual = "";
let past = null, wanted = null, isAsking = false, playing = null;  // an earlier position, and the one asked for
let following = [], hold = null;  // moments of the latest actions that are still to be shown, and the timer for the next
let answered = null;  // the latest turn whose only move was made for the player
let round = null, lastRound = null, logged = null;
let drawn = null;  // the position in the picture
let cards = new Map();  // the cards of the player's hands, by id
let planned = [];  // what the player has put together for a goal: {part, ids}

$("symbols").innerHTML = $("suits").content.querySelector("svg").innerHTML;

// -- talking to the server ------------------------------------------------------------------------------------

function connect() {
  document.body.classList.toggle("narrow", isNarrow());
  const how = isNarrow() ? "?narrow" : "";
  socket = socketTo(link, how);
  socket.onopen = () => { retry = 500; isAsking = false; goNow(); };
  socket.onmessage = event => receive(JSON.parse(event.data));
  socket.onclose = event => {
    if (event.code >= 4400) {
      if (latest === null) $("prompt").textContent = "";  // nothing loads any more
      return say(event.reason, true);
    }
    say("The connection is lost; trying again ...", true);
    setTimeout(connect, retry);
    retry = Math.min(10000, retry * 2);
  };
}

function send(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

const ask = (what, fields = {}) => { send({do: what, turn: latest.turn, ...fields}); };
const request = (...actions) => ask("act", {intents: actions.map(action => ({action}))});
const act = (...actions) => { clear(); request(...actions); };

function receive(message) {
  if (message.type === "position") return arrive(message);
  if (message.type === "past") return arrivePast(message);
  if (message.type === "log") return arriveLog(message);
  if (message.type === "link") return showOpened(message);
  if (message.type === "refused") { isAsking = false; return refuse(message.reason); }
  if (message.type === "hint" && message.turn === latest.turn) return showHint(message);
  if (message.type === "plays" && message.turn === latest.turn) return showPlays(message.plays);
}

function arrive(position) {
  const before = latest;
  document.body.classList.toggle("tiles", position.parts.includes("#cv-mj-"));
  log.add(position.log_at, position.log, position.folds);
  const isNew = before === null || position.turn !== before.turn || position.viewer !== before.viewer || position.width !== before.width;
  latest = position;
  cards = new Map(position.held.flat().map(card => [card.id, card]));
  if (before === null && (position.seat !== null || position.host)) keepLink(link);
  if (position.agents) meet(position);
  if (isNew) { hinted = null; clear(); $("advice").replaceChildren(); if (before !== null) say(""); }
  if (past !== null && (past.viewer !== position.viewer || past.event > position.events)) { unfollow(); past = null; }  // moves were taken back
  document.title = `${position.seat === position.current ? "● " : ""}${position.title} - cardenvs`;
  $("title").textContent = position.title;
  showNames();
  showControls();
  showStopped();
  $("problem").textContent = position.problem;
  $("problem").hidden = !position.problem;
  follow(position.beats);
  if (past === null && !following.length) show(); else showHistory();
  beginRound(position.round);
}

function say(text, isBad = false) {
  $("said").replaceChildren(...coloured(text));
  $("said").className = isBad ? "bad" : "";
  $("said").hidden = !text;
}

// A refusal names the paragraph of the rules, which opens with a click.
function refuse(reason) {
  const number = /\(rules\.md (\d+(?:\.\d+)?)/.exec(reason)?.[1];
  say(reason.replace(/^\w+_v\d+: /, "").replace(/ \(rules\.md [^)]*\)/, "").replace(/; legal: .*$/s, "."), true);
  if (number) $("said").append(" ", button(`Rule ${number}`, () => showParagraph(number)));
}

// -- the picture ----------------------------------------------------------------------------------------------

function show() {
  const position = past ?? latest;
  const focused = document.activeElement?.closest?.("#picture [role=button]");
  const hadFocus = focused && (focused.dataset.token ?? focused.dataset.pile);
  const before = places($("parts")), isFirst = drawn === null, isOther = !isFirst && drawn !== position;
  $("picture").setAttribute("viewBox", `0 0 ${position.width} ${position.height}`);
  $("picture").setAttribute("aria-label", position.label);
  const least = isNarrow() ? position.height * 2 : position.height * 0.93;  // smaller, its text could not be read
  $("picture").style.maxHeight = `max(calc(100vh - 240px), ${least}px)`;
  document.body.classList.toggle("tall", !isNarrow() && least > innerHeight - 200);
  $("parts").innerHTML = `<rect class="cv-bg" width="${position.width}" height="${position.height}" rx="18"/>${position.parts}`;
  sortHands($("parts"), position.held, $("sort").value);
  $("sorting").hidden = !position.held.some(hand => hand.length > 1);
  if (isOther) move($("parts"), before, drawn.current, position.current);
  drawn = position;
  showDone(position);
  const open = mine();
  $("prompt").replaceChildren(...coloured(promptText()));
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
  showBanner();
  if ((isFirst || isOther) && open.length && isNarrow()) reach();
  showEnd();
  playForced();
}

// Makes a move without an alternative, if the player wants that.
function playForced() {
  const open = mine();
  if (!isForced(open) || !$("forced").checked || answered === latest.turn) return;
  answered = latest.turn;
  act(open[0].action);
}

const isForced = open => open.length === 1 && open[0].most === undefined;

// What the banner and the scores, which lie over the table, do not say.
function saidBelow() {
  const said = round?.at === past.event ? [] : past.closes ? past.said.slice(0, -MOST_LAST) : past.said;
  return said.join(" ");
}

function promptText() {
  if (past !== null && (hold !== null || following.length)) return saidBelow();
  if (past !== null) return `Event ${past.event} of ${latest.events}. ${saidBelow()}`;
  const position = latest;
  if (position.over) return `The game is over: ${position.players.map(player => `${player.name} ${signed(player.return)}`).join(", ")}.`;
  if (position.seat === position.current) return position.prompt || "Your turn.";
  const {name, by} = position.players[position.current];
  const absent = by === "person" && !position.here.includes(position.current) ? ", who is not here," : "";
  return `${name}${by === "person" ? absent : ""} is to act${position.paused ? "; the agents are paused" : ""}.`;
}

const signed = value => `${value > 0 ? "+" : ""}${Number(value.toFixed(2))}`;
const mine = () => (past === null && latest.seat !== null && latest.viewer === latest.seat && !latest.over && !latest.stopped ? latest.choices : []);
const placeOf = id => $("parts").querySelector(`[data-token="${CSS.escape(id)}"], [data-pile="${CSS.escape(id)}"]`);

// Scrolls a phone so that the player's own cards and what can be clicked lie above the bar, in reach of a thumb.
function reach() {
  const room = innerHeight - $("bar").offsetHeight - 2 * MARGIN;
  const active = [...$("picture").querySelectorAll("[role=button]")], held = [...cards.keys()].map(placeOf).filter(card => card);
  const seat = $("parts").querySelector(`[data-said="${latest.seat}"]`);  // in the player's panel
  if (!active.length && !held.length) return seat?.scrollIntoView({block: "center"});
  let [top, bottom] = span([...active, ...held]);
  if (bottom - top > room && active.length) [top, bottom] = span(active);
  if (bottom > room + MARGIN) scrollBy({top: Math.min(bottom - room - MARGIN, Math.max(0, top - MARGIN))});
  else if (top < MARGIN && active.length) scrollBy({top: top - MARGIN});
}

function span(elements) {
  const boxes = elements.map(element => element.getBoundingClientRect());
  return [Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom))];
}

// Writes beside each player what they did last.
function showDone(position) {
  const names = latest.players.map(player => player.name);
  const done = position === latest ? log.latest(names) : log.latest(names, position.said);
  for (const text of $("parts").querySelectorAll("[data-said]")) {
    let said = done.get(names[Number(text.dataset.said)]) ?? "";
    text.textContent = said;
    while (said && text.getComputedTextLength() > Number(text.dataset.room)) {
      said = said.slice(0, -1);
      text.textContent = `${said.trimEnd()}…`;
    }
  }
}

function nameOf(place) {
  if (place.dataset.pile) return place.dataset.pile.replaceAll("_", " ");
  return place.querySelector("title")?.textContent ?? "card";
}

function clickable(open) {
  const tokens = new Set(open.length ? [...chosen, ...planned.flatMap(({ids}) => ids)] : []);
  for (const choice of open.length ? fitting() : []) {
    const keys = new Set(lacking(choice, chosen));
    for (const id of choice.tokens) if (keys.has(keyOf(id, choice))) for (const other of standIns(id, choice)) tokens.add(other);
  }
  const piles = new Set(open.filter(choice => choice.kind === "pile").map(choice => choice.source));
  for (const choice of fitting()) if (chosen.size && choice.target) piles.add(choice.target);
  return [...$("parts").querySelectorAll("[data-token], [data-pile]")].filter(
    place => tokens.has(place.dataset.token) || piles.has(place.dataset.pile));
}

function mark() {
  for (const place of $("parts").querySelectorAll("[data-token], [data-pile]")) place.classList.remove("chosen", "planned", "other", "hinted");
  for (const id of chosen) placeOf(id)?.classList.add("chosen");
  for (const id of planned.flatMap(({ids}) => ids)) placeOf(id)?.classList.add("planned");
  if (chosen.size) for (const card of $("parts").querySelectorAll("[data-slot] > [data-token]:not([role])")) card.classList.add("other");
  const choice = hinted === null ? null : latest.choices.find(one => one.action === hinted);
  for (const id of choice ? choice.tokens ?? [choice.source] : []) if (id) placeOf(id)?.classList.add("hinted");
}

// -- choosing -------------------------------------------------------------------------------------------------

// The choices of cards: the legal ones, and the parts of a goal, of which some are legal only after others.
function options() {
  const open = mine(), parts = open.length ? latest.goal?.parts ?? [] : [];
  const actions = new Set(parts.map(part => part.action));
  return [...open.filter(choice => choice.kind === "card" && !actions.has(choice.action)), ...parts];
}

const isPart = choice => choice.points !== undefined;
const isPlanned = id => planned.some(({ids}) => ids.includes(id));

// What a token and others that do as well in a choice have in common.
const keyOf = (id, choice) => (choice.alike && cards.get(id)?.like) || (cards.get(id)?.text ?? id);
const standIns = (id, choice) => (cards.has(id) ? [...cards.keys()].filter(other => !isPlanned(other) && keyOf(other, choice) === keyOf(id, choice)) : [id]);

// The cards that a choice needs beside some tokens, as keys; null if it does not need all of these.
function lacking(choice, ids) {
  const keys = choice.tokens.map(id => keyOf(id, choice));
  for (const id of ids) {
    const at = keys.indexOf(keyOf(id, choice));
    if (at < 0) return null;
    keys.splice(at, 1);
  }
  return keys;
}

// Whether all cards of a choice are there, beside those that are planned for something else.
function isThere(choice) {
  const free = [...cards.keys()].filter(id => !isPlanned(id)).map(id => keyOf(id, choice));
  return !planned.length || choice.tokens.every(id => {
    const at = free.indexOf(keyOf(id, choice));
    if (at >= 0) free.splice(at, 1);
    return at >= 0;
  });
}

const fitting = () => options().filter(choice => lacking(choice, chosen) !== null && isThere(choice));
const exactly = (choices, ids) => choices.filter(choice => choice.tokens.length === ids.size && lacking(choice, ids)?.length === 0);

// Makes a choice. A part of a goal that does not reach it alone is put beside until the others are there.
function take(choice) {
  const {goal} = latest;
  if (!isPart(choice) || (!planned.length && goal.have + choice.points >= goal.need)) return act(choice.action);
  const ids = [];
  for (const id of choice.tokens) ids.push(standIns(id, choice).find(other => !ids.includes(other) && (!chosen.size || chosen.has(other))) ?? id);
  planned.push({part: choice, ids});
  chosen = new Set();
  show();
}

function drop(plan) {
  planned = planned.filter(one => one !== plan);
  show();
}

// Shows the points that are together, what they consist of, and the button that plays it.
function showGoal(open) {
  const goal = open.length ? latest.goal : null;
  $("goal").hidden = !goal;
  if (!goal) return;
  const exact = chosen.size ? exactly(options().filter(isPart), chosen) : [];
  const parts = [...planned.map(({part}) => part), ...exact.slice(0, 1)], points = parts.reduce((sum, part) => sum + part.points, goal.have);
  const meter = Object.assign(make("meter"), {max: goal.need, value: Math.min(points, goal.need)});
  const text = `${goal.label}: ${points} of ${goal.need} points`;
  const built = planned.map(plan => {
    const one = button("", () => drop(plan));
    one.append(...coloured(plan.part.label), " ✕");
    one.setAttribute("aria-label", `Take back: ${plan.part.label}`);
    return one;
  });
  const all = button("Play all of these", () => request(...parts.map(part => part.action).sort((a, b) => a - b)));
  all.className = "main";
  all.disabled = points < goal.need || (chosen.size > 0 && !exact.length);
  $("goal").replaceChildren(Object.assign(make("span", text), {className: "points"}), meter, ...built, ...planned.length ? [all] : []);
}

// Says what has been chosen and what can come next.
function showBuilding() {
  const found = chosen.size ? fitting() : [], exact = exactly(found, chosen);
  document.body.classList.toggle("building", chosen.size + planned.length > 0);
  $("building").hidden = !found.length;
  if (!found.length) return;
  const more = found.length > exact.length ? "choose another card that is still bright" : "";
  const next = [exact.length ? "press the move below" : "", more, "or click a card again to put it back"].filter(Boolean).join(", ");
  const texts = [...chosen].map(id => cards.get(id)?.text ?? nameOf(placeOf(id)));
  $("building").replaceChildren(make("strong", ...coloured(texts.join(" "))), make("span", ` chosen: ${next}.`));
}

function pick(place) {
  const {token, pile} = place.dataset;
  if (token === undefined) {
    const found = chosen.size ? fitting().filter(choice => choice.target === pile) : mine().filter(choice => choice.kind === "pile" && choice.source === pile);
    if (found.length === 1) act(found[0].action);
    else if (found.length) buttons(found);
    return;
  }
  const plan = planned.find(({ids}) => ids.includes(token));
  if (plan) return drop(plan);
  if (chosen.has(token)) chosen.delete(token); else chosen.add(token);
  if (!fitting().length) chosen = new Set([token]);
  const found = chosen.size ? fitting() : [];
  if (found.length === 1 && exactly(found, chosen).length) return take(found[0]);
  show();
}

function clear() {
  chosen = new Set();
  planned = [];
}

function button(text, onclick) {
  return Object.assign(document.createElement("button"), {textContent: text, type: "button", onclick});
}

const group = (className, parts) => Object.assign(make("div", ...parts), {className});

// A row of a keypad: what all its buttons begin with stands before them, once.
function keys(row) {
  const words = row.map(one => one.textContent.split(" "));
  let same = 0;
  while (words.every(one => one.length > same + 1 && one[same] === words[0][same])) same += 1;
  if (same) row.forEach((one, k) => { one.setAttribute("aria-label", one.textContent); one.replaceChildren(...coloured(words[k].slice(same).join(" "))); });
  return group("keys", [make("span", words[0].slice(0, same).join(" ")), ...row]);
}

// Buttons of choices: those with a row of a keypad in its rows, the others in a row of their own below it.
function buttons(choices) {
  const exact = new Set(chosen.size ? exactly(choices.filter(choice => choice.kind === "card"), chosen) : []);
  const ordered = [...exact, ...choices.filter(choice => !exact.has(choice))];
  const made = ordered.slice(0, MOST_LISTED).map(choice => {
    const one = button("", () => take(choice));
    one.append(...coloured(choice.label));
    if (isPart(choice)) one.append(make("small", `${choice.points} points`));
    one.classList.toggle("main", exact.has(choice));
    return [choice.row, one];
  });
  const rows = [...new Set(made.map(([row]) => row).filter(row => row !== undefined))].sort((a, b) => a - b);
  const pad = rows.map(row => keys(made.filter(([other]) => other === row).map(([, one]) => one)));
  const others = made.filter(([row]) => row === undefined).map(([, one]) => one);
  $("choices").replaceChildren(...pad.length ? [group("calls", others), group("keypad", pad)] : others);
  [...$("choices").querySelectorAll("button")].slice(0, 9).forEach((one, k) => { one.dataset.key = String(k + 1); });
}

function showChoices(open) {
  const plain = [...open.filter(choice => choice.kind !== "amount" && choice.kind !== "card"), ...open.length ? options() : []];
  const few = plain.length <= MOST_BUTTONS && !isNarrow();
  const isHidden = choice => !(choice.tokens ?? []).some(placeOf);
  buttons(chosen.size ? fitting() : plain.filter(choice => few || choice.kind !== "card" || isHidden(choice)));
  showGoal(open);
  showBuilding();
  showBet(open.filter(choice => choice.kind === "amount"));
  $("always").hidden = !isForced(open) || $("forced").checked;
  $("all").hidden = open.length === 0;
  $("allcount").textContent = `All moves (${open.length})`;
  if ($("all").open) listAll();
}

// One control for all amounts: a slider, a number to type, and buttons for amounts that have a name.
function showBet(choices) {
  $("amount").hidden = !choices.length;
  if (!choices.length || $("amount").dataset.turn === String(latest.turn)) return;  // what has been typed stays
  $("amount").dataset.turn = latest.turn;
  const {amount: least, most} = choices[0], stops = stopsOf(choices);
  Object.assign($("number"), {min: least, max: most ?? stops.at(-1).amount, value: least});
  Object.assign($("slide"), most ? {min: least, max: most, value: least} : {min: 0, max: stops.length - 1, value: 0});
  $("named").replaceChildren(...stops.filter(stop => stop.name).map(stop => {
    const one = button("", () => showAmount(stop.amount));
    one.append(stop.name, make("small", String(stop.amount)));
    return one;
  }));
  showAmount(least);
}

// The amounts that have a name, or, without a range, all: {amount, name}.
function stopsOf(choices) {
  if (choices[0].most !== undefined) return (choices[0].named ?? []).map(({amount, label}) => ({amount, name: label}));
  const named = choices.map(({amount, label}) => ({amount, name: label.split(", ").slice(1).join(", ")}));
  return named.sort((a, b) => a.amount - b.amount);
}

const amounts = () => mine().filter(choice => choice.kind === "amount");

function showAmount(amount) {
  const choices = amounts(), stops = stopsOf(choices);
  $("number").value = amount;
  $("slide").value = choices[0].most !== undefined ? amount : stops.reduce((best, stop, k) => (Math.abs(stop.amount - amount) < Math.abs(stops[best].amount - amount) ? k : best), 0);
  $("bet").textContent = `${choices[0].label.replace(/\s*\d+(, .*)?$/, "")} ${amount}`;
}

// The action for an amount, or why there is none.
function bet(amount) {
  const choices = amounts(), [{amount: least, most}] = choices;
  if (most !== undefined) return amount >= least && amount <= most ? act(choices[0].action + amount - least) : say(`An amount from ${least} to ${most}.`, true);
  const found = choices.find(choice => choice.amount === amount);
  if (found) act(found.action);
  else say(`This table is played with fixed amounts: ${stopsOf(choices).map(stop => stop.amount).join(", ")}.`, true);
}

function listAll() {
  const wanted = $("filter").value.trim().toLowerCase();
  const found = mine().filter(choice => choice.label.toLowerCase().includes(wanted));
  $("alllist").replaceChildren(...found.slice(0, MOST_LISTED).map(choice => listed(choice.label, [choice.action])));
}

function listed(label, actions) {
  const one = button("", () => act(...actions));
  one.append(...coloured(label));
  return one;
}

function showPlays(plays) {
  $("alllist").replaceChildren(...plays.slice(0, MOST_LISTED).map(play => listed(play.label, play.actions)));
}

function showHint(hint) {
  hinted = hint.action;
  const said = `${called(hint.agent)} would choose: ${hint.label}.`;
  say(said);
  $("advice").replaceChildren(Object.assign(make("p", ...coloured(said)), {className: "best"}), ...notesOf(hint.notes));
  if (!isNarrow()) choose("hints");
  mark();
}

function askForHint() {
  say("Thinking ...");
  ask("hint", {agent: $("adviser").value});
}

// -- around the picture ---------------------------------------------------------------------------------------

// Notes the agents that can play at this table, with what people call them.
function meet(position) {
  agents = new Map(position.agents.map(({name, label}) => [name, label]));
  usual = position.usual;
  $("adviser").replaceChildren(...[...agents].map(([name, label]) => new Option(label, name, false, name === usual)));
}

const called = name => agents.get(name) ?? name;

function showNames() {
  const names = new Map();
  latest.players.forEach((player, p) => {
    const who = p === latest.seat && player.by === "person" ? "you" : called(player.by);
    names.set(who, [...names.get(who) ?? [], player.name]);
  });
  $("seats").textContent = [...names].map(([who, group]) => `${group.join(", ")}: ${who}`).join(" · ") + inTime(latest.clock);
  showSeats($("seatlist"), latest, {labels: agents, usual}, send, openLog);
}

function inTime(seconds) {
  if (!seconds || latest.over) return "";
  return ` · ${seconds < 120 ? `${seconds} seconds` : `${Math.floor(seconds / 60)} minutes`} for each move`;
}

function showControls() {
  const yours = latest.seat !== null && latest.seat === latest.current && !latest.over && latest.players[latest.seat].by === "person";
  $("tools").hidden = latest.seat === null || latest.over;
  $("undo").disabled = !latest.undo;
  $("hint").disabled = $("ask").disabled = $("leave").disabled = !yours;
  const several = latest.players.filter(player => player.person).length > 1;  // nobody may make the others wait
  $("watching").hidden = !latest.controls || latest.over || several || (latest.seat !== null && !latest.paused);
  $("tempo").hidden = !latest.controls || latest.over;
  $("run").textContent = latest.paused ? "Go on" : "Pause";
  if (document.activeElement !== $("pace")) $("pace").value = latest.pace;
  $("eyes").hidden = !latest.sees_all;
  if (latest.over) { $("replay").href = at(`/t/${link}/replay`); if ($("review")) $("review").href = at(`/t/${link}/review`); $("file").href = at(`/t/${link}/replay.json`); $("file").download = `${latest.game}.json`; }
  if (latest.sees_all && !$("viewer").options.length) {
    const views = [["spectator", "what everybody sees"], ["everything", "everything"], ...latest.players.map((player, p) => [p, `as ${player.name}`])];
    $("viewer").append(...views.map(([value, text]) => new Option(text, value)));
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
  unfollow();
  if (event >= latest.events) return goNow();
  lookUp(Math.max(1, event));
}

function lookUp(event) {
  wanted = event;
  hinted = null;
  if (isAsking) return;
  isAsking = true;
  send({do: "past", event: wanted});
}

function goNow() {
  wanted = null;
  past = null;
  unfollow();
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
  if (following.length) holdMoment();
  else if (round !== null && round.at === message.event) showScores(message);
  show();
  if (playing !== null && message.closes === HAND) stopPlaying();
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

// -- the moments of an action ---------------------------------------------------------------------------------

// An action may complete a trick, gather it and deal: `beats` says after which events to stop for a look.
function follow(beats) {
  const isBusy = following.length > 0 || hold !== null;
  if (!Number($("motion").value) || (past !== null && !isBusy) || (!isBusy && beats.length < 2)) return;
  following.push(...beats);
  if (following.length > MOST_FOLLOWED) following = following.filter(([, closes]) => closes);
  if (!isBusy) lookUp(following[0][0]);
}

function followOn() {
  clearTimeout(hold);
  hold = null;
  if (following.length) lookUp(following[0][0]);
  else goNow();
}

// Holds a moment that has just been drawn.
function holdMoment() {
  while (following.length && following[0][0] <= past.event) following.shift();
  if (round !== null && round.at === past.event) return showScores(past);
  hold = setTimeout(followOn, Number($("motion").value) * [1, 3, 6][past.closes]);
}

function unfollow() {
  clearTimeout(hold);
  hold = null;
  following = [];
}

function showBanner() {
  const closes = past !== null && past.closes && $("round").hidden;
  $("banner").hidden = !closes;
  if (closes) $("result").replaceChildren(...past.said.slice(-MOST_LAST).map(line => make("div", ...coloured(line))));
  $("skip").hidden = hold === null && !following.length;
  $("skipall").hidden = following.length < 2 || closes;
}

// -- the end of a hand or round -------------------------------------------------------------------------------

function beginRound(news) {
  const number = news?.number ?? 0;
  const isUnread = lastRound === null ? news?.waits_for.includes(latest.seat) : number > lastRound;
  lastRound = number;
  if (!isUnread || latest.seat === null || latest.over) return;
  if (!$("stops").checked) return send({do: "next"});
  setRound(news);
  if (!following.some(([event]) => event === round.at)) lookUp(round.at);
}

function showScores(message) {
  $("roundsaid").replaceChildren(...message.said.map(line => make("p", ...coloured(line))));
  const told = message.scores.filter(score => score.values.length === latest.players.length && score.values.some(value => value));
  const shown = told.some(score => score.label !== "return") ? told.filter(score => score.label !== "return") : told;
  const heading = make("tr", make("th"), ...shown.map(score => make("th", score.label)));
  const rows = latest.players.map((player, p) => make("tr", make("th", withYou(player, p)), ...shown.map(score => make("td", inFigures(score.values[p])))));
  $("scores").replaceChildren(heading, ...rows);
  $("scores").hidden = !shown.length;
  $("round").hidden = false;
  $("next").focus({preventScroll: true});
}

const inFigures = value => (typeof value === "number" ? String(Number(value.toFixed(2))) : value ?? "?");

function make(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

// While a hand waits for its scores to be read, the log does not tell what the next one begins with.
function setRound(news) {
  round = news;
  $("log").classList.toggle("waits", round !== null);
}

function endRound() {
  setRound(null);
  $("round").hidden = true;
  send({do: "next"});
  followOn();
}

function showEnd() {
  $("end").hidden = !latest.over || past !== null;
  if ($("end").hidden) return;
  $("endsaid").replaceChildren(...log.lines.slice(-MOST_LAST).map(line => make("p", ...coloured(line))));
  const returns = latest.players.map(player => player.return), best = Math.max(...returns);
  $("endtitle").textContent = outcome(returns, best);
  $("again").hidden = latest.seat === null || latest.players.filter(player => player.person).length !== 1;
  $("endscores").replaceChildren(...latest.players.map((player, p) => {
    const row = make("tr", make("th", withYou(player, p)), make("td", signed(player.return)));
    row.classList.toggle("best", player.return === best);
    return row;
  }));
}

function outcome(returns, best) {
  const own = latest.seat === null ? null : returns[latest.seat];
  if (own === null || (returns.length > 1 && returns.every(value => value === best))) return "The game is over";
  if (returns.length === 1) return own > 0 ? "You win" : own < 0 ? "You lose" : "Nobody wins";
  if (own < best) return "You lose";
  return returns.filter(value => value === best).length > 1 ? "You share the win" : "You win";
}

// Opens a table with the same seats and options, and another deal.
async function playAgain() {
  $("again").disabled = true;
  try {
    const seats = latest.players.map(player => (player.person ? "person" : player.by));
    const table = await post("/api/tables", {game: latest.game, options: latest.options, seats});
    location.href = at(`/t/${table.seats.find(seat => seat.by === "person").link}`);
  } catch (error) {
    say(error.message, true);
    $("again").disabled = false;
  }
}

const withYou = (player, p) => (p === latest.seat ? `${player.name} (you)` : player.name);

// -- agents that cannot be asked, and their logs --------------------------------------------------------------

function showStopped() {
  const stopped = latest.stopped, isNew = stopped !== null && $("stopped").hidden;
  $("stopped").hidden = stopped === null;
  if (stopped === null) return;
  $("stoptitle").textContent = `${called(stopped.agent)} cannot play for ${latest.players[stopped.player].name}`;
  $("stopreason").textContent = `Its move failed: ${stopped.reason}. The game waits.`;
  $("stopdetail").textContent = stopped.detail;
  $("stopdetail").hidden = !stopped.detail;
  $("retry").hidden = !stopped.may_retry;
  $("retry").disabled = $("relieve").disabled = false;
  $("relieve").textContent = `Let ${called(usual)} play`;
  $("relieve").hidden = stopped.agent === usual || latest.seat === null;
  if (isNew && stopped.may_retry) $("retry").focus();
}

function openLog(player, before = Number.MAX_SAFE_INTEGER) {
  logged = before;
  send({do: "log", player, before});
}

function arriveLog(answer) {
  choose("seats");
  $("asked").hidden = false;
  showLog($("asked"), answer, latest.players[answer.player].name, logged !== Number.MAX_SAFE_INTEGER, before => openLog(answer.player, before));
  if (logged === Number.MAX_SAFE_INTEGER) $("asked").scrollIntoView({block: "nearest"});
}

function showOpened({player, link: opened}) {
  const address = new URL(at(`/t/${opened}`), location).href;
  const anchor = Object.assign(make("a", address), {href: address});
  $("opened").replaceChildren(`The link of ${latest.players[player].name}'s person: `, anchor);
  $("opened").hidden = false;
}

// -- tabs and looks -------------------------------------------------------------------------------------------

const TABS = ["log", "hints", "rules", "seats", "look"];

function choose(name) {
  for (const one of TABS) {
    $(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    $(`tab-${one}`).tabIndex = one === name ? 0 : -1;
    $(`panel-${one}`).hidden = one !== name;
  }
  if (name === "rules") showRules();
}

async function showRules() {
  if ($("rules").children.length) return;
  const answer = await get(`/api/games/${latest.game}/rules`);
  $("rules").replaceChildren(...rendered(await answer.text()));
}

// Shows only what has the words that are looked for.
function findRules() {
  const wanted = $("search").value.trim().toLowerCase();
  for (const part of $("rules").children) {
    part.hidden = wanted !== "" && !part.textContent.toLowerCase().includes(wanted);
  }
}

async function showParagraph(number) {
  choose("rules");
  await showRules();
  $("search").value = "";
  findRules();
  for (const part of $("rules").children) part.classList.remove("found");
  const found = [...$("rules").children].find(part => part.textContent.trim().startsWith(`${number} `) || part.textContent.trim().startsWith(`${number}. `));
  found?.classList.add("found");
  found?.scrollIntoView({block: "center"});
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
  if (hold !== null) return followOn();
  const place = event.target.closest("[role=button]"), held = event.target.closest("[data-slot] > [data-token]");
  if (place) pick(place);
  else if (held && mine().length) ask("act", {intents: [{move: {card: held.dataset.token}}]});  // refused, with the reason
});
$("picture").addEventListener("keydown", event => {
  const place = event.target.closest("[role=button]");
  if (place && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); pick(place); }
});
$("amount").onsubmit = event => {
  event.preventDefault();
  if (amounts().length) bet(Number($("number").value));
};
$("slide").oninput = () => showAmount(amounts()[0].most !== undefined ? Number($("slide").value) : stopsOf(amounts())[$("slide").value].amount);
$("number").oninput = () => { if ($("number").value) showAmount(Number($("number").value)); };
$("all").addEventListener("toggle", () => { if ($("all").open) listAll(); });
$("filter").oninput = listAll;
$("plays").onclick = () => ask("plays");
$("undo").onclick = () => ask("undo");
$("leave").onclick = () => { if (confirm("Leave the game? You lose what the rules say.")) ask("leave"); };
$("hint").onclick = $("ask").onclick = askForHint;
$("search").oninput = findRules;
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
$("again").onclick = playAgain;
$("always").onclick = () => $("forced").click();
$("skip").onclick = followOn;
$("skipall").onclick = goNow;
$("retry").onclick = () => { $("retry").disabled = true; send({do: "retry"}); };
$("relieve").onclick = () => { $("relieve").disabled = true; send({do: "seat", player: latest.stopped.player, agent: usual}); };
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
keep("forced", () => show());
keep("motion");
narrow.addEventListener("change", look);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (hold !== null) goNow();
    else if (chosen.size || planned.length) { clear(); show(); }
    return;
  }
  if (event.target.closest("input, select, textarea, button, [role=button], [role=tab], summary, a")) return;
  if (event.key === " " && hold !== null) { event.preventDefault(); followOn(); }
  if (/^[1-9]$/.test(event.key)) press(Number(event.key) - 1);
});

// The moves have numbers: first the buttons, as they show, then what can be clicked in the picture, from left to right.
function press(number) {
  const shown = [...$("choices").querySelectorAll("button")];
  const marked = clickable(mine()).sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x);
  if (number < shown.length) shown[number].click();
  else if (marked[number - shown.length]) pick(marked[number - shown.length]);
}

// -- dragging, and cards to look at ---------------------------------------------------------------------------

dragging($("picture"), token => {
  const found = fitting().filter(choice => lacking(choice, new Set([...chosen, token])) !== null);
  return found.length ? [...new Set(found.map(choice => choice.target).filter(Boolean))] : null;
}, (token, pile) => {
  const tokens = new Set([...chosen, token]);
  const found = exactly(fitting(), tokens);
  const fits = pile ? found.filter(choice => choice.target === pile) : found;
  if (fits.length === 1) return take(fits[0]);
  chosen = tokens;
  show();
  if (fits.length > 1) buttons(fits);
});

function showCard(token) {
  $("card").hidden = !token;
  if (!token) return;
  const face = JSON.parse(token.dataset.card);
  $("card").replaceChildren(make("h2", face.title), ...[...face.lines ?? [], ...face.marks ?? []].map(pictured));
  $("card").className = `colour-${face.colour ?? "white"}`;
  const box = token.getBoundingClientRect(), stage = $("stage").getBoundingClientRect();
  const isLeft = box.x + box.width / 2 > stage.x + stage.width / 2;
  $("card").style.left = isLeft ? `${Math.max(8, box.x - stage.x - $("card").offsetWidth - 10)}px` : `${Math.min(stage.width - $("card").offsetWidth - 8, box.right - stage.x + 10)}px`;
  $("card").style.top = `${Math.max(8, Math.min(stage.height - $("card").offsetHeight - 8, box.y - stage.y))}px`;
}

$("picture").addEventListener("pointerover", event => showCard(event.target.closest("[data-card]")));
$("picture").addEventListener("pointerleave", () => showCard(null));
$("picture").addEventListener("focusin", event => showCard(event.target.closest("[data-card]")));
connect();
