// The links of the tables at which this browser has a seat or which it opened, latest first.
const NAME = "cardenvs-tables", MOST = 50;

export function kept() {
  try {
    const links = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return Array.isArray(links) ? links.filter(link => typeof link === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

const store = links => localStorage.setItem(NAME, JSON.stringify(links.slice(0, MOST)));

export const keep = link => store([link, ...kept().filter(one => one !== link)]);
export const forget = links => store(kept().filter(one => !links.includes(one)));
