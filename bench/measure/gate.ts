/**
 * Measures `usher gate` beside nginx: processor time of a check with a valid cookie, checks a second and latency through
 * nginx, and memory over time. In turns with a check of the same cookies that is written with Fastify and jose, and with
 * LemonLDAP::NG, which speaks FastCGI and so is measured through nginx alone. Prints JSON.
 *
 *     npm run bench:gate
 *     npm run bench:gate -- --rounds 1 --seconds 5 --visitors 20000 --memory-seconds 600
 *
 * `--visitors`: as many cookies come in rotation. Needs Linux's `/proc`, and nginx for all but the first.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Outcome } from "../load/Job.ts"
import { LoadGenerator } from "../load/LoadGenerator.ts"
import { readResidentBytes } from "../load/Processor.ts"
import { lemonldapVersion, startLemonldap } from "../peers/lemonldap.ts"
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
const host = "shop.example"
const checkedPath = "/checkout/pay"

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
const versions = { nginx: nginxVersion(), lemonldap: lemonldapVersion() }
const missing = Object.entries(versions).flatMap(([name, version]) => (version === undefined ? [name] : []))

interface Program {
  readonly name: string
  readonly started: Started
  /** The port at which it answers nginx's question over HTTP. */
  readonly port?: number
  readonly cookie: string
  /** A file with the cookie's values, one a line. */
  readonly values: string
  /** nginx's configuration of the shop, which listens on 8080 before another server on 3000. */
  readonly site: string
}

const programs = [await aGate(), await aPeer()]
if (missing.length === 0) programs.push(await lemonldap())
const results: { [program: string]: Figures } = {}
for (const { name } of programs) results[name] = newFigures()

interface Figures {
  /** Checks a second, and microseconds of processor a check: asked directly, and by nginx. */
  readonly perSecond: Array<number>
  readonly micros: Array<number>
  readonly nginxPerSecond: Array<number>
  readonly nginxMicros: Array<number>
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
  const notInstalled = missing.length > 0 && { notInstalled: missing }
  console.log(
    JSON.stringify(
      {
        visitors,
        rounds,
        seconds,
        versions,
        ...notInstalled,
        ...Object.fromEntries(medians),
        ...(memory && { memory })
      },
      null,
      2
    )
  )
} finally {
  generator.stop()
  for (const { started } of programs) await started.stop()
  upstream.close()
  rmSync(folder, { recursive: true, force: true })
}

function newFigures(): Figures {
  return { perSecond: [], micros: [], nginxPerSecond: [], nginxMicros: [], p50: [], p99: [], p99Alone: [] }
}

function nginxVersion(): string | undefined {
  return /[\d.]+/.exec(spawnSync("nginx", ["-v"], { encoding: "utf8" }).stderr ?? "")?.[0]
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
  const site = readFileSync(join(import.meta.dirname, "../../src/gates/nginx/shop.conf"), "utf8")
  const gateSite = site.replace("127.0.0.1:4180", `127.0.0.1:${port}`)
  return { name, port, started, cookie: upstream.cookie, values: grants, site: gateSite }
}

async function lemonldap(): Promise<Program> {
  Progress.show("writing sessions")
  const { sessions, ...running } = await startLemonldap(folder, host, visitors)
  return { name: "lemonldap", values: sessions, ...running }
}

/** A request of a visitor, around its cookie. */
function requestOf(first: string, { cookie }: Program): { readonly head: string; readonly tail: string } {
  return { head: `${first}\r\nHost: ${host}\r\nAccept: text/html\r\nCookie: ${cookie}=`, tail: "\r\n\r\n" }
}

function jobFor({ name, started }: Program, port: number) {
  // LemonLDAP::NG answers in children.
  const watched = [{ name, processId: started.processId, withChildren: true }]
  return { host: "127.0.0.1", port, connections, warmupSeconds: 3, seconds, watched }
}

/** Each connection asks again once it is answered. */
function closedLoop(program: Program, port: number, first: string): Job & { mode: "closed" } {
  const tokens = { file: program.values, from: 0, count: visitors }
  const request = requestOf(first, program)
  return { ...jobFor(program, port), mode: "closed", request, tokens, repeatTokens: true }
}

async function measure(program: Program, figures: Figures): Promise<void> {
  const microsOf = ({ processorSeconds, requests }: Outcome) => (processorSeconds[program.name]! / requests) * 1e6
  if (program.port !== undefined) {
    Progress.show(`${program.name}: checks`)
    const asked = await generator.run(closedLoop(program, program.port, question), [204])
    figures.perSecond.push(asked.perSecond)
    figures.micros.push(microsOf(asked))
  }
  if (versions.nginx === undefined) return
  Progress.show(`${program.name}: through nginx`)
  const { saturated, checked, alone } = await throughNginx(program)
  figures.nginxPerSecond.push(saturated.perSecond)
  figures.nginxMicros.push(microsOf(saturated))
  figures.p50.push(checked.latency.p50 / 1_000)
  figures.p99.push(checked.latency.p99 / 1_000)
  figures.p99Alone.push(alone.latency.p99 / 1_000)
}

/** Visits of a checked page at full pace, then at a set rate, and as many of a page that is not checked. */
async function throughNginx(program: Program) {
  const { proxy, port } = await nginx(program)
  try {
    const saturated = await generator.run(closedLoop(program, port, `GET ${checkedPath} HTTP/1.1`))
    const perSecond = Math.floor(Math.min(saturated.perSecond * share, 2_000))
    const needed = Math.ceil(perSecond * (seconds + 3) * 1.2)
    const lines = readFileSync(program.values, "utf8").trimEnd().split("\n")
    writeFileSync(arrivals, Array.from({ length: needed }, (_, index) => `${lines[index % lines.length]}\n`).join(""))
    const visit = (path: string) =>
      generator.run({
        ...jobFor(program, port),
        mode: "open",
        request: requestOf(`GET ${path} HTTP/1.1`, program),
        tokens: { file: arrivals, from: 0, count: needed },
        perSecond,
        seed: 1
      })
    return { saturated, checked: await visit(checkedPath), alone: await visit("/unchecked") }
  } finally {
    await proxy.stop()
  }
}

/** nginx with the program's configuration, and a shop that is nginx too. */
async function nginx(program: Program) {
  const [port, shopPort] = [await freePort(), await freePort()]
  const site = program.site
    .replace("listen 8080;", `listen 127.0.0.1:${port};\n  location /unchecked { proxy_pass http://shop; }`)
    .replace("127.0.0.1:3000", `127.0.0.1:${shopPort}`)
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((of) => `${of}_temp_path ${folder}/${of};`)
  writeFileSync(join(folder, "shop.conf"), site)
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
    events { worker_connections 4096; }
    http { access_log off; keepalive_requests 1000000; ${temporary.join(" ")} include ${folder}/shop.conf;
      server { listen 127.0.0.1:${shopPort}; return 200 "the shop"; } }`
  )
  const proxy = start({
    name: "nginx",
    command: "nginx",
    arguments: ["-c", join(folder, "nginx.conf")],
    logDirectory: folder
  })
  await untilReady(proxy, async () => (await statusOf(port, "/unchecked")) === 200)
  if ((await statusOf(port, checkedPath)) === 200)
    throw new Error(`${program.name} lets visitors without a cookie pass`)
  return { proxy, port }
}

/** The status of a visitor's page without a cookie. */
function statusOf(port: number, path: string): Promise<number> {
  return new Promise((answered, failed) => {
    get({ host: "127.0.0.1", port, path, headers: { host } }, (answer) => {
      answer.resume()
      answered(answer.statusCode!)
    }).on("error", failed)
  })
}

/** Resident memory in MB, over as many seconds of checks. */
async function memoryOf(program: Program): Promise<ReadonlyArray<number>> {
  const spans = 10
  const found: Array<number> = []
  for (let span = 0; span < spans; span++) {
    Progress.show(`memory: ${span} of ${spans}`)
    const job = closedLoop(program, program.port!, question)
    await generator.run({ ...job, warmupSeconds: 0, seconds: memorySeconds / spans }, [204])
    found.push(Math.round(readResidentBytes(program.started.processId)! / 2 ** 20))
  }
  return found
}
