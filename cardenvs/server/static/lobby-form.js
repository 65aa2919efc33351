// The dialog for everything that one click does not choose: seats, options, the deal, who may watch.
import {at, get} from "./backend.js";
import {keep} from "./kept.js";
import {$, ask, make, pictureOf, rating, say} from "./lobby-parts.js";
import {rendered} from "./text.js";

let game = null, level = "medium";

export function showForm(chosen, chosenLevel) {
  [game, level] = [chosen, chosenLevel];
  $("new-title").textContent = game.title;
  $("new-about").textContent = game.about;
  $("new-picture").src = pictureOf(game.name);
  $("form").reset();
  for (const details of $("form").querySelectorAll("details")) details.open = false;
  for (const id of ["links", "said", "learned"]) $(id).hidden = true;
  for (const id of ["seats", "rulestext"]) $(id).replaceChildren();
  showOptions();
  $("agents").hidden = !game.agents.length;
  $("new").showModal();
  $("seats").querySelector("select").focus();
}

function showOptions() {
  const fields = game.options.filter(option => option.low === undefined || option.low !== option.high || option.kind !== "number");
  $("options").replaceChildren(...fields.map(option => {
    const note = make("small", {textContent: option.doc.replaceAll("`", "") + bounds(option)});
    return make("label", {className: "field"}, make("span", {textContent: option.name.replace(/^num_/, "").replaceAll("_", " ")}), control(option), note);
  }));
  $("option-num_players")?.addEventListener("change", showSeats);
  showSeats();
}

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

function numPlayers() {
  const option = game.options.find(one => one.name === "num_players");
  return Math.max(1, Math.min(option.high ?? 10, Number($("option-num_players")?.value ?? option.default)));
}

const usual = () => game.levels[level] ?? game.default_opponent;

function showSeats() {
  const chosen = [...$("seats").querySelectorAll("select")].map(select => select.value);
  const rows = [];
  for (let player = 0; player < numPlayers(); player++) {
    const wanted = chosen[player] ?? (player === 0 ? "person" : usual());
    const agents = make("optgroup", {label: "Agents, from easy to strong"}, ...game.opponents.map(agent =>
      new Option(described(agent), agent.name, false, agent.name === wanted)));
    const select = make("select", {onchange: learn}, new Option(player ? "another person" : "you, or another person", "person", false, wanted === "person"), agents);
    rows.push(make("label", {className: "field"}, make("span", {textContent: `Seat ${player + 1}`}), select));
  }
  $("seats").replaceChildren(...rows);
}

const isAtHome = name => game.agents.includes(name); // it plays with the default options
const learned = () => Object.entries(game.rated_with).map(([name, value]) => `${name.replaceAll("_", " ")} = ${value ?? "none"}`).join(", ");

function described(agent) {
  const rated = rating(agent), where = isAtHome(agent.name) ? "" : ` (only with ${learned()})`;
  return `${agent.label}${rated && ` · ${rated}`}${where}`;
}

// An agent that knows other options only brings them along.
function learn(event) {
  if (isAtHome(event.target.value) || event.target.value === "person") return;
  for (const [name, value] of Object.entries(game.rated_with)) {
    const input = $(`option-${name}`);
    if (input?.type === "checkbox") input.checked = value;
    else if (input) input.value = value ?? "";
  }
  say("learned", `The options are now those it has learned: ${learned()}.`);
  showSeats();
}

function optionTexts() {
  const texts = {};
  for (const option of game.options) {
    const input = $(`option-${option.name}`);
    if (!input) continue;
    const text = option.kind === "flag" ? String(input.checked) : input.value.trim();
    const before = option.kind === "list" ? option.default.join(", ") : String(option.default ?? "");
    if (text !== before) texts[option.name] = text === "" && option.optional ? "none" : text;
  }
  return texts;
}

async function openTable(seats) {
  say("said", "");
  const seed = $("seed").value.trim();
  if (seed && !/^\d{1,15}$/.test(seed)) return say("said", "A seed is a number of up to 15 digits.");
  $("open").disabled = $("agents").disabled = true;
  try {
    const table = await ask("/api/tables", {
      game: game.name, options: optionTexts(), listed: $("listed").checked, deck: $("deck").value.trim() || null,
      seats, seed: seed ? Number(seed) : null,
    });
    const people = table.seats.filter(seat => seat.by === "person");
    if (people.length !== 1) keep(table.host);
    if (people.length < 2) location.href = at(`/t/${people[0]?.link ?? table.host}`);
    else showLinks(table);
  } catch (error) {
    say("said", error.message);
  }
  $("open").disabled = $("agents").disabled = false;
}

function showLinks(table) {
  const rows = table.seats.map((seat, player) => [`Seat ${player + 1}`, seat.by, seat.link]).filter(row => row[1] === "person");
  rows.push(["Spectators", "", table.watch], ["You, to pause the agents", "", table.host]);
  $("linklist").replaceChildren(...rows.map(([who, , link]) => {
    const address = new URL(at(`/t/${link}`), location).href;
    const copy = make("button", {type: "button", textContent: "Copy", ariaLabel: `Copy the link of ${who}`});
    copy.onclick = async () => { await navigator.clipboard.writeText(address); copy.textContent = "Copied"; };
    return make("li", {}, `${who}: `, make("a", {href: address, textContent: address}), " ", copy);
  }));
  $("links").hidden = false;
  $("links").scrollIntoView();
}

async function showRules() {
  if (!$("rules").open || $("rulestext").children.length) return;
  const answer = await get(`/api/games/${encodeURIComponent(game.name)}/rules`);
  $("rulestext").replaceChildren(...(answer.ok ? rendered(await answer.text()) : [`the server answers ${answer.status}`]));
}

$("form").onsubmit = event => {
  event.preventDefault();
  openTable([...$("seats").querySelectorAll("select")].map(select => select.value));
};
$("agents").onclick = () => openTable([...$("seats").querySelectorAll("select")].map(select => select.value === "person" ? usual() : select.value));
$("rules").ontoggle = showRules;
$("close").onclick = () => $("new").close();
$("new").onclick = event => { if (event.target === $("new")) $("new").close(); }; // beside the dialog
