// What an agent noted about a choice, for people: values and probabilities as bars, anything else in words.
const made = (tag, className, ...children) => {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
};
const short = value => `${value > 0 ? "+" : ""}${Number(value.toFixed(2))}`;
const titled = name => `${name.replaceAll("_", " ")}`;

export function notesOf(notes) {
  const {search, probabilities, ...rest} = notes ?? {};
  const found = [];
  if (search?.values) {
    found.push(made("p", "cv-note", `Mean return of each move in ${search.worlds ?? search.simulations ?? "many"} worlds that fit what the player knows:`));
    found.push(bars(search.values.map(([label, value]) => [label, value, short(value)])));
  } else if (search) rest.search = search;
  if (probabilities) {
    found.push(made("p", "cv-note", "How likely it is to choose each move:"));
    found.push(bars(probabilities.map(([label, share]) => [label, share, `${Math.round(100 * share)}%`]), 0));
  }
  if (Object.keys(rest).length) found.push(words(rest));
  return found;
}

// Bars from the lowest value, or from `low`, to the highest.
function bars(rows, low = Math.min(...rows.map(row => row[1]))) {
  const high = Math.max(...rows.map(row => row[1]));
  const best = rows.reduce((one, other) => (other[1] > one[1] ? other : one), rows[0]);
  return made("div", "cv-bars", ...rows.map(row => {
    const meter = made("meter", "", "");
    Object.assign(meter, {min: 0, max: 1, value: high > low ? Math.max(0.02, (row[1] - low) / (high - low)) : 1});
    meter.setAttribute("aria-label", row[0]);
    return made("div", row === best ? "cv-best" : "", made("span", "", row[0]), meter, made("b", "", row[2]));
  }));
}

function words(value) {
  if (Array.isArray(value) && value.every(one => one === null || typeof one !== "object")) return made("p", "cv-value", value.join(", "));
  if (value === null || typeof value !== "object") return made("p", "cv-value", value === true ? "yes" : value === false ? "no" : value === null ? "none" : String(value));
  const entries = Array.isArray(value) ? value.map((one, k) => [String(k + 1), one]) : Object.entries(value);
  return made("dl", "cv-words", ...entries.flatMap(([name, one]) => [made("dt", "", titled(name)), made("dd", "", words(one))]));
}
