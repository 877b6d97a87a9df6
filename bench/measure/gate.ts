/**
 * Measures `usher gate` beside nginx: processor time of a check with a valid cookie, latency through nginx, and memory
 * over time. In turns with a check of the same cookies that is written with Fastify and jose. Prints JSON.
 *
 *     npm run bench:gate
 *     npm run bench:gate -- --rounds 1 --seconds 5 --visitors 20000 --memory-seconds 600
 *
 * `--visitors`: as many cookies come in rotation. Needs Linux's `/proc`, and nginx for the latency.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job } from "../load/Job.ts"
import { LoadGenerator } from "../load/LoadGenerator.ts"
import { readResidentBytes } from "../load/Processor.ts"
import { mainScript } from "../programs/Usher.ts"
import { median } from "../report/Figures.ts"
import * as Progress from "../report/Progress.ts"
import { openGateUpstream } from "../setup/GateUpstream.ts"
import { freePort, start, type Started, untilReady } from "../setup/Processes.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    visitors: { type: "string", default: "20000" },
    "memory-seconds": { type: "string", default: "0" }
  }
})
const [rounds, seconds, visitors] = [Number(values.rounds), Number(values.seconds), Number(values.visitors)]
const memorySeconds = Number(values["memory-seconds"])

const connections = 32
/** The share of the capacity at which latency is measured. */
const share = 0.5

/** What nginx sends. */
const question =
  "GET /auth-request HTTP/1.1\r\nX-Original-Method: GET\r\nX-Original-URI: /checkout/pay?step=2\r\n" +
  "X-Forwarded-Host: shop.example\r\nX-Real-IP: 127.0.0.1"

const folder = mkdtempSync(join(tmpdir(), "usher-bench-gate-"))
chmodSync(folder, 0o755)
const upstream = await openGateUpstream()
const grants = join(folder, "grants")
Progress.show("signing grants")
upstream.writeGrants(grants, visitors)
// An open loop needs a cookie for each arrival.
const arrivals = join(folder, "arrivals")
const generator = new LoadGenerator()
const hasNginx = spawnSync("nginx", ["-v"]).status === 0

interface Program {
  readonly name: string
  readonly port: number
  readonly started: Started
}

const programs = [await aGate(), await aPeer()]
const results: { [program: string]: Figures } = {}
for (const { name } of programs) results[name] = { perSecond: [], micros: [], p50: [], p99: [], p99Alone: [] }

interface Figures {
  readonly perSecond: Array<number>
  /** Microseconds of processor a check. */
  readonly micros: Array<number>
  /** Milliseconds through nginx, and of nginx and the shop alone. */
  readonly p50: Array<number>
  readonly p99: Array<number>
  readonly p99Alone: Array<number>
}

try {
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) await measure(program, results[program.name]!)
  }
  const medians = Object.entries(results).map(([name, figures]) => [name, mediansOf(figures)] as const)
  const memory = memorySeconds > 0 ? await memoryOf(programs[0]!) : undefined
  console.log(
    JSON.stringify({ visitors, rounds, seconds, ...Object.fromEntries(medians), ...(memory && { memory }) }, null, 2)
  )
} finally {
  generator.stop()
  for (const { started } of programs) await started.stop()
  upstream.close()
  rmSync(folder, { recursive: true, force: true })
}

function mediansOf(figures: Figures) {
  const entries = Object.entries(figures).filter(([, all]) => all.length > 0)
  return Object.fromEntries(
    entries.map(([name, all]: [string, Array<number>]) => [name, Number(median(all).toFixed(3))])
  )
}

async function aGate(): Promise<Program> {
  const port = await freePort()
  const flags = ["--url", upstream.url, "--gate", upstream.gateId, "--listen", `127.0.0.1:${port}`]
  return ready("usher gate", port, [mainScript, "gate", ...flags], { USHER_GATE_KEY: "gk_live_bench" })
}

async function aPeer(): Promise<Program> {
  const port = await freePort()
  const script = join(import.meta.dirname, "../peers/forward-auth.ts")
  return ready("fastify-jose", port, [script], {
    PORT: `${port}`,
    COOKIE: upstream.cookie,
    KEY_SET: JSON.stringify(upstream.keySet),
    CLAIMS: JSON.stringify(upstream.claims)
  })
}

async function ready(name: string, port: number, args: ReadonlyArray<string>, environment: { [name: string]: string }) {
  const started = start({ name, command: process.execPath, arguments: args, environment, logDirectory: folder })
  await untilReady(started, async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok, 120)
  return { name, port, started }
}

/** A request of a visitor, around its cookie. */
function requestOf(first: string): { readonly head: string; readonly tail: string } {
  return {
    head: `${first}\r\nHost: shop.example\r\nAccept: text/html\r\nCookie: ${upstream.cookie}=`,
    tail: "\r\n\r\n"
  }
}

function jobFor({
  port,
  name,
  started
}: Program): Omit<Job & { mode: "closed" }, "mode" | "request" | "tokens" | "repeatTokens"> {
  const watched = [{ name, processId: started.processId, withChildren: false }]
  return { host: "127.0.0.1", port, connections, warmupSeconds: 3, seconds, watched }
}

async function measure(program: Program, figures: Figures): Promise<void> {
  Progress.show(`${program.name}: checks`)
  const tokens = { file: grants, from: 0, count: visitors }
  const closed = {
    ...jobFor(program),
    mode: "closed",
    request: requestOf(question),
    tokens,
    repeatTokens: true
  } as const
  const all = await generator.run(closed, [204])
  figures.perSecond.push(all.perSecond)
  figures.micros.push((all.processorSeconds[program.name]! / all.requests) * 1e6)
  if (!hasNginx) return
  Progress.show(`${program.name}: through nginx`)
  const perSecond = Math.floor(Math.min(all.perSecond * share, 2_000))
  const behind = await throughNginx(program, perSecond)
  figures.p50.push(behind.checked.latency.p50 / 1_000)
  figures.p99.push(behind.checked.latency.p99 / 1_000)
  figures.p99Alone.push(behind.alone.latency.p99 / 1_000)
}

/** Visits at a set rate: of a page that is checked, and of one that is not. */
async function throughNginx(program: Program, perSecond: number) {
  const needed = Math.ceil(perSecond * (seconds + 3) * 1.2)
  const lines = readFileSync(grants, "utf8").trimEnd().split("\n")
  writeFileSync(arrivals, Array.from({ length: needed }, (_, index) => `${lines[index % lines.length]}\n`).join(""))
  const { proxy, port } = await nginx(program.port)
  const visit = (path: string) =>
    generator.run({
      ...jobFor({ ...program, port }),
      mode: "open",
      request: requestOf(`GET ${path} HTTP/1.1`),
      tokens: { file: arrivals, from: 0, count: needed },
      perSecond,
      seed: 1
    })
  try {
    return { checked: await visit("/checkout/pay"), alone: await visit("/unchecked") }
  } finally {
    await proxy.stop()
  }
}

/** nginx with the project's configuration, and a shop that is nginx too. */
async function nginx(gatePort: number) {
  const [port, shopPort] = [await freePort(), await freePort()]
  const site = readFileSync(join(import.meta.dirname, "../../src/gates/nginx/shop.conf"), "utf8")
    .replace("listen 8080;", `listen 127.0.0.1:${port};\n  location /unchecked { proxy_pass http://shop; }`)
    .replace("127.0.0.1:3000", `127.0.0.1:${shopPort}`)
    .replace("127.0.0.1:4180", `127.0.0.1:${gatePort}`)
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${folder}/${of};`)
  writeFileSync(join(folder, "shop.conf"), site)
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
    events { worker_connections 4096; }
    http { access_log off; ${temporary.join(" ")} include ${folder}/shop.conf;
      server { listen 127.0.0.1:${shopPort}; keepalive_requests 1000000; return 200 "the shop"; } }`
  )
  const proxy = start({
    name: "nginx",
    command: "nginx",
    arguments: ["-c", join(folder, "nginx.conf")],
    logDirectory: folder
  })
  await untilReady(proxy, async () => (await fetch(`http://127.0.0.1:${port}/unchecked`)).ok)
  return { proxy, port }
}

/** Resident memory in MB, over as many seconds of checks. */
async function memoryOf(program: Program): Promise<ReadonlyArray<number>> {
  const spans = 10
  const found: Array<number> = []
  for (let span = 0; span < spans; span++) {
    Progress.show(`memory: ${span} of ${spans}`)
    const job = { ...jobFor(program), warmupSeconds: 0, seconds: memorySeconds / spans }
    const tokens = { file: grants, from: 0, count: visitors }
    await generator.run({ ...job, mode: "closed", request: requestOf(question), tokens, repeatTokens: true }, [204])
    found.push(Math.round(readResidentBytes(program.started.processId)! / 2 ** 20))
  }
  return found
}
