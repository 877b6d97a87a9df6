import { build } from "esbuild"
import { gzipSync } from "node:zlib"
const { outputFiles } = await build({ entryPoints:["src/pages/browser/room.ts"], bundle:true, minify:true, write:false, format:"iife", target:"es2020", charset:"utf8", legalComments:"none" })
const t = outputFiles[0].text.trim()
const z = (s) => gzipSync(s,{level:9}).length
console.log(z(t), t.length)
if (process.argv[2]) console.log(t)
const r = await build({ entryPoints:["src/pages/browser/room.ts"], bundle:true, minify:true, write:false, format:"iife", target:"es2020", charset:"utf8" })
console.log("es2020", z(r.outputFiles[0].text))
