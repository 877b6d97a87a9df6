/** nginx, Caddy and HAProxy in front of a shop, with the configurations of `src/gates`. Only addresses differ. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, pause, Process } from "../Processes.ts"

export type ProxyName = "nginx" | "caddy" | "haproxy"

const versions: { readonly [Name in ProxyName]: string } = { nginx: "-v", caddy: "version", haproxy: "-v" }

export const proxyNames = Object.keys(versions) as ReadonlyArray<ProxyName>

/** The version of a proxy; undefined if it is not on the path. */
export const versionOf = (name: ProxyName): string | undefined => {
  const { status, stdout, stderr } = spawnSync(name, [versions[name]], { encoding: "utf8" })
  return status === 0 ? /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] : undefined
}

const gates = new URL("../../../../src/gates/", import.meta.url)

const textOf = (file: string) => readFileSync(new URL(file, gates), "utf8")

/** A mistake in a configuration: what it should have said, and what it says. */
interface Weakness {
  readonly file: string
  readonly right: string
  readonly wrong: string
}

/**
 * Mistakes that people make in configurations of their own. `believing`: a header of the client names the request.
 * `matching`: the proxy asks only about paths that look protected to it.
 */
export const weaknesses = {
  believing: {
    nginx: { file: "nginx/shop.conf", right: "    proxy_set_header X-Original-URI $request_uri;\n", wrong: "" },
    caddy: { file: "caddy/Caddyfile", right: "\t\t\theader_up X-Forwarded-Uri {uri}\n", wrong: "" },
    haproxy: {
      file: "haproxy/usher-gate.lua",
      right: 'headers["x-forwarded-uri"] = {',
      wrong: 'headers["x-forwarded-uri"] = headers["x-forwarded-uri"] or {'
    }
  },
  matching: {
    nginx: {
      file: "nginx/shop.conf",
      right: "  location / {\n",
      wrong: "  location / { proxy_pass http://shop; }\n  location /checkout {\n"
    },
    caddy: {
      file: "caddy/Caddyfile",
      right: "\thandle {\n",
      wrong: "\thandle {\n\t\timport shop\n\t}\n\n\thandle /checkout* {\n"
    },
    haproxy: {
      file: "haproxy/haproxy.cfg",
      right: "lua.usher_gate unless is_return",
      wrong: "lua.usher_gate if { path_beg /checkout }"
    }
  }
} satisfies { readonly [name: string]: { readonly [Name in ProxyName]: Weakness } }

export type WeaknessName = keyof typeof weaknesses

/** Where the three are, as `HOST:PORT`. */
interface Places {
  readonly listen: string
  readonly shop: string
  readonly gate: string
  readonly weakness?: Weakness | undefined
}

/** The text of a configuration, with the mistake if it is in this file. */
const siteOf = (file: string, { weakness }: Places): string =>
  weakness?.file === file ? replaced(textOf(file), { [weakness.right]: weakness.wrong }) : textOf(file)

/** Replaces what must be there. */
const replaced = (text: string, values: { readonly [old: string]: string }): string =>
  Object.entries(values).reduce((before, [old, value]) => {
    if (!before.includes(old)) throw new Error(`the configuration has no ${old}`)
    return before.replaceAll(old, value)
  }, text)

const addressesIn = ({ shop, gate }: Places) => ({ "127.0.0.1:3000": shop, "127.0.0.1:4180": gate })

/** Writes the files of a proxy, and returns its arguments. */
const configured: { readonly [Name in ProxyName]: (places: Places, folder: string) => Promise<ReadonlyArray<string>> } =
  {
    nginx: async (places, folder) => {
      const site = replaced(siteOf("nginx/shop.conf", places), {
        ...addressesIn(places),
        "listen 8080;": `listen ${places.listen};`
      })
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (of) => `${of}_temp_path ${folder}/${of};`
      )
      const main = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
        events { worker_connections 4096; }
        http { access_log off; ${temporary.join(" ")} include ${folder}/shop.conf; }`
      await writeFile(join(folder, "shop.conf"), site)
      await writeFile(join(folder, "nginx.conf"), main)
      return ["-c", join(folder, "nginx.conf"), "-e", "stderr"]
    },
    caddy: async (places, folder) => {
      const site = replaced(siteOf("caddy/Caddyfile", places), {
        ...addressesIn(places),
        "shop.example {": `http://:${places.listen.split(":")[1]} {`
      })
      await writeFile(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${site}`)
      return ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"]
    },
    haproxy: async (places, folder) => {
      const lua = replaced(siteOf("haproxy/usher-gate.lua", places), { "127.0.0.1:4180": places.gate })
      const site = replaced(siteOf("haproxy/haproxy.cfg", places), {
        ...addressesIn(places),
        "bind :8080": `bind ${places.listen}`,
        "/etc/haproxy/usher-gate.lua": join(folder, "usher-gate.lua")
      })
      await writeFile(join(folder, "usher-gate.lua"), lua)
      await writeFile(join(folder, "haproxy.cfg"), site)
      return ["-db", "-q", "-f", join(folder, "haproxy.cfg")]
    }
  }

interface ProxyTo {
  readonly shop: string
  readonly gate: string
  readonly weakness?: WeaknessName | undefined
}

export class Proxy {
  readonly name: ProxyName
  readonly port: number
  readonly url: string
  private readonly process: Process
  private readonly folder: string

  /** Starts a proxy. Returns once it accepts connections. */
  static async make(name: ProxyName, to: ProxyTo): Promise<Proxy> {
    const port = await freePort()
    const folder = await mkdtemp(join(tmpdir(), `usher-${name}-`))
    // Workers of nginx run as another user.
    await chmod(folder, 0o755)
    const weakness = to.weakness && weaknesses[to.weakness][name]
    const [shop, gate] = [new URL(to.shop).host, new URL(to.gate).host]
    const places = { listen: `127.0.0.1:${port}`, shop, gate, weakness }
    const args = await configured[name](places, folder)
    const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const proxy = new Proxy(name, port, new Process(args, environment, name), folder)
    for (let tries = 0; tries < 600; tries++) {
      if (await isListening(port)) return proxy
      if (proxy.process.ending !== undefined) break
      await pause(50)
    }
    await proxy[Symbol.asyncDispose]()
    throw new Error(`${name} did not start:\n${proxy.log}`)
  }

  private constructor(name: ProxyName, port: number, process: Process, folder: string) {
    this.name = name
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.process = process
    this.folder = folder
  }

  /** Its last output. */
  get log(): string {
    return this.process.log()
  }

  get processId(): number {
    return this.process.id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.end("SIGKILL")
    this.process.killRest()
    await rm(this.folder, { recursive: true, force: true })
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true))
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy())
  })
