import { build } from "esbuild"
const apart = { name: "apart", setup: (b) => b.onResolve({ filter: /\/(challenge|alive)\.ts$/ }, ({ kind, path }) => kind === "dynamic-import" ? { path: path.replace(/ts$/, "js"), external: true } : undefined) }
const { outputFiles } = await build({ entryPoints:["src/client/client.ts"], bundle:true, minify:true, write:false, format:"esm", target:"es2022", plugins:[apart], charset:"utf8", legalComments:"none" })
console.log(outputFiles[0].text)
