#!/usr/bin/env node
/**
 * Where the process begins, and the only file that runs an effect.
 */
import { enableCompileCache } from "node:module"
import { setFlagsFromString } from "node:v8"

// Node keeps what it compiles, which halves the processor time of the next start. It has to be told before anything else
// is loaded.
enableCompileCache()

// Otherwise V8 soon creates parts of each request in the old generation, where they keep the whole request until the next
// full collection. Decision 74 has the figures. It has to be told before the first function is optimized.
setFlagsFromString("--no-allocation-site-pretenuring")

void import("./cli/Usher.ts").then(({ program, runMain }) => runMain(program))
