// The lobby: tiles of games, which open a table at one click. Lists and the form for everything else have their files.
import {at} from "./backend.js";
import {showForm} from "./lobby-form.js";
import {showLists} from "./lobby-lists.js";
import {$, ask, make, pictureOf, rating, say} from "./lobby-parts.js";

const LEVEL = "cardenvs-level", LEVELS = ["easy", "medium", "strong"];
const tiles = new Map();
let games = [];

const level = () => document.querySelector("[name=level]:checked").value;

function remembered() {
  const found = localStorage.getItem(LEVEL);
  return LEVELS.includes(found) ? found : "medium";
}

function opponents(game) {
  const players = game.options.find(option => option.name === "num_players").default;
  const agent = game.opponents.find(one => one.name === game.levels[level()]);
  return {count: players - 1, agent};
}

function tile(game) {
  const foe = make("p", {className: "foe"});
  const play = make("button", {type: "button", className: "main play", textContent: "Play", ariaLabel: `Play ${game.title}`});
  const more = make("button", {type: "button", className: "more", textContent: "More", title: "Seats, options, rules, or watch agents play", ariaLabel: `More ways to play ${game.title}`});
  play.onclick = () => openAt(game, play);
  more.onclick = () => showForm(game, level());
  const made = make("li", {className: "tile"},
    make("div", {className: "picture"}, make("img", {src: pictureOf(game.name), alt: "", width: 480, height: 240, loading: "lazy"})),
    make("h3", {textContent: game.title}),
    make("p", {className: "about", textContent: game.about}),
    make("p", {className: "players", textContent: game.players === "1" ? "1 player" : `${game.players.replace(" to ", "–")} players`}),
    foe, make("div", {className: "acts"}, play, more));
  made.dataset.game = game.name;
  tiles.set(game.name, {made, foe});
  return made;
}

function showOpponents() {
  for (const game of games) {
    const {count, agent} = opponents(game), {foe} = tiles.get(game.name);
    if (!agent) {
      foe.replaceChildren("you alone, against the deck");
      continue;
    }
    foe.replaceChildren(make("span", {}, count > 1 ? `vs ${count} × ` : "vs ", make("strong", {textContent: agent.label})));
    if (agent.rating) foe.append(make("span", {className: "rating", textContent: rating(agent), title: "Rating on the game's board, where random play has 1,000"}));
  }
}

async function openAt(game, button) {
  if (document.querySelector(".tile[aria-busy]")) return;
  say("toast", "");
  const {made} = tiles.get(game.name);
  made.setAttribute("aria-busy", "true");
  button.textContent = "Opening …";
  try {
    const table = await ask("/api/tables", {game: game.name, level: level()});
    location.href = at(`/t/${table.seats.find(seat => seat.by === "person").link}`);
  } catch (error) {
    say("toast", `${game.title}: ${error.message}`);
    made.removeAttribute("aria-busy");
    button.textContent = "Play";
  }
}

function find() {
  const wanted = $("find").value.trim().toLowerCase();
  let found = 0;
  for (const game of games) {
    const fits = `${game.title} ${game.about} ${game.name}`.toLowerCase().includes(wanted);
    tiles.get(game.name).made.hidden = !fits;
    found += fits;
  }
  $("nothing").hidden = found > 0;
}

document.querySelector(`[name=level][value=${remembered()}]`).checked = true;
$("levels").onchange = () => {
  localStorage.setItem(LEVEL, level());
  showOpponents();
};
$("find").oninput = find;
$("all").onclick = () => {
  $("find").value = "";
  find();
  $("find").focus();
};
addEventListener("pageshow", event => { if (event.persisted) location.reload(); }); // no tile stays "Opening"

games = (await ask("/api/games")).games;
$("games").replaceChildren(...games.map(tile));
$("games").removeAttribute("aria-busy");
showOpponents();
await showLists(games);
