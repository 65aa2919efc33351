// Markdown of the rules as elements: headings, paragraphs, lists, tables, bold, italics and code.
const make = (tag, ...children) => {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
};
const INLINE = /\*\*(.+?)\*\*|\*(.+?)\*|`(.+?)`|\[(.+?)\]\([^)]*\)/s;

export function rendered(text) {
  return text.trim().split(/\n\s*\n/).map(block);
}

function block(text) {
  const lines = text.split("\n"), heading = /^(#+) (.*)$/s.exec(text);
  if (heading) return make(`h${Math.min(4, heading[1].length + 1)}`, ...inline(heading[2]));
  if (lines[0].startsWith("|")) return table(lines);
  if (/^[-*] /.test(lines[0])) return make("ul", ...text.split(/\n(?=[-*] )/).map(item => make("li", ...inline(item.slice(2)))));
  return make("p", ...inline(text));
}

function table(lines) {
  const rows = lines.filter(line => !/^\|[\s:|-]+\|$/.test(line)).map(line => line.trim().slice(1, -1).split("|"));
  return make("table", ...rows.map((cells, k) => make("tr", ...cells.map(cell => make(k ? "td" : "th", ...inline(cell.trim()))))));
}

function inline(text) {
  const found = INLINE.exec(text);
  if (!found) return [text];
  const [, bold, italic, code, linked] = found;
  const made = bold ? make("strong", ...inline(bold)) : italic ? make("em", ...inline(italic)) : code ? make("code", code) : make("span", ...inline(linked));
  return [text.slice(0, found.index), made, ...inline(text.slice(found.index + found[0].length))];
}
