// What happened, as lines: cards in the colours of their suits, mahjong tiles as they look, finished hands and tricks folded.
const TOKEN = /((?:10|[2-9JQKA])?[♠♥♦♣]|\b\d[mpsz]\b)/;
const SUITS = {"♠": "s", "♥": "h", "♦": "d", "♣": "c"}, SVG = "http://www.w3.org/2000/svg";

// Returns a text in pieces, with the cards in it coloured, and its tiles drawn at a table with tiles.
export function coloured(text) {
  return text.split(TOKEN).map((piece, k) => (k % 2 ? token(piece) : piece)).filter(piece => piece);
}

function token(text) {
  const suit = SUITS[text.at(-1)];
  if (!suit) return document.body.classList.contains("tiles") ? tile(text) : text;
  return Object.assign(document.createElement("span"), {className: `suit-${suit}`, textContent: text});
}

// A tile with its name, which is not seen, but is read aloud and copied.
function tile(name) {
  const box = Object.assign(document.createElement("span"), {className: "tile", textContent: name, title: name});
  const drawn = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  drawn.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#cv-mj-${name}`);
  drawn.append(use);
  box.append(drawn);
  return box;
}

const TRICK = 1, HAND = 2;  // parts of a game

export class Log {
  constructor(list) {
    this.list = list;
    this.lines = [];
    this.folds = [];
  }

  // Takes lines from number `at` on, and more `folds`: [number of lines, part] at the end of each finished part.
  add(at, lines, folds) {
    if (at >= this.lines.length && !lines.length) return;
    this.lines = [...this.lines.slice(0, at), ...lines];
    this.folds = [...this.folds.filter(([end]) => end <= at), ...folds];
    const hands = this.folds.filter(([end, part]) => part === HAND && end < this.lines.length).map(([end]) => end);
    this.list.replaceChildren(...[...hands, this.lines.length].map((end, k) => this.hand(k, hands[k - 1] ?? 0, end, k < hands.length)));
    if (lines.length) this.list.scrollTop = this.list.scrollHeight;
  }

  // Hand number `k` with the lines from one number to another. What is the same as before stays as open as it is.
  hand(k, from, end, isFinished) {
    const kept = this.list.children[k], lines = this.lines.slice(from, end), told = lines.join("\n");
    if (kept?.told === told && kept.isFinished === isFinished) return kept;
    const ends = new Set(this.folds.filter(([last, part]) => part === TRICK && last > from && last < end).map(([last]) => last));
    const starts = [from, ...ends], old = kept?.isFinished ? [] : [...kept?.children ?? []];
    const tricks = [...ends].map((last, n) => trick(this.lines.slice(starts[n], last), !isFinished && n === ends.size - 1, old[n]));
    const box = isFinished ? folded(`Hand ${k + 1}`) : document.createElement("div");
    box.append(...tricks, listed(this.lines.slice(starts.at(-1), end)));
    return Object.assign(box, {told, isFinished});
  }

  // The last thing that each of some players did, by name, among the latest lines: "plays 10♠".
  latest(names, lines = this.lines.slice(-4 * names.length)) {
    const found = new Map();
    for (const line of lines) {
      if (/^\S+ (is|are) dealt /.test(line)) continue;
      const name = names.find(one => line.startsWith(`${one} `));
      if (name) found.set(name, line.slice(name.length + 1).replace(/\.$/, ""));
    }
    return found;
  }
}

// A finished trick: who won it, and what happened before. The latest one is open, until another one follows.
function trick(lines, isLatest, old) {
  const told = lines.join("\n"), isSame = old?.told === told;
  const box = isSame ? old : folded(lines.at(-1));
  if (!isSame && lines.length > 1) box.append(listed(lines.slice(0, -1)));
  if (box.isLatest !== isLatest) box.open = isLatest;
  return Object.assign(box, {told, isLatest});
}

function folded(title) {
  const box = document.createElement("details"), summary = document.createElement("summary");
  summary.append(...coloured(title));
  box.append(summary);
  return box;
}

function listed(lines) {
  const list = document.createElement("ul");
  list.append(...lines.map(line => {
    const item = document.createElement("li");
    item.append(...coloured(line));
    return item;
  }));
  return list;
}
