#!/usr/bin/env node
/**
 * Where the process begins, and the only file that runs an effect.
 */
import { enableCompileCache, registerHooks, type ResolveFnOutput } from "node:module"
import { setFlagsFromString } from "node:v8"

// Node keeps what it compiles, which halves the processor time of the next start. It has to be told before anything else
// is loaded.
enableCompileCache()

// Otherwise V8 soon creates parts of each request in the old generation, where they keep the whole request until the next
// full collection. Decision 74 has the figures. It has to be told before the first function is optimized.
setFlagsFromString("--no-allocation-site-pretenuring")

// Relative imports in these folders name files exactly, so Node need not search for them. A package is searched once for
// all files of the program. Decision 119 has the figures.
const ownFiles = { folder: new URL(".", import.meta.url).href, format: "module-typescript" }
const exactImports = [ownFiles, { folder: new URL(".", import.meta.resolve("effect")).href, format: "module" }]
const packages = new Map<string, ResolveFnOutput>()
registerHooks({
  resolve: (specifier, context, resolve) => {
    const { parentURL } = context
    if (specifier.startsWith(".")) {
      const exact = exactImports.find(({ folder }) => parentURL?.startsWith(folder))
      if (exact === undefined || specifier.endsWith(".json")) return resolve(specifier, context)
      return { url: new URL(specifier, parentURL).href, format: exact.format, shortCircuit: true }
    }
    if (!parentURL?.startsWith(ownFiles.folder)) return resolve(specifier, context)
    const found = packages.get(specifier) ?? { ...resolve(specifier, context), shortCircuit: true }
    packages.set(specifier, found)
    return found
  }
})

void import("./cli/Usher.ts").then(({ program, runMain }) => runMain(program))
