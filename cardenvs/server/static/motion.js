// How tokens move on the picture: they fly from where they were, turn over when they become visible, and are gathered.
const FLIGHT = 280;  // milliseconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Where each visible token lies, in units of the picture, with what it looks like.
export function places(parts) {
  const toPicture = parts.getScreenCTM()?.inverse(), found = new Map();
  if (!toPicture) return found;
  for (const token of parts.querySelectorAll("[data-token]")) {
    const box = token.getBoundingClientRect();
    found.set(token.dataset.token, {at: new DOMPoint(box.x, box.y).matrixTransform(toPicture), token});
  }
  return found;
}

// Moves tokens from where they were `before`. `from`: the player who has acted; `to`: who gathers what has left.
export function move(parts, before, from, to) {
  if (still.matches || !before.size) return;
  const after = places(parts), source = middleOf(parts, from), goal = middleOf(parts, to);
  for (const [id, {at, token}] of after) {
    const old = before.get(id)?.at, start = old ?? source;
    if (!start || Math.abs(start.x - at.x) + Math.abs(start.y - at.y) < 6) continue;
    const by = `translate(${start.x - at.x}px,${start.y - at.y}px)`;
    const frames = old ? [{transform: by}, {transform: "none"}] : [{transform: `${by} scale(.4)`, opacity: 0.2}, {transform: "none", opacity: 1}];
    token.animate(frames, {duration: FLIGHT, easing: "ease-out"});
  }
  if (!goal) return;
  for (const [id, {at, token}] of before) {
    if (after.has(id) || token.closest("[data-slot]")) continue;
    const ghost = document.createElementNS("http://www.w3.org/2000/svg", "g");
    ghost.setAttribute("class", "leaving");
    ghost.innerHTML = token.innerHTML;
    parts.append(ghost);
    const box = ghost.getBBox(), by = `translate(${at.x - box.x}px,${at.y - box.y}px)`, end = `translate(${goal.x - box.x}px,${goal.y - box.y}px) scale(.5)`;
    ghost.animate([{transform: by, opacity: 1}, {transform: end, opacity: 0}], {duration: FLIGHT, easing: "ease-in"}).onfinish = () => ghost.remove();
  }
}

function middleOf(parts, player) {
  const seat = parts.querySelector(`[data-seat="${player}"]`), toPicture = parts.getScreenCTM()?.inverse();
  if (!seat || !toPicture) return null;
  const box = seat.getBoundingClientRect();
  return new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(toPicture);
}
