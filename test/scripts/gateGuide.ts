/**
 * The guide of gates, run as written: its blocks in one shell, and a real browser at the shop and in the room. Examples:
 *
 *     npm run prove -- gate-guide
 *     npm run prove -- gate-guide --only caddy --clone yes
 *
 * With `--clone yes` it runs in a new clone of the last commit, whose packages `npm ci` installs.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { type ProxyName, proxyNames, versionOf } from "../e2e/support/gates/Proxies.ts"
import { find, launch } from "../pages/support/chromium.ts"
import { conclude, options } from "./Report.ts"

const { only, clone } = options({ only: "", clone: "no" })

const repository = join(import.meta.dirname, "../..")
const trial = "/tmp/usher-trial"
const minutesMax = 15
const shopUrl = "http://localhost:8080"
const roomUrl = "http://localhost:4000"

/** A block of the guide; `of` is a proxy, or what the block is for. */
interface Block {
  readonly of: string
  readonly text: string
}

const blocks: ReadonlyArray<Block> = [
  ...readFileSync(join(repository, "src/gates/GUIDE.md"), "utf8").matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)
].map(([, of = "", text = ""]) => ({ of, text }))

/** One shell for all blocks. It ends at the first command that fails. */
class Terminal {
  private readonly shell
  private printed = ""
  private blocks = 0

  constructor(folder: string) {
    const path = `${join(repository, "node_modules/.bin")}:${process.env["PATH"]}`
    this.shell = spawn("bash", ["-e"], {
      cwd: folder,
      env: { ...process.env, PATH: path },
      stdio: ["pipe", "pipe", "inherit"]
    })
    this.shell.stdout.setEncoding("utf8").on("data", (part: string) => (this.printed += part))
  }

  /** Runs a block. Returns what it has printed. */
  async run(text: string): Promise<string> {
    const mark = `--- end of block ${this.blocks++}`
    const from = this.printed.length
    this.shell.stdin.write(`${text}\necho '${mark}'\n`)
    while (!this.printed.includes(mark)) {
      if (this.shell.exitCode !== null) throw new Error(`a command of this block failed:\n${text}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return this.printed.slice(from)
  }

  end(): void {
    this.shell.stdin.end()
  }
}

const waits = { timeout: 120_000 }

/** Two visitors: one enters unseen, the other waits in the room at the other address, and comes back. */
async function visited(browser: Browser, terminal: Terminal): Promise<void> {
  const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor(waits)
  const [first, second] = [await (await browser.newContext()).newPage(), await (await browser.newContext()).newPage()]
  await first.goto(shopUrl)
  await heading(first, "Shop")
  await first.getByRole("link", { name: "To the checkout" }).click()
  await heading(first, "Checkout")
  await second.goto(`${shopUrl}/checkout`)
  await second.waitForURL((url) => url.origin === roomUrl, waits)
  const join = second.getByRole("button", { name: "Join the queue" })
  const isInLine = second.locator("[data-kind]").first()
  await isInLine.waitFor(waits)
  if (await join.isVisible()) await join.click()
  await terminal.run(named("visit"))
  await second.waitForURL((url) => url.origin === shopUrl && url.pathname === "/checkout", waits)
  await heading(second, "Checkout")
  await second.reload()
  await heading(second, "Checkout")
  if (!/^HTTP\/1.1 429.*"roomUrl"/s.test(await terminal.run(named("told")))) throw new Error("a program is not told so")
}

const named = (name: string): string => blocks.find(({ of }) => of === name)!.text

/** Walks through the guide. Returns the seconds from the first command to the second visitor's checkout. */
async function walked(name: ProxyName, browser: Browser, folder: string): Promise<number> {
  const began = performance.now()
  const terminal = new Terminal(folder)
  try {
    // Where the packages are there, the first command is left out.
    for (const { text } of blocks.filter(({ of }) => of === ""))
      await terminal.run(clone === "yes" ? text : text.replace("npm ci\n", ""))
    await terminal.run(named(name))
    await visited(browser, terminal)
    return (performance.now() - began) / 1_000
  } finally {
    terminal.end()
    // The shell of the guide has ended if one of its commands failed.
    const last = new Terminal(folder)
    await last.run(`export TRIAL=${trial}\n${named("end")}`)
    last.end()
  }
}

const found = await find()
const browser = found && (await launch(found))
const figures: Record<string, string> = {}
const violations: Array<string> = []
for (const name of proxyNames.filter((one) => only === "" || one === only)) {
  if (browser === undefined || versionOf(name) === undefined) {
    figures[name] = `${browser === undefined ? "Chromium" : name} is not installed, did not run`
    continue
  }
  const folder = mkdtempSync(join(tmpdir(), "usher-guide-"))
  if (clone === "yes") spawnSync("git", ["clone", "--quiet", repository, folder], { stdio: "inherit" })
  try {
    const seconds = await walked(name, browser, clone === "yes" ? folder : repository)
    figures[name] = `walked in ${seconds.toFixed(0)} s`
    if (seconds > minutesMax * 60) violations.push(`${name}: longer than ${minutesMax} minutes`)
  } catch (error) {
    violations.push(`${name}: ${String(error)}`)
  }
  rmSync(folder, { recursive: true, force: true })
  rmSync(trial, { recursive: true, force: true })
}
await browser?.close()
conclude(
  "a shop is behind a gate in fifteen minutes",
  figures,
  violations,
  Object.values(figures).some((one) => one.startsWith("walked"))
)
