"use strict";
/* Runs Python. The first message has its parts; every other one is a job, or files to write. */
let python;
self.importScripts = undefined; // Pyodide, which follows, would try whether it can load scripts; the page forbids it

const unpacked = async (blob) =>
  new Uint8Array(await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());

async function start({ wasm, asm, library, packages, version, lock }) {
  const own = { "pyodide.asm.wasm": [await unpacked(wasm), "application/wasm"], "python_stdlib.zip": [library, "application/zip"] };
  self.fetch = async (address) => {
    const name = String(address.url ?? address).split("/").pop();
    if (!(name in own)) throw new TypeError(`${name} is no part of this page`);
    return new Response(own[name][0], { headers: { "content-type": own[name][1] } });
  };
  const code = URL.createObjectURL(new Blob([await unpacked(asm)], { type: "text/javascript" }));
  const { default: createPyodideModule } = await import(code);
  const nowhere = "https://page.invalid/";
  python = await loadPyodide({
    indexURL: nowhere, packageBaseUrl: nowhere, stdLibURL: `${nowhere}python_stdlib.zip`, lockFileContents: lock, createPyodideModule,
  });
  python.unpackArchive(await packages.arrayBuffer(), "zip", { extractDir: `/lib/python${version}/site-packages` });
  for (const folder of ["/input", "/input/gold", "/input/predicted"]) python.FS.mkdir(folder);
  python.FS.chdir("/input");
  countReads();
  python.runPython("from clueval.browser import job");
}

/* Tells the page how much of the files has been read. */
let reads = new Map(), bytes = 0, told = 0;
function countReads() {
  const { FS } = python, read = FS.read;
  FS.read = (stream, ...where) => {
    const length = read.call(FS, stream, ...where);
    if (stream.path.startsWith("/input/")) {
      const before = reads.get(stream.path) ?? 0, now = Math.min(before + length, stream.node.usedBytes);
      reads.set(stream.path, now);
      bytes += now - before;
      if (performance.now() - told > 200) tellReads();
    }
    return length;
  };
}

function tellReads() {
  told = performance.now();
  postMessage({ read: { bytes, files: reads.size } });
}

async function write({ side, files }) {
  python.runPython(`import shutil; shutil.rmtree("/input/${side}")`);
  python.FS.mkdirTree(`/input/${side}`);
  for (const { name, file } of files) {
    const path = `/input/${side}/${name}`;
    python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    python.FS.writeFile(path, new Uint8Array(await file.arrayBuffer()), { canOwn: true });
  }
}

function job({ name, asked }) {
  reads = new Map();
  bytes = 0;
  const done = JSON.parse(python.globals.get("job")(name, JSON.stringify(asked)));
  if (!done.outputs) return done;
  tellReads();
  const written = done.outputs.map((output) => [output, new Blob([python.FS.readFile(`/output/${output}`)])]);
  return { ...done, written };
}

let last = Promise.resolve();
self.onmessage = ({ data: { number, kind, asked } }) => {
  last = last.then(async () => {
    try {
      postMessage({ number, done: await { start, write, job }[kind](asked) });
    } catch (error) {
      postMessage({ number, failed: String(error?.message ?? error) });
    }
  });
};
