import { build } from "esbuild"
import { gzipSync } from "node:zlib"
const apart = { name: "apart", setup: (b) => b.onResolve({ filter: /\/(challenge|alive)\.ts$/ }, ({ kind, path }) => kind === "dynamic-import" ? { path: path.replace(/ts$/, "js"), external: true } : undefined) }
for (const [name, target, format, plugins, budget] of [["client/client.ts","es2022","esm",[apart],5120],["client/embed.ts","es2022","esm",[apart],7168],["client/alive.ts","es2022","esm",[apart],1536],["pages/browser/room.ts","es2020","iife",[],0],["client/grant.ts","es2022","esm",[],2048]]) {
  const { outputFiles } = await build({ entryPoints:["src/"+name], bundle:true, minify:true, write:false, format, target, plugins, charset:"utf8", legalComments:"none" })
  console.log(name, gzipSync(outputFiles[0].text.trim(),{level:9}).length, budget)
}
