/**
 * The lines that an operator copies, for each way in which a gate runs. Those of a proxy are a file of `src/gates`, with
 * this gate's values in the place of its examples. A way is a row of the table.
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { basename } from "node:path"

/** What the lines are filled in with. */
export interface Known {
  readonly gateId: string
  /** Where consumers reach Usher. */
  readonly url: string
  readonly host: string
  readonly returnPath: string
}

/** A text to copy. */
export interface Lines {
  readonly says: string
  readonly text: string
}

export interface Way {
  /** The name in the address of the screen. */
  readonly name: string
  readonly title: string
  readonly lines: (known: Known) => ReadonlyArray<Lines>
}

/** The guide, as a path of this project. */
export const guide = "src/gates/GUIDE.md"

/** Where `usher gate` listens, in the files of proxies too. */
const listen = "127.0.0.1:4180"

/** The examples in files of proxies, and what takes their place. */
const examples: ReadonlyMap<string, (known: Known) => string> = new Map([
  ["shop.example", ({ host }) => host],
  ["/.usher/return", ({ returnPath }) => returnPath]
])

/** Any of them. */
const anyExample = /shop\.example|\/\.usher\/return/g

/** A proxy, with its files below `src/gates`. */
interface Proxy {
  readonly name: string
  readonly title: string
  readonly files: ReadonlyArray<string>
}

const proxies: ReadonlyArray<Proxy> = [
  { name: "nginx", title: "nginx", files: ["nginx/shop.conf"] },
  { name: "caddy", title: "Caddy", files: ["caddy/Caddyfile"] },
  { name: "haproxy", title: "HAProxy", files: ["haproxy/haproxy.cfg", "haproxy/usher-gate.lua"] }
]

const command = ({ url, gateId }: Known): Lines => ({
  says: "Run beside the proxy, with the key of the gate in the environment. Only the proxy may reach it.",
  text: `USHER_GATE_KEY=gk_… usher gate \\
  --url ${url} \\
  --gate ${gateId} \\
  --listen ${listen} --client-address X-Real-IP`
})

const ofProxy = ({ name, title, files }: Proxy): Way => ({
  name,
  title,
  lines: (known) => [
    command(known),
    ...files.map((file): Lines => ({
      says: `For ${title}: ${basename(file)}`,
      text: filledIn(textOf(file), known)
    }))
  ]
})

/** The text with the values of a gate in the place of its examples. */
export const filledIn = (text: string, known: Known): string =>
  text.replace(anyExample, (example) => examples.get(example)!(known))

/** The text of a file below `src/gates`. Files of this project are read once. */
const textOf = (file: string): string => {
  const text = texts.get(file) ?? readFileSync(new URL(`../../../gates/${file}`, import.meta.url), "utf8").trimEnd()
  texts.set(file, text)
  return text
}

const texts = new Map<string, string>()

const settings = ({ url, gateId }: Known, key: string, indent: string): string =>
  [`url: ${JSON.stringify(url)},`, `gateId: ${JSON.stringify(gateId)},`, `key: ${key}`]
    .map((line) => `${indent}${line}\n`)
    .join("")

const worker: Way = {
  name: "worker",
  title: "Worker",
  lines: (known) => [
    {
      says: "For Cloudflare Workers, and with few changes Deno, Bun and middleware of Next. The key is a secret of the Worker.",
      text: `import { createGate } from "@usher/client/gate"

let gate

export default {
  fetch(request, env, context) {
    gate ??= createGate({
${settings(known, "env.USHER_GATE_KEY", "      ")}    })
    return gate(request, fetch, (work) => context.waitUntil(work))
  }
}`
    }
  ]
}

const node: Way = {
  name: "node",
  title: "Node",
  lines: (known) => [
    {
      says: "Before anything that reads bodies. Your own server calls shop, and Express and Fastify take the gate as below.",
      text: `import { createServer } from "node:http"
import { createGate, forExpress, forFastify } from "@usher/client/gate/node"

const gate = createGate({
${settings(known, "process.env.USHER_GATE_KEY", "  ")}})

createServer(async (incoming, outgoing) => (await gate(incoming, outgoing)) || shop(incoming, outgoing))
// Express: app.use(forExpress(gate))
// Fastify: app.addHook("onRequest", forFastify(gate))`
    }
  ]
}

/** All ways, in the order of the screen. */
export const ways: ReadonlyArray<Way> = [...proxies.map(ofProxy), worker, node]

/** The lines of each way. */
export const linesFor = (known: Known) =>
  Effect.sync(() => ways.map(({ name, title, lines }) => ({ name, title, lines: lines(known) })))
