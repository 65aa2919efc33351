// Plays back a recorded game, whose page the worker draws. It gets an origin of its own: a replay file may come from anybody.
import {recorded, tableLink, work} from "./backend.js";

const $ = id => document.getElementById(id);
const say = text => { $("prompt").textContent = text; };
const {replay, moves} = recorded(tableLink());

function show({is, text}) {
  if (is === "failed") return say(text);
  say("");
  $("game").hidden = false;
  $("game").srcdoc = text;
}

if (replay) {
  const notes = Object.fromEntries(moves.map(([, note], ply) => [ply, note]).filter(([, note]) => note));
  work(show).postMessage({do: "draw", replay, notes: JSON.stringify(notes)});
} else say("This browser keeps no recorded game of this link.");
