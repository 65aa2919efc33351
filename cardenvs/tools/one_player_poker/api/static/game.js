// One-player poker: shows what the server says, and sends what the player chooses. The server knows the rules.
const $ = id => document.getElementById(id);
const SUITS = {S: "spades", H: "hearts", D: "diamonds", C: "clubs"};
const RANKS = {T: "10", J: "jack", Q: "queen", K: "king", A: "ace"};
const RULES = {
  play_made_hand: "A made hand is worth its points at once.",
  play_best_hand: "Nothing that could be drawn is worth the discards.",
  play_and_keep_pair: "It plays for a little less now and keeps two cards for the next hand.",
  draw_to_flush: "Cards of one suit may become a flush.",
  draw_to_straight: "One card more makes a straight.",
  improve_hand: "The cards that belong together stay, others may join them.",
};
const REASONS = {
  play_requires_five: "Choose exactly five cards to play.",
  discard_requires_at_least_one: "Choose the cards to discard.",
  discard_budget_exceeded: "You have fewer discards left than that.",
  no_discards_remaining: "You have no discards left.",
  no_plays_remaining: "The game is over.",
  policy_off: "This game does not allow it.",
  budget_exhausted: "You have used it up.",
  trace_revealed: "The game is over for good: you have seen the agent's choices.",
  the_game_stands_elsewhere: "The game has moved on in another window.",
  the_game_has_changed: "The game has moved on in another window.",
  new_games: "That is too many new games; wait a little.",
  unfinished_challenges: "Too many challenges are unfinished; play one of them to its end first.",
  the_server_cannot_write: "The server cannot write to its disk, so nothing has changed; try again later.",
  challenges_draw_their_seed: "Nobody can choose the deck of a challenge here; leave the seed out.",
};
const node = (tag, fields = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
};
let game = null, chosen = new Set(), hinted = null, story = {}, hands = {}, busy = false;

async function ask(path, body) {
  const sent = body === undefined ? {} : {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body)};
  const answer = await fetch(`/game/${path}`, sent);
  const data = await answer.json().catch(() => ({}));
  if (answer.ok) return data;
  const {code, params} = data.error ?? {code: `status ${answer.status}`, params: {}};
  throw Object.assign(new Error(REASONS[params.reason] ?? `The server refuses this (${params.reason ?? code}).`), {code});
}

// One request at a time; what the server refuses is said, and a game that has moved on is read again.
async function attempt(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
  } catch (error) {
    say(error.message, true);
    if (["STALE_STEP", "CONFLICT"].includes(error.code)) show(await ask(game.game_id));
  } finally {
    busy = false;
  }
}

const say = (text, isBad = false) => { $("said").textContent = text; $("said").className = isBad ? "bad" : ""; };
const named = card => `${RANKS[card[0]] ?? card[0]} of ${SUITS[card[1]]}`;
const words = key => key.toLowerCase().replaceAll("_", " ");
const number = value => value.toLocaleString("en");

function suit(card) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#cv-${card[1].toLowerCase()}`);
  use.setAttribute("fill", "currentColor");
  svg.append(use);
  return svg;
}

const mini = card => node("span", {className: `mini suit-${card[1]}`}, node("span", {ariaHidden: "true"}, card[0] === "T" ? "10" : card[0]), suit(card), node("span", {className: "sr"}, `${named(card)} `));
const minis = cards => cards.flatMap(card => [mini(card), " "]);

// -- the game -------------------------------------------------------------------------------------------------

function show(next, {keepStory = true} = {}) {
  if (!keepStory || game?.game_id !== next.game_id) { story = {}; hands = {}; }
  game = next;
  hands[next.step_index] = next.state.hand;
  chosen = new Set();
  hinted = next.ai_hint ?? null;
  localStorage.setItem("cardenvs-game", game.game_id);
  remember(next);
  const {state} = game, over = state.p_remaining === 0;
  for (const id of ["board", "leftbox"]) $(id).hidden = false;
  $("score").textContent = number(state.score_total);
  $("targetbox").hidden = game.target_score === null;
  $("target").textContent = game.target_score === null ? "" : number(game.target_score);
  $("plays").textContent = state.p_remaining;
  $("discards").textContent = state.d_remaining;
  showHand();
  showLeft();
  showHint();
  showJump();
  showStory();
  $("result").hidden = !over;
  $("trace").replaceChildren();
  if (over) $("verdict").textContent = verdict();
}

function verdict() {
  const {score_total: score} = game.state;
  if (game.target_score === null) return `The game is over: ${number(score)} points.`;
  return score >= game.target_score ? `Passed: ${number(score)} of ${number(game.target_score)} points.` : `Failed: ${number(score)} of ${number(game.target_score)} points.`;
}

function showHand() {
  const over = game.state.p_remaining === 0;
  const had = document.activeElement?.dataset?.place;
  $("hand").replaceChildren(...game.state.hand.map((card, k) => {
    const button = node("button", {type: "button", className: `suit-${card[1]}`, disabled: over}, node("span", {ariaHidden: "true"}, card[0] === "T" ? "10" : card[0]), suit(card));
    button.dataset.place = k;
    button.setAttribute("aria-label", `${named(card)}, card ${k + 1}`);
    button.onclick = () => toggle(k);
    return button;
  }));
  if (had !== undefined) $("hand").children[had]?.focus();
  showChosen();
}

function toggle(k) {
  if (!chosen.delete(k)) chosen.add(k);
  showChosen();
}

function showChosen() {
  const {state} = game, over = state.p_remaining === 0;
  [...$("hand").children].forEach((button, k) => {
    button.setAttribute("aria-pressed", chosen.has(k));
    button.classList.toggle("hinted", hinted?.recommended_action.selected_indices.includes(k) ?? false);
  });
  $("play").disabled = over || chosen.size !== 5;
  $("discard").disabled = over || chosen.size === 0 || chosen.size > state.d_remaining;
  $("discard").textContent = chosen.size ? `Discard ${chosen.size}` : "Discard";
  $("clear").disabled = chosen.size === 0;
}

function showLeft() {
  const left = game.state.deck_remaining_counts;
  const rows = Object.keys(SUITS).map(s => node("tr", {className: `suit-${s}`},
    node("th", {scope: "row"}, suit(`A${s}`), node("span", {className: "sr"}, SUITS[s])),
    ...[..."23456789TJQKA"].map(rank => {
      const here = rank + s in left, text = rank === "T" ? "10" : rank;
      return node("td", {className: here ? "" : "gone"}, here ? text : node("span", {ariaHidden: "true"}, text));
    })));
  $("left").replaceChildren($("left").caption, node("tbody", {}, ...rows));
}

function showHint() {
  const {hint_policy: policy, hint_budget_remaining: left} = game, over = game.state.p_remaining === 0;
  $("hint").hidden = policy === "off";
  $("hint").disabled = over || left === 0;
  $("hint").textContent = policy === "limited" ? `Hint (${left} left)` : "Hint";
  $("advice").hidden = !hinted;
  if (!hinted) return;
  const {type, selected_indices: places} = hinted.recommended_action;
  const {rule, chance} = hinted.params;
  const odds = chance === undefined ? "" : ` Its chance is ${Math.round(100 * chance)}%.`;
  $("advice").replaceChildren(`${type === "PLAY" ? "Play" : "Discard"} `, ...minis(places.map(k => game.state.hand[k])), ` ${RULES[rule] ?? words(rule)}${odds}`);
}

function showJump() {
  const {jump_policy: policy, jump_budget_remaining: left} = game;
  $("jumpbox").hidden = $("jumpnote").hidden = policy === "off" || game.history_len === 0;
  $("jump").max = game.history_len;
  $("jump").value = game.step_index;
  $("jump").disabled = left === 0;
  $("jump").setAttribute("aria-valuetext", `step ${game.step_index} of ${game.history_len}`);
  const budget = policy === "limited" ? ` ${left} ${left === 1 ? "jump" : "jumps"} left.` : "";
  $("jumpnote").textContent = `Step ${game.step_index} of ${game.history_len}.${budget} A new action from an earlier step replaces what came after it.`;
}

// -- what has happened ----------------------------------------------------------------------------------------

function remember(answer) {
  const told = (answer.events ?? []).map(sentence).filter(Boolean);
  if (told.length && answer.events.some(event => ["score", "discard"].includes(event.type))) {
    for (const step of Object.keys(story)) if (step >= answer.step_index) delete story[step];
    story[answer.step_index] = told;
  }
}

function sentence({message_key: key, params}) {
  if (key === "play.scored") return ["Played ", ...minis(params.cards), `${words(params.category)}, ${number(params.points)} points`];
  if (key === "cards.discarded") return ["Discarded ", ...minis(params.cards), "drew ", ...minis(params.drawn)];
  return null;
}

function showStory() {
  const steps = Object.keys(story).map(Number).filter(step => step <= game.step_index).sort((a, b) => a - b);
  $("storybox").hidden = !steps.length;
  $("story").replaceChildren(...steps.flatMap(step => story[step].map(told => node("li", {value: step}, ...told.map(part => typeof part === "string" ? part : part.cloneNode(true))))));
}

function announce(answer) {
  const parts = answer.events.map(({message_key: key, params}) => ({
    "play.scored": () => `${words(params.category)}, ${number(params.points)} points.`,
    "cards.discarded": () => `Drew ${params.drawn.map(named).join(", ")}.`,
    "game.jumped": () => `Step ${params.step_index}.`,
    "game.started": () => params.seed === undefined ? "The cards are dealt." : `Seed ${params.seed}.`,
    "game.passed": () => "Passed.", "game.failed": () => "Failed.", "game.ended": () => "The game is over.",
  }[key]?.() ?? ""));
  say(parts.join(" "));
}

// -- what the player does -------------------------------------------------------------------------------------

const act = type => attempt(async () => {
  const action = {type, selected_indices: [...chosen].sort((a, b) => a - b)};
  const answer = await ask("step", {game_id: game.game_id, action, step_index: game.step_index, hint_request: {enabled: false}});
  show(answer);
  announce(answer);
  if (answer.state.p_remaining === 0) { $("reveal").focus(); await showGames(); }
});

const jump = step => attempt(async () => {
  const answer = await ask("jump", {game_id: game.game_id, step_index: step, hint_request: {enabled: false}});
  show(answer);
  announce(answer);
});

const hint = () => attempt(async () => {
  show(await ask("hint", {game_id: game.game_id}));
  const {type, selected_indices: places} = hinted.recommended_action;
  chosen = new Set(places);
  showChosen();
  say(`Hint: ${type === "PLAY" ? "play" : "discard"} ${places.map(k => named(game.state.hand[k])).join(", ")}.`);
});

const reveal = () => attempt(async () => {
  const {steps} = await ask(`${game.game_id}/ai_trace`);
  $("trace").replaceChildren(...steps.map(step => {
    const {type, selected_indices: places} = step.recommended_action, hand = hands[step.step_index];
    const cards = hand ? minis(places.map(k => hand[k])) : [`cards ${places.map(k => k + 1).join(", ")} `];
    return node("li", {value: step.step_index + 1}, `${type === "PLAY" ? "Play" : "Discard"} `, ...cards, ` ${RULES[step.params.rule] ?? ""}`);
  }));
  $("trace").tabIndex = -1;
  $("trace").focus();
});

async function start(event) {
  event.preventDefault();
  $("formsaid").hidden = true;
  const text = $("seed").value.trim();
  const wanted = {mode: $("mode").value, difficulty_tier: $("tier").value};
  if (text) wanted.seed = Number(text);
  try {
    const answer = await ask("start", wanted);
    show(answer, {keepStory: false});
    announce(answer);
    $("hand").firstChild.focus();
    await showGames();
  } catch (error) {
    $("formsaid").textContent = error.message;
    $("formsaid").hidden = false;
  }
}

async function showGames() {
  const {games} = await ask("list");
  $("games").replaceChildren(...games.slice(0, 12).map(one => {
    const target = one.target_score === null ? "" : ` of ${number(one.target_score)}`;
    const button = node("button", {type: "button"}, `${one.mode}, ${one.difficulty_tier}: ${number(one.score_total)}${target}${one.is_over ? "" : ", goes on"}`);
    button.onclick = () => attempt(async () => show(await ask(one.game_id)));
    return node("li", {}, button);
  }));
  if (!games.length) $("games").append(node("li", {className: "dim"}, "None yet."));
}

function press(event) {
  if (!game || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const key = event.key.toLowerCase(), place = Number(key) - 1;
  if (place >= 0 && place < game.state.hand.length && game.state.p_remaining > 0) toggle(place);
  else if (key === "p" && !$("play").disabled) act("PLAY");
  else if (key === "d" && !$("discard").disabled) act("DISCARD");
  else if (key === "h" && !$("hint").hidden && !$("hint").disabled) hint();
  else if (key === "escape") { chosen.clear(); showChosen(); }
  else return;
  event.preventDefault();
}

$("form").onsubmit = start;
$("play").onclick = () => act("PLAY");
$("discard").onclick = () => act("DISCARD");
$("hint").onclick = hint;
$("clear").onclick = () => { chosen.clear(); showChosen(); };
$("jump").onchange = () => jump(Number($("jump").value));
$("reveal").onclick = reveal;
document.addEventListener("keydown", press);

const last = localStorage.getItem("cardenvs-game");
const {tiers} = await ask("tiers");
$("tier").append(...tiers.map(one => node("option", {value: one.difficulty_tier, textContent: one.difficulty_tier, selected: one.difficulty_tier === "medium"})));
await showGames();
// Whoever has begun a game meanwhile keeps it, and the cards chosen in it.
if (last && !game) await attempt(async () => {
  const answer = await ask(encodeURIComponent(last));
  if (!game) show(answer);
});
