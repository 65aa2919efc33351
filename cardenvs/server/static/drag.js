// Drag and drop of tokens, with a mouse, a pen or a finger.
const LEAST = 8;  // pixels that a pointer moves before it drags

// `picture`: the drawing; `begin(token)` returns the ids of the piles on which the token may be dropped, or null if it
// cannot be moved; `drop(token, pile)` is told where it was dropped: the id of a pile, or "" for the table.
export function dragging(picture, begin, drop) {
  let held = null;

  picture.addEventListener("pointerdown", event => {
    const token = event.target.closest("[data-token][role=button]");
    if (event.button !== 0 || !token) return;
    held = {token, id: event.pointerId, x: event.clientX, y: event.clientY, ghost: null, targets: null};
  });
  picture.addEventListener("pointermove", event => {
    if (held === null || event.pointerId !== held.id) return;
    const by = [event.clientX - held.x, event.clientY - held.y];
    if (held.ghost === null) {
      if (Math.hypot(...by) < LEAST) return;
      held.targets = begin(held.token.dataset.token);
      if (held.targets === null) { held = null; return; }
      picture.setPointerCapture(event.pointerId);
      lift();
    }
    held.ghost.style.transform = `translate(${by[0]}px,${by[1]}px)`;
    aim(event);
  });
  for (const name of ["pointerup", "pointercancel"]) picture.addEventListener(name, event => {
    if (held === null || event.pointerId !== held.id) return;
    const {token, ghost} = held, over = ghost === null ? null : aim(event);
    if (ghost !== null) {
      ghost.remove();
      token.classList.remove("lifted");
      clearMarks();
      picture.addEventListener("click", stop, {capture: true, once: true});  // the click that ends a drag is none
      setTimeout(() => picture.removeEventListener("click", stop, {capture: true}), 0);
      if (name === "pointerup" && over !== null) drop(token.dataset.token, over);
    }
    held = null;
  });

  const stop = event => { event.stopPropagation(); event.preventDefault(); };

  // A copy of the token that follows the pointer, above everything else.
  function lift() {
    const box = held.token.getBoundingClientRect(), shape = held.token.getBBox(), matrix = held.token.getCTM();
    const ghost = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    ghost.setAttribute("class", `${picture.getAttribute("class")} ghost`);
    ghost.setAttribute("viewBox", `${shape.x - 2} ${shape.y - 2} ${shape.width + 4} ${shape.height + 4}`);
    ghost.setAttribute("aria-hidden", "true");
    const scale = Math.hypot(matrix.a, matrix.b);
    Object.assign(ghost.style, {left: `${box.x}px`, top: `${box.y}px`, width: `${shape.width * scale}px`, height: `${shape.height * scale}px`});
    ghost.innerHTML = held.token.innerHTML;
    document.body.append(ghost);
    held.ghost = ghost;
    held.token.classList.add("lifted");
    picture.classList.add("dragging");
    for (const id of held.targets) place(id)?.classList.add("target");
    if (!held.targets.some(place)) picture.append(landing());
  }

  // An outline in the middle of the table, where no pile marks the place yet.
  function landing() {
    const {width, height} = picture.viewBox.baseVal, rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({class: "landing", x: width / 2 - 40, y: height * 0.42 - 50, width: 80, height: 104, rx: 8})) rect.setAttribute(name, value);
    return rect;
  }

  const place = id => picture.querySelector(`[data-pile="${CSS.escape(id)}"]`);

  // What the pointer is over: a pile of the targets, "" for the table outside the hand, or null.
  function aim(event) {
    for (const marked of picture.querySelectorAll(".aimed")) marked.classList.remove("aimed");
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    for (const id of held.targets) {
      const pile = place(id);
      if (pile && under.some(element => pile.contains(element))) { pile.classList.add("aimed"); return id; }
    }
    const home = held.token.closest("[data-pile]"), frame = picture.getBoundingClientRect();
    const isInside = event.clientX > frame.left && event.clientX < frame.right && event.clientY > frame.top && event.clientY < frame.bottom;
    if (!isInside || (home && under.some(element => home.contains(element)))) return null;
    return "";
  }

  function clearMarks() {
    picture.classList.remove("dragging");
    picture.querySelector(".landing")?.remove();
    for (const marked of picture.querySelectorAll(".aimed, .target")) marked.classList.remove("aimed", "target");
  }
}
