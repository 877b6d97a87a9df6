/**
 * Gates in PHP, Go, Ruby and Python decide every vector as it says, and guard a site over HTTP, in each runtime that is
 * installed.
 *
 *     npm run prove -- gates
 *     npm run prove -- gates --only "ruby rack"
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { exchanged, walkedInTime } from "../client/gates/exchange.ts"
import { type FakeUsher, openFakeUsher } from "../client/gates/fakeUsher.ts"
import { conclude, options } from "./Report.ts"

const { only } = options({ only: "" })
const isAsked = (runtime: string) => runtime.startsWith(only)

const runners = join(import.meta.dirname, "../client/gates/runners")
const gates = join(import.meta.dirname, "../../src/gates")
const vectorsPath = join(gates, "vectors.json")
const { cases } = JSON.parse(readFileSync(vectorsPath, "utf8")) as {
  readonly cases: ReadonlyArray<{ readonly name: string; readonly expected: unknown }>
}

/** How long a runtime may take to compile and decide. */
const timeout = 300_000

/** The exit code of a runner whose package is not there. */
const notInstalled = 9

/** Go compiles a program, so it needs a module around gate and runner. */
const goModule = mkdtempSync(join(tmpdir(), "gates-"))
writeFileSync(join(goModule, "go.mod"), "module vectors\n\ngo 1.18\n")
for (const file of ["gate.go", "adapter.go"]) cpSync(join(gates, "go", file), join(goModule, "gate", file))
for (const [folder, file] of Object.entries({ run: "run.go", site: "site.go" })) {
  cpSync(join(runners, file), join(goModule, folder, "main.go"))
}

const commands: { readonly [runtime: string]: ReadonlyArray<string> } = {
  php: ["php", join(runners, "run.php"), vectorsPath],
  go: ["go", "run", "./run", vectorsPath],
  ruby: ["ruby", join(runners, "run.rb"), vectorsPath],
  python: ["python3", join(runners, "run.py"), vectorsPath],
  "python with cryptography": ["python3", join(runners, "run.py"), vectorsPath, "--with-cryptography"]
}

const figures: Record<string, string> = {}
const violations: Array<string> = []

for (const [runtime, [program = "", ...args]] of Object.entries(commands)) {
  if (!isAsked(runtime)) continue
  const started = performance.now()
  const run = spawnSync(program, args, { cwd: goModule, encoding: "utf8", timeout, maxBuffer: 2 ** 26 })
  const isMissing = run.error && "code" in run.error && run.error.code === "ENOENT"
  if (isMissing || run.status === notInstalled) {
    figures[runtime] = "not installed, did not run"
    continue
  }
  const wrong = run.status === 0 ? wrongIn(JSON.parse(run.stdout)) : [run.error?.message ?? run.stderr.slice(0, 2_000)]
  violations.push(...wrong.map((one) => `${runtime}: ${one}`))
  figures[runtime] = `ran ${cases.length} vectors, ${wrong.length} wrong, ${Math.round(performance.now() - started)} ms`
}

/** Sites of one page behind a gate. They get the address, the gate's id and its key, and print their port. */
const sites: { readonly [runtime: string]: ReadonlyArray<string> } = {
  "go net/http": [join(goModule, "site.exe")],
  "ruby rack": ["ruby", join(runners, "site.rb")],
  "python wsgi": ["python3", join(runners, "site.py"), "wsgi"],
  "python asgi": ["python3", join(runners, "site.py"), "asgi"]
}
if (isAsked("go net/http")) {
  const built = spawnSync("go", ["build", "-o", "site.exe", "./site"], { cwd: goModule, encoding: "utf8", timeout })
  if (!built.error && built.status !== 0) violations.push(`go net/http: ${built.stderr.slice(0, 2_000)}`)
}

for (const [runtime, command] of Object.entries(sites)) {
  if (isAsked(runtime)) await prove(runtime, (usher) => printedPort(command, usher))
}
// PHP's own server ends an answer with its program, which once a second waits for Usher.
if (isAsked("php")) await prove("php", (usher) => portOfPhp(usher), 1_500)
rmSync(goModule, { recursive: true })

conclude(
  "gates decide alike in every language",
  figures,
  violations,
  Object.values(figures).some((figure) => figure.startsWith("ran"))
)

/** The vectors that a gate decided otherwise. */
function wrongIn(decisions: ReadonlyArray<unknown>): ReadonlyArray<string> {
  return cases.flatMap(({ name, expected }, index) =>
    isDeepStrictEqual(decisions[index], expected)
      ? []
      : [`${name}: ${JSON.stringify(decisions[index])} instead of ${JSON.stringify(expected)}`]
  )
}

interface Opened {
  readonly process: ChildProcess
  readonly port: number
  /** It leads a process group. */
  readonly leads?: true
}

/** Walks through the site, in time or as often as is allowed. */
async function prove(runtime: string, open: (usher: FakeUsher) => Promise<Opened | undefined>, slowest?: number) {
  let isInstalled = true
  const walk = async () => {
    const found = await walkThrough(open, slowest)
    isInstalled = found !== undefined
    return found ?? { wrong: [], late: [] }
  }
  try {
    const { wrong, late, walks } = await walkedInTime(walk)
    violations.push(...[...wrong, ...late.map((one) => `late: ${one}`)].map((one) => `${runtime}: ${one}`))
    const ran = `ran, ${wrong.length} wrong, ${late.length} late, walks: ${walks}`
    figures[`${runtime} over HTTP`] = isInstalled ? ran : "not installed, did not run"
  } catch (error) {
    violations.push(`${runtime}: ${String(error)}`)
  }
}

/** Opens the site in front of an Usher of its own, and walks through it. */
async function walkThrough(open: (usher: FakeUsher) => Promise<Opened | undefined>, slowest?: number) {
  const usher = await openFakeUsher()
  let opened: Opened | undefined
  try {
    opened = await open(usher)
    return opened && (await exchanged(`http://127.0.0.1:${opened.port}`, usher, slowest))
  } finally {
    // PHP's workers do not end with their parent.
    if (opened?.leads === true) process.kill(-opened.process.pid!)
    else opened?.process.kill()
    await usher.close()
  }
}

/** The port that the program prints; undefined if it is not installed. */
function printedPort([program = "", ...args]: ReadonlyArray<string>, { url, gateId, key }: FakeUsher) {
  const process = spawn(program, [...args, url, gateId, key], { stdio: ["ignore", "pipe", "ignore"] })
  return new Promise<Opened | undefined>((found, failed) => {
    process.once("error", () => found(undefined))
    process.once("exit", (code) => failed(new Error(`${program} ended with ${code}`)))
    process.stdout.once("data", (line) => found({ process, port: Number(line) }))
  })
}

/** PHP's own server prints no port, so it gets one. What its gate knows is in a folder, so each walk has its own. */
async function portOfPhp({ url, gateId, key }: FakeUsher): Promise<Opened | undefined> {
  const port = await freePort()
  const site = { GATE_URL: url, GATE_ID: gateId, GATE_KEY: key, GATE_FOLDER: mkdtempSync(join(goModule, "php-")) }
  // One worker answers one request at a time.
  const env = { ...process.env, ...site, PHP_CLI_SERVER_WORKERS: "4" }
  const php = spawn("php", ["-S", `127.0.0.1:${port}`, join(runners, "site.php")], {
    stdio: "ignore",
    env,
    detached: true
  })
  const isInstalled = await new Promise((found) =>
    php.once("spawn", () => found(true)).once("error", () => found(false))
  )
  if (!isInstalled) return undefined
  for (let attempt = 0; attempt < 100 && !(await isListening(port)); attempt++) await sleep(100)
  return { process: php, port, leads: true }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((found) => {
    const socket = connect(port, "127.0.0.1", () => found(true))
    socket.on("error", () => found(false)).on("connect", () => socket.destroy())
  })
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((found) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => found(port))
    })
  )
}
