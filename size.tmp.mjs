import { build } from "esbuild"; import { gzipSync } from "node:zlib"
for (const f of ["fetchGate","nodeGate"]) { const r = await build({entryPoints:[`/work/wt/safe/src/client/${f}.ts`],bundle:true,minify:true,format:"esm",write:false,platform:"neutral",external:["node:*"]}); console.log(f, gzipSync(r.outputFiles[0].contents,{level:9}).length) }
