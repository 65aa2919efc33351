// The worker of a page: Python, and in it the rules of the game and the agents.
importScripts("../pyodide/pyodide.js");

const FOLDER = new URL("../", location), LIBRARIES = "/lib/python3.12/site-packages";
let table = null;

const file = async path => {
  const answer = await fetch(new URL(path, FOLDER));
  if (!answer.ok) throw new Error(`${path} cannot be loaded: the web server answers ${answer.status}`);
  return answer.arrayBuffer();
};

// Starts Python from the memory of one that has started before, which saves seconds.
async function start() {
  const shared = ["numpy", "cardenvs"].map(packed);
  const memory = new Blob([await file("pyodide/snapshot.bin")]).stream().pipeThrough(new DecompressionStream("gzip"));
  const python = await loadPyodide({indexURL: new URL("pyodide/", FOLDER).href, _loadSnapshot: await new Response(memory).arrayBuffer()});
  for (const one of shared) unpack(python, await one);
  return python;
}

const packed = name => file(`python/${name}.zip`);
const unpack = (python, archive) => python.unpackArchive(archive, "zip", {extractDir: LIBRARIES});
const python = start();

// Returns the module that plays a game.
async function tables(game) {
  const own = packed(game);
  unpack(await python, await own);
  return (await python).pyimport("cardenvs.browser.tables");
}

async function open({kept, narrow}) {
  const tell = is => text => postMessage({is, text});
  const data = JSON.parse(kept);
  const {OpenTable} = await tables(data.request?.game ?? data.game);
  table = OpenTable(kept, tell("kept"), tell("message"), tell("failed"));
  postMessage({is: "opened"});
  table.connect(narrow);
}

async function draw({replay, notes}) {
  const {replay_page} = await tables(JSON.parse(replay).game);
  postMessage({is: "drawn", text: replay_page(replay, notes)});
}

// An error of Python ends with its message, after the names of the module and the class. Errors of cardenvs are answers.
function reason(error) {
  const last = String(error.message ?? error).trim().split("\n").pop();
  if (!last.startsWith("cardenvs.")) console.error(error);
  return last.replace(/^[\w.]+: /, "");
}

onmessage = async ({data}) => {
  try {
    if (data.do === "open") await open(data);
    else if (data.do === "tell") table.receive(data.text);
    else await draw(data);
  } catch (error) {
    postMessage({is: "failed", text: reason(error)});
  }
};
