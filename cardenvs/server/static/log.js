// What happened, as lines: cards in the colours of their suits, and each finished hand folded.
const CARD = /((?:10|[2-9JQKA])?([♠♥♦♣]))/;
const SUITS = {"♠": "s", "♥": "h", "♦": "d", "♣": "c"};

// Returns a text in pieces, with the cards in it coloured.
export function coloured(text) {
  const pieces = text.split(CARD), found = [];
  for (let k = 0; k < pieces.length; k += 3) {
    if (pieces[k]) found.push(pieces[k]);
    if (pieces[k + 1]) found.push(Object.assign(document.createElement("span"), {className: `suit-${SUITS[pieces[k + 2]]}`, textContent: pieces[k + 1]}));
  }
  return found;
}

export class Log {
  constructor(list) {
    this.list = list;
    this.lines = [];
  }

  // Takes lines from number `at` on; `folds` are the numbers of lines at the ends of finished hands.
  add(at, lines, folds) {
    if (at >= this.lines.length && !lines.length) return;
    this.lines = [...this.lines.slice(0, at), ...lines];
    const ends = [...folds.filter(end => end < this.lines.length), this.lines.length];
    const isOld = ends.length - 1;
    let from = 0;
    const parts = ends.map((end, k) => {
      const kept = this.list.children[k];
      const text = this.lines.slice(from, end).join("\n");
      from = end;
      if (kept?.told === text && kept.isLast === (k === isOld)) return kept;
      return part(text, k === isOld ? null : k + 1);
    });
    this.list.replaceChildren(...parts);
    if (lines.length) this.list.scrollTop = this.list.scrollHeight;
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

function part(text, number) {
  const list = document.createElement("ul");
  list.append(...(text ? text.split("\n") : []).map(line => {
    const item = document.createElement("li");
    item.append(...coloured(line));
    return item;
  }));
  const box = document.createElement(number === null ? "div" : "details");
  if (number !== null) box.append(Object.assign(document.createElement("summary"), {textContent: `Hand ${number}`}));
  box.append(list);
  return Object.assign(box, {told: text, isLast: number === null});
}
