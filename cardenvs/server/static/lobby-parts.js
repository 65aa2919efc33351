// Parts that the scripts of the lobby share: elements, requests, words for seats and times.
import {at, get} from "./backend.js";

export const $ = id => document.getElementById(id);

export function make(tag, fields = {}, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

export async function ask(path, body, raw) {
  const sent = body === undefined ? {} : {method: "POST", headers: {"content-type": "application/json"}, body: raw ? body : JSON.stringify(body)};
  const answer = await get(path, sent);
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.error?.message ?? `the server answers ${answer.status}`);
  return data;
}

export function say(id, text) {
  $(id).textContent = text;
  $(id).hidden = !text;
}

export const pictureOf = game => at(`/api/games/${encodeURIComponent(game)}/picture`);
export const rating = agent => agent?.rating ? agent.rating.toLocaleString("en") : "";
export const labelOf = (game, name) => name === "person" ? "a person" : game?.opponents.find(one => one.name === name)?.label ?? name;

// "search, 2 random movers": equal names are counted.
export function counted(labels) {
  const counts = new Map();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].map(([label, count]) => count > 1 ? `${count} × ${label}` : label).join(", ");
}

export function ago(seconds) {
  const minutes = Math.floor((Date.now() / 1000 - seconds) / 60);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : hours < 48 ? "yesterday" : `${Math.floor(hours / 24)} days ago`;
}
