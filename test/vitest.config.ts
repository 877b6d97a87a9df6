import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: ".",
    include: ["test/**/*.test.ts"],
    // Most of the time is spent waiting for databases and for processes that start.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
