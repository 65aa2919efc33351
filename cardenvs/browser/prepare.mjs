// Prepares what pages load, with Pyodide in Node: compiled modules, and a started Python. Both save a page seconds.
//
//     node prepare.mjs PYODIDE SOURCES SNAPSHOT
//
// PYODIDE is its folder. Each module in the folder SOURCES is replaced by its bytecode. SNAPSHOT is the file for the
// memory of a Python that has imported what all games need of the standard library.
import {writeFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder, sources, snapshot] = process.argv.slice(2);
const {loadPyodide} = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const start = options => loadPyodide({indexURL: `${folder}/`, ...options});

const COMPILE = `
import pathlib, py_compile
for path in sorted(pathlib.Path("/sources").rglob("*.py")):
    name = "/" + str(path.relative_to("/sources"))
    py_compile.compile(path, path.with_suffix(".pyc"), name, True,
                       invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    path.unlink()
`;
const MODULES = "asyncio, concurrent.futures, contextlib, dataclasses, datetime, enum, fractions, functools, hashlib, importlib.metadata, importlib.resources, inspect, json, logging, pathlib, pickle, platform, random, re, secrets, shutil, subprocess, tempfile, textwrap, threading, traceback, typing, zipfile";

const compiler = await start({});
compiler.FS.mkdir("/sources");
compiler.FS.mount(compiler.FS.filesystems.NODEFS, {root: sources}, "/sources");
compiler.runPython(COMPILE);

const started = await start({_makeSnapshot: true});
started.runPython(`import ${MODULES}`);
writeFileSync(snapshot, started.makeMemorySnapshot());
