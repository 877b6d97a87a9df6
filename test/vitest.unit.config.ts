/** The tests that need neither a process nor a database of their own. */
import { defineConfig } from "vitest/config"
import all from "./vitest.config.ts"

const others = [
  "test/{auth,cli,client,engine,http,pages,store,workers}/**/*.test.ts",
  "test/e2e/{drops,faults}/**/*.test.ts",
  "test/bench/{load/LoadGenerator,load/Streams,programs/Programs,setup/Inspector}.test.ts"
]

const { projects: _, ...test } = all.test!

export default defineConfig({ test: { ...test, include: ["test/**/*.test.ts"], exclude: others } })
