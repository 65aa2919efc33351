// Texts in which small pictures stand for words: "2 eggs" becomes 2 and an egg. The drawings are symbols on the page.
const NEST = /\b(bowl|cavity|ground|platform|star) nest\b/g;
const BESIDE = /^(\d+|\+|·|or|of|any|for|no|nest|cm)$/;  // words that may stand between those with pictures
const IN_SENTENCES = /^(egg|fish|fruit|seed|rodent|invertebrate|forest|grassland|wetland|\w+_nest)$/;

const wordsOf = text => text.replace(NEST, "$1_nest").match(/[\w+·]+|[^\w\s]/g) ?? [];

function symbolOf(word) {
  for (const name of [word, word.replace(/s$/, "")]) if (document.getElementById(`cv-pic-${name}`)) return name;
  return null;
}

function picture(name, word) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "pic");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", word.replace("_", " "));
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#cv-pic-${name}`);
  svg.append(use);
  return svg;
}

// Returns a line of a card as an element: in pictures, if all its words have some, or else as a sentence with a few.
export function pictured(text) {
  const line = document.createElement("p"), words = wordsOf(text).filter(word => word !== ",");
  const isAll = words.some(symbolOf) && words.every(word => BESIDE.test(word) || symbolOf(word));
  if (isAll) {
    line.className = "pics";
    line.append(...words.filter(word => word !== "for").map(word => (symbolOf(word) ? picture(symbolOf(word), word) : Object.assign(document.createElement("span"), {textContent: word}))));
    return line;
  }
  for (const part of text.replace(NEST, "$1_nest").split(/(\w+)/)) {
    const name = symbolOf(part);
    line.append(name && IN_SENTENCES.test(name) ? picture(name, part) : part);
  }
  return line;
}
