import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { heapBytes, watchEventLoop } from "../../../bench/setup/Inspector.ts"
import { freePort, type Started, start, untilReady } from "../../../bench/setup/Processes.ts"

const directory = mkdtempSync(join(tmpdir(), "bench-inspector-"))
const keptMegabytes = 64
const blockedMillis = 150
/** Keeps memory, and its event loop from turning for a while, once a second. */
const program = `
  console.log("begun")
  globalThis.kept = Buffer.alloc(${keptMegabytes} * 2 ** 20, 1)
  setInterval(() => { const from = performance.now(); while (performance.now() - from < ${blockedMillis}); }, 1000)`

let watched: Started
let port: number

beforeAll(async () => {
  port = await freePort()
  watched = start({
    name: "watched",
    command: process.execPath,
    arguments: [`--inspect-port=127.0.0.1:${port}`, "-e", program],
    logDirectory: directory
  })
  // A process that has not begun yet would be ended by the signal that opens the inspector.
  await untilReady(watched, async () => readFileSync(watched.log, "utf8").includes("begun"))
})

afterAll(async () => {
  await watched.stop()
  rmSync(directory, { recursive: true, force: true })
})

describe("A look inside a process", () => {
  it("tells how much memory is retained", async () => {
    const megabytes = (await heapBytes(watched.processId, port)) / 2 ** 20
    assert.isAbove(megabytes, keptMegabytes)
    assert.isBelow(megabytes, keptMegabytes + 40)
  })

  it("tells for how long its event loop was kept, by the clock and by the work it did", async () => {
    const end = await watchEventLoop(watched.processId, port)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    const { longestMilliseconds, longestWorkMilliseconds } = await end()
    assert.isAtLeast(longestMilliseconds, blockedMillis)
    // The rest of the time the machine may have given to others.
    assert.isAbove(longestWorkMilliseconds, blockedMillis / 20)
    assert.isAtMost(longestWorkMilliseconds, longestMilliseconds + 5)
  })
})
