#!/usr/bin/env node
/**
 * Where the process begins, and the only file that runs an effect.
 */
import { enableCompileCache } from "node:module"

// Node keeps what it compiles, which halves the processor time of the next start. It has to be told before anything else
// is loaded.
enableCompileCache()

void import("./cli/Usher.ts").then(({ program, runMain }) => runMain(program))
