/**
 * HAProxy in front of nodes, with the configuration of `docker-compose.yml`. Only addresses differ, and there is no name
 * server to ask.
 */
import * as Yaml from "effect/encoding/Yaml"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, pause } from "./Processes.ts"
import type { ServerUnderTest } from "./ServerUnderTest.ts"

const composeFile = new URL("../../../docker-compose.yml", import.meta.url)

/** Whether HAProxy is on the path. */
export const isInstalled = spawnSync("haproxy", ["-v"]).status === 0

/** What a node needs to believe the balancer's word on addresses. */
export const behindBalancer = { TRUSTED_PROXIES: "127.0.0.1" }

interface Compose {
  readonly configs: { readonly balancer: { readonly content: string } }
}

/** Returns the configuration for these nodes. Fails if it names another number of nodes. */
const configurationFor = (nodes: ReadonlyArray<ServerUnderTest>, ports: { consumer: number; admin: number }) => {
  const { configs } = Yaml.parse(readFileSync(composeFile, "utf8")) as Compose
  let text = configs.balancer.content
    .replace(/^ *resolvers network\n(?: +(?:parse-resolv-conf|hold .*)\n)+/m, "")
    .replace(" resolvers network init-addr libc,none", "")
    .replace("bind :4000", `bind 127.0.0.1:${ports.consumer}`)
    .replace("bind :4001", `bind 127.0.0.1:${ports.admin}`)
    .replace("dst_port 4001", `dst_port ${ports.admin}`)
  nodes.forEach(({ consumerUrl, adminUrl }, index) => {
    const name = `node${index + 1}`
    text = text.replaceAll(`${name}:4000`, new URL(consumerUrl).host).replaceAll(`${name}:4001`, new URL(adminUrl).host)
  })
  if (/node\d+:\d/.test(text)) throw new Error(`the balancer has other nodes:\n${text}`)
  return text
}

export class Balancer {
  readonly consumerUrl: string
  readonly adminUrl: string
  private readonly process: ReturnType<typeof spawn>
  private readonly folder: string

  /** Starts HAProxy. Returns once it accepts connections. */
  static async make(nodes: ReadonlyArray<ServerUnderTest>): Promise<Balancer> {
    const ports = { consumer: await freePort(), admin: await freePort() }
    const folder = await mkdtemp(join(tmpdir(), "usher-balancer-"))
    const file = join(folder, "haproxy.cfg")
    await writeFile(file, configurationFor(nodes, ports))
    const started = spawn("haproxy", ["-db", "-q", "-f", file], { stdio: ["ignore", "ignore", "inherit"] })
    const balancer = new Balancer(started, folder, ports)
    for (let tries = 0; tries < 200; tries++) {
      const answer = await fetch(`${balancer.consumerUrl}/health`).catch(() => undefined)
      if (answer?.status === 200) return balancer
      await pause(50)
    }
    await balancer[Symbol.asyncDispose]()
    throw new Error("HAProxy did not start")
  }

  private constructor(
    started: ReturnType<typeof spawn>,
    folder: string,
    ports: { readonly consumer: number; readonly admin: number }
  ) {
    this.process = started
    this.folder = folder
    this.consumerUrl = `http://127.0.0.1:${ports.consumer}`
    this.adminUrl = `http://127.0.0.1:${ports.admin}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null) {
      const ended = once(this.process, "exit")
      this.process.kill("SIGKILL")
      await ended
    }
    await rm(this.folder, { recursive: true, force: true })
  }
}
