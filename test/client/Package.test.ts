/** The client as a package: packed, installed into an empty project without a registry, imported and compiled. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Where a copy of the sources is packed, because a package is built beside its sources. */
const copy = mkdtempSync(join(tmpdir(), "usher-pack-"))
const project = mkdtempSync(join(tmpdir(), "usher-consumer-"))

const run = (folder: string, program: string, ...args: ReadonlyArray<string>) =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: "pipe", timeout: 120_000 })

/** A consumer that uses every export with its types. */
const consumer = `
import { Usher, UsherError, type Snapshot } from "@usher/client"
import { useExperience } from "@usher/client/react"
import { createGrantGuard } from "@usher/client/guard"
import { createGate } from "@usher/client/gate"
import { createGate as createNodeGate, forExpress, type NodeGate } from "@usher/client/gate/node"
import { decide, type Decision } from "@usher/client/gate/decision"
import "@usher/client/widget"

const usher = new Usher({ url: "https://usher.example.com", publishableKey: "pk_live_1" })
const snapshot: Snapshot = usher.experience("1").getSnapshot()
export const Drop = () => useExperience(usher, "1").view.state === snapshot.state
export const isRefusal = (error: unknown) => error instanceof UsherError
export const guard: (request: Request, next: () => Response) => Promise<Response> = createGrantGuard({
  url: "https://usher.example.com",
  organizationId: "1",
  protects: () => undefined
})
export const decided: (...args: Parameters<typeof decide>) => Promise<Decision> = decide
const address = { url: "https://usher.example.com", gateId: "1", key: "gk_live_1" }
export const site = { fetch: (request: Request) => createGate(address)(request, fetch) }
const nodeGate: NodeGate = createNodeGate({ ...address, failMode: "open" })
export const middleware = forExpress(nodeGate)
// @ts-expect-error A number is no address.
new Usher({ url: 1, publishableKey: "pk_live_1" })
`

/** Modules of the project that stand for those that a shop has installed. */
const installed = ["react", "@types/react", "csstype"]

beforeAll(() => {
  cpSync(join(root, "src/client"), join(copy, "src/client"), {
    recursive: true,
    filter: (path) => path !== join(root, "src/client/out")
  })
  for (const file of ["tsconfig.json", "LICENSE"]) cpSync(join(root, file), join(copy, file))
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  run(copy, "npm", "pack", "./src/client", "--pack-destination", project)
  const [tarball = ""] = readdirSync(project)
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "shop", private: true, type: "module" }))
  run(project, "npm", "install", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps", `./${tarball}`)
  for (const name of installed) {
    mkdirSync(join(project, "node_modules/@types"), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name))
  }
  writeFileSync(join(project, "shop.ts"), consumer)
})

afterAll(() => {
  for (const folder of [copy, project]) rmSync(folder, { recursive: true })
})

describe("the installed package", () => {
  it("has JavaScript, types and the license, and no TypeScript of its own", () => {
    const files = readdirSync(join(project, "node_modules/@usher/client"), { recursive: true, encoding: "utf8" })
    assert.includeMembers(files, ["out/client.js", "out/client.d.ts", "out/LICENSE", "README.md"])
    assert.deepStrictEqual(
      files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts")),
      []
    )
  })

  it("opens in plain Node by every export", () => {
    const names = Object.keys(exportsOf())
    const script = `
      for (const name of ${JSON.stringify(names)}) {
        const module = await import("@usher/client" + name.slice(1))
        console.log(name, Object.keys(module).join())
      }`
    const lines = run(
      project,
      process.execPath,
      "--no-experimental-strip-types",
      "--input-type=module",
      "--eval",
      script
    )
    assert.deepStrictEqual(lines.split("\n").filter(Boolean), [
      ". Usher,UsherError",
      "./react useExperience",
      "./guard createGrantGuard",
      "./gate createGate",
      "./gate/node createGate,forExpress,forFastify",
      "./gate/decision decide,importKeys,settle",
      "./widget "
    ])
  })

  it.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"]
  ])("has types for a strict consumer (module %s, resolution %s)", (module, resolution) => {
    const flags = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--target", "es2022", "--jsx", "react-jsx"]
    const lib = ["--lib", "es2022,dom,dom.iterable", "--types", "react"]
    const options = [...flags, ...lib, "--module", module, "--moduleResolution", resolution]
    assert.strictEqual(run(project, join(root, "node_modules/.bin/tsc"), ...options, "shop.ts"), "")
  })
})

const exportsOf = (): object =>
  JSON.parse(
    run(project, process.execPath, "--print", "fs.readFileSync('node_modules/@usher/client/package.json', 'utf8')")
  ).exports
