import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { ServerUnderTest } from "../e2e/support/ServerUnderTest.ts"
await using server = await ServerUnderTest.make({ settings: process.env.PROF ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof/s" } : {} })
await server.start()
const pid = (server as any).process.id as number
const cpu = (p: number | string) => { try { const f = readFileSync(`/proc/${p}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(f[11]) + Number(f[12])) * 10 } catch { return 0 } }
const backends = () => execFileSync("psql", [server.database.url!, "-Atc", "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"], { encoding: "utf8" }).trim().split("\n")
const keys = await server.createOrganization()
const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${server.adminUrl}/api${path}`, { method, headers: { authorization: `Bearer ${keys.testSecretKey}`, "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) })
  return JSON.parse(await response.text())
}
await ask("PUT", "/test-clock", { frozenAt: "2033-01-01T00:00:00Z" })
const { id: experienceId } = await ask("POST", "/experiences", { name: "Drop" })
const { id: sequenceId } = await ask("POST", "/sequences", { experienceId, name: "Sale" })
const ids: string[] = []; for (let i = 0; i < 6; i++) { const q = await ask("POST", "/queues", { sequenceId, name: "Line" + i }); if (!q.id) console.log(q); ids.push(q.id) }
const run = async (n: number, f: () => Promise<unknown>) => { for (let i = 0; i < n; i++) await f() }
const xacts = () => Number(execFileSync("psql", [server.database.url!, "-Atc", "select pg_stat_clear_snapshot(), xact_commit+xact_rollback from pg_stat_database where datname = current_database()"], { encoding: "utf8" }).trim().split("|")[1])
const measured = async (name: string, n: number, f: () => Promise<unknown>) => {
  await run(50, f)
  const bs = backends(); const a = [performance.now(), cpu(pid), bs.reduce((s, b) => s + cpu(b), 0)]
  const x = xacts()
  await run(n, f)
  const b = [performance.now(), cpu(pid), bs.reduce((s, b) => s + cpu(b), 0)]
  console.log(name, "wall", ((b[0]! - a[0]!) / n).toFixed(1), "server cpu", ((b[1]! - a[1]!) / n).toFixed(1), "pg cpu", ((b[2]! - a[2]!) / n).toFixed(1), "xacts", (xacts() - x) / n)
}
const history = `/distributions/${ids[0]}/history?first=100`
await measured("advance", 500, () => ask("POST", "/test-clock/advance", { by: 1, waitSeconds: 10 }))
if (!process.env.PROF) await measured("get", 500, () => ask("GET", "/test-clock"))
if (!process.env.PROF) await measured("history", 500, () => ask("GET", history))
if (!process.env.PROF) await measured("list", 500, () => ask("GET", `/distributions?experienceId=${experienceId}&first=100`))
await server.terminate()
