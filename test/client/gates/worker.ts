/** A site of one page behind a gate, as a Worker in the runtime of Workers. */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FakeUsher } from "./fakeUsher.ts"

const require = createRequire(import.meta.url)

/** The path of the runtime's program. */
const { default: workerd }: { readonly default: string } = require("workerd")

/** The Worker as an operator writes it, but for the page. */
const source = `
  import { createGate } from "../../../src/client/fetchGate.ts"
  const page = () => new Response("the site", { headers: { "set-cookie": "own=1" } })
  let gate
  export default {
    fetch(request, { url, gateId, key }, context) {
      gate ??= createGate({ url, gateId, key })
      return gate(request, page, (work) => context.waitUntil(work))
    }
  }
`

const configuration = ({ url, gateId, key }: FakeUsher) => `
  using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (
    services = [
      (name = "site", worker = .site),
      (name = "internet", network = (allow = ["private", "public"]))
    ],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "site")]
  );
  const site :Workerd.Worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "2026-11-01",
    bindings = [
      (name = "url", text = "${url}"), (name = "gateId", text = "${gateId}"), (name = "key", text = "${key}")
    ]
  );
`

export const openWorker = async (usher: FakeUsher) => {
  const folder = mkdtempSync(join(tmpdir(), "usher-worker-"))
  const bundle = { bundle: true, format: "esm", outfile: join(folder, "worker.js") } as const
  await build({ ...bundle, stdin: { contents: source, resolveDir: import.meta.dirname } })
  writeFileSync(join(folder, "worker.capnp"), configuration(usher))
  const args = ["serve", join(folder, "worker.capnp"), "--control-fd=3"]
  const process = spawn(workerd, args, { stdio: ["ignore", "inherit", "inherit", "pipe"] })
  return {
    url: `http://127.0.0.1:${await portOf(process)}`,
    close: async () => {
      const closed = new Promise((ended) => process.once("close", ended))
      process.kill()
      await closed
      rmSync(folder, { recursive: true })
    }
  }
}

/** The port that the runtime says it listens on. */
const portOf = (process: ChildProcess): Promise<number> =>
  new Promise((found, failed) => {
    process.once("exit", (code) => failed(new Error(`workerd ended with ${code}`)))
    process.once("error", failed)
    process.stdio[3]!.once("data", (line: Buffer) => found(JSON.parse(String(line)).port))
  })
