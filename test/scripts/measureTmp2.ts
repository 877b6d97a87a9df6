import { ServerUnderTest } from "../e2e/support/ServerUnderTest.ts"
await using server = await ServerUnderTest.make({ settings: process.env.PROF ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof/s" } : {} })
await server.start(); (server as any).process.child.stderr.pipe(process.stderr)
const keys = await server.createOrganization()
const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${server.adminUrl}/api${path}`, { method, headers: { authorization: `Bearer ${keys.testSecretKey}`, "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) })
  return JSON.parse(await response.text())
}
await ask("PUT", "/test-clock", { frozenAt: "2033-01-01T00:00:00Z" })
const { id: experienceId } = await ask("POST", "/experiences", { name: "Drop" })
const { id: sequenceId } = await ask("POST", "/sequences", { experienceId, name: "Sale" })
for (let i = 0; i < 6; i++) await ask("POST", "/queues", { sequenceId, name: "Line" })
const totals = { post: 0, polls: 0, wait: 0 }
for (let i = 0; i < 520; i++) {
  if (i === 20) Object.assign(totals, { post: 0, polls: 0, wait: 0 })
  const a = performance.now()
  await ask("POST", "/test-clock/advance", { by: 1, waitSeconds: 10 })
  const b = performance.now()
  totals.post += b - a
  for (;;) { break; const c = await ask("GET", "/test-clock"); totals.polls++; if (c.status === "READY") break; await new Promise((r) => setTimeout(r, 1)) }
  totals.wait += performance.now() - b
}
console.log("per step", totals.post / 500, "ms post", totals.wait / 500, "ms wait", totals.polls / 500, "polls")
let t = performance.now(); for (let i = 0; i < 100; i++) await ask("GET", "/test-clock"); console.log("GET", (performance.now() - t) / 500)
await server.terminate()
