// The panel of seats: who plays, changing that, and what agents were asked and answered.
import {notesOf} from "./notes.js";

const make = (tag, fields = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
};
const button = (text, onclick) => make("button", {type: "button", textContent: text, onclick});

// Shows the seats of a position. `agents`: {labels: Map by name, usual: a name}; `send`: sends a message; `openLog(player)`.
export function showSeats(list, position, agents, send, openLog) {
  if (list.contains(document.activeElement) && document.activeElement.tagName === "SELECT") return;
  list.replaceChildren(...position.players.map((player, p) => make("div", {className: "seat"},
    make("strong", {textContent: `Seat ${p + 1}: ${player.name}`}), ` ${who(position, player, p, agents)} `,
    ...changes(position, player, p, agents, send),
    button("Log", () => openLog(p)))));
}

function who(position, player, p, agents) {
  const own = p === position.seat ? "you" : "a person";
  const away = player.person && p !== position.seat && !position.here.includes(p) ? ", away" : "";
  if (!player.person) return called(player.by, agents);
  return player.by === "person" ? own + away : `${called(player.by, agents)} for ${own}${away}`;
}

const called = (name, agents) => agents.labels.get(name) ?? name;

// What the client may do about a seat. The server decides; this only offers what it would allow.
function changes(position, player, p, agents, send) {
  const seat = agent => send({do: "seat", player: p, agent});
  if (position.over) return [];
  if (p === position.seat) {
    if (player.by !== "person") return [button("Play again", () => seat("person"))];
    return choice("Let it play for me", agents, seat);
  }
  if (!position.host) return [];
  if (player.person) {
    const isAway = player.by === "person" && !position.here.includes(p);
    return isAway ? [button(`Let ${called(agents.usual, agents)} play`, () => seat(agents.usual))] : [];
  }
  const isOpen = !position.players.some(one => one.person);
  return [...choice("Change", agents, seat), ...(isOpen ? [button("Open to a person", () => seat("person"))] : [])];
}

function choice(text, agents, seat) {
  const select = make("select", {ariaLabel: "agent"}, ...[...agents.labels].map(([name, label]) => new Option(label, name, false, name === agents.usual)));
  return [select, button(text, () => seat(select.value))];
}

// Shows what an agent noted, latest first; appends to what is there if it goes on.
export function showLog(box, log, name, goesOn, more) {
  if (!goesOn) {
    box.replaceChildren(make("h2", {textContent: `Log of ${name}`}));
    if (!log.is_full) box.append(make("p", {className: "dim", textContent: "Only failures, as long as the game goes on: the rest would show the hand."}));
    if (!log.entries.length) box.append(make("p", {textContent: "Nothing is noted."}));
  }
  box.querySelector(".more")?.remove();
  box.append(...log.entries.map(entry => entry.failed
    ? make("p", {textContent: `It failed: ${entry.failed.map(one => one.times > 1 ? `${one.reason} (${one.times} times)` : one.reason).join("; ")}.`})
    : make("details", {}, make("summary", {textContent: `${entry.label || "no move yet"}${entry.notes.outcome ? ` (${entry.notes.outcome})` : ""}`}), ...notesOf(entry.notes))));
  const last = log.entries.at(-1);
  if (last && last.number > 0) box.append(Object.assign(button("Earlier", () => more(last.number)), {className: "more"}));
}
