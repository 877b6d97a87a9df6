import { build } from "esbuild"
import { gzipSync } from "node:zlib"
const apart = { name: "apart", setup: (b) => b.onResolve({ filter: /\/(challenge|alive)\.ts$/ }, ({ kind, path }) => kind === "dynamic-import" ? { path: path.replace(/ts$/, "js"), external: true } : undefined) }
const { outputFiles } = await build({ entryPoints:["src/client/client.ts"], bundle:true, minify:true, write:false, format:"esm", target:"es2022", plugins:[apart], charset:"utf8", legalComments:"none" })
const t = outputFiles[0].text.trim()
const z = (s) => gzipSync(s,{level:9}).length
const base = z(t)
console.log(base, t.length)
// cost of each statement-ish chunk: split by ';' or '},' at top-level is hard; try cutting regex-found functions
const parts = t.split(/(?<=;)(?=var |async function |function )/)
for (const p of parts) console.log(base - z(t.replace(p, "")), p.length, p.slice(0, 60).replace(/\n/g," "))
