#!/usr/bin/env node
/**
 * Where the process begins, and the only file that runs an effect.
 */
import { enableCompileCache, registerHooks } from "node:module"
import { setFlagsFromString } from "node:v8"

// Node keeps what it compiles, which halves the processor time of the next start. It has to be told before anything else
// is loaded.
enableCompileCache()

// Otherwise V8 soon creates parts of each request in the old generation, where they keep the whole request until the next
// full collection. Decision 74 has the figures. It has to be told before the first function is optimized.
setFlagsFromString("--no-allocation-site-pretenuring")

// Relative imports in these folders name files exactly, so Node need not search for them. Decision 119 has the figures.
const exactImports = [
  { folder: new URL(".", import.meta.url).href, format: "module-typescript" },
  { folder: new URL(".", import.meta.resolve("effect")).href, format: "module" }
]
registerHooks({
  resolve: (specifier, context, resolve) => {
    const { parentURL } = context
    const isRelative = specifier.startsWith(".")
    const exact = isRelative ? exactImports.find(({ folder }) => parentURL?.startsWith(folder)) : undefined
    if (exact === undefined) return resolve(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: exact.format, shortCircuit: true }
  }
})

void import("./cli/Usher.ts").then(({ program, runMain }) => runMain(program))
