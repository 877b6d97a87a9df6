/** Rules about the project's manifest, lock, scripts and containers. Each rule also gets a bad sample. */
import { assert, describe, it } from "@effect/vitest"
import * as Yaml from "effect/encoding/Yaml"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseKeys } from "../../src/settings/SecretsKey.ts"
import { composeFindings } from "./rules/compose.ts"
import * as Dependencies from "./rules/dependencies.ts"
import { assertTidy, type Finding } from "./rules/Finding.ts"
import { type Scripts, scriptsBehindShell } from "./rules/scripts.ts"
import { readTree, type TextFile } from "./rules/Tree.ts"

const tree = readTree()
const fileNamed = (path: string): TextFile => tree.find((file) => file.path === path) ?? { path, text: "" }
const manifest: Dependencies.Manifest & Scripts = JSON.parse(fileNamed("package.json").text)
const lock: Dependencies.Lock = JSON.parse(fileNamed("package-lock.json").text)

/** Returns the findings in short form, for samples. */
const found = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.map(({ path, line, problem }) => `${path}:${line} ${problem}`)

describe("the dependencies", () => {
  it("are pinned to one version each", () => assertTidy(Dependencies.looseVersions(manifest)))

  it("with a range of versions are found", () => {
    const loose = {
      dependencies: { a: "1.2.3", b: "^1.2.3" },
      devDependencies: { c: "latest", d: "1.0.0-rc.1" },
      optionalDependencies: { e: "1.x" },
      allowScripts: {}
    }
    assert.deepStrictEqual(found(Dependencies.looseVersions(loose)), [
      'package.json:1 b is "^1.2.3"',
      'package.json:1 c is "latest"',
      'package.json:1 e is "1.x"'
    ])
  })

  it("with install scripts are allowed by name", () => assertTidy(Dependencies.unapprovedScripts(manifest, lock)))

  it("with an install script that is not allowed are found", () => {
    const sample = { packages: { "node_modules/@a/b": { hasInstallScript: true }, "node_modules/c": {} } }
    assert.deepStrictEqual(found(Dependencies.unapprovedScripts({ ...manifest, allowScripts: {} }, sample)), [
      "package.json:1 @a/b has an install script"
    ])
  })

  it("come from any registry", () => assertTidy(Dependencies.namedHosts(lock)))

  it("that name their registry are found", () => {
    const sample = { packages: { "node_modules/a": { resolved: "https://registry.example.com/a/-/a-1.0.0.tgz" } } }
    assert.deepStrictEqual(found(Dependencies.namedHosts(sample)), [
      "package-lock.json:1 node_modules/a names the host it came from"
    ])
  })

  it("are all in the lock, including those for other platforms", () => assertTidy(Dependencies.incompleteLock(lock)))

  it("that are missing from the lock are found", () => {
    const sample = {
      packages: {
        "node_modules/a": { optionalDependencies: { b: "1.0.0", c: "1.0.0", d: "1.0.0" } },
        "node_modules/a/node_modules/b": {},
        "node_modules/c": {}
      }
    }
    assert.deepStrictEqual(found(Dependencies.incompleteLock(sample)), ["package-lock.json:1 d is missing"])
  })
})

describe("the scripts", () => {
  it("that run for long receive the signals that npm receives", () => assertTidy(scriptsBehindShell(manifest)))

  it("that do not are found", () => {
    const scripts = { start: "node src/main.ts serve", prove: "exec node prove.ts", lock: "node lock.ts" }
    assert.deepStrictEqual(found(scriptsBehindShell({ scripts })), [
      "package.json:1 start runs behind a shell, which does not pass signals on"
    ])
  })
})

describe("docker-compose.yml", () => {
  const compose = fileNamed("docker-compose.yml")

  it("starts Usher, Postgres and Redis, each with a health check, and reachable from this machine only", () =>
    assertTidy(composeFindings(compose, ["usher", "postgres", "redis"])))

  it("starts three nodes behind a balancer in the same way", () =>
    assertTidy(composeFindings(compose, ["node1", "node2", "node3", "balancer"])))

  it("starts Prometheus and Grafana in the same way", () =>
    assertTidy(composeFindings(compose, ["prometheus", "grafana"])))

  it("generates its secrets once, each different and without a default", () => {
    const { services } = Yaml.parse(compose.text) as {
      readonly services: { readonly secrets: { readonly entrypoint: Array<string>; readonly command: [string] } }
    }
    const folder = mkdtempSync(join(tmpdir(), "usher-compose-"))
    for (const name of ["usher", "postgres", "redis", "operations"]) mkdirSync(join(folder, name))
    const { entrypoint, command } = services.secrets
    const script = command[0].replaceAll("$$", "$")
    const generated = () => {
      const { status } = spawnSync(entrypoint[0]!, [...entrypoint.slice(1), script], {
        env: { ...process.env, SECRETS: folder }
      })
      assert.strictEqual(status, 0)
      return ["usher/key", "postgres/password", "redis/password", "operations/token"].map((path) =>
        readFileSync(join(folder, path), "utf8")
      )
    }
    const first = generated()
    for (const secret of first) assert.match(secret, /^[0-9a-f]{64}$/)
    assert.strictEqual(new Set(first).size, 4)
    assert.deepStrictEqual(generated(), first)
    assert.strictEqual(parseKeys(first[0]!)?.length, 1)
    rmSync(folder, { recursive: true })
  })

  it("mounts only files of this repository that are there", () => {
    const mounted = [...compose.text.matchAll(/^ +- \.\/([\w./-]+):\//gm)].map((match) => match[1]!)
    assert.isNotEmpty(mounted)
    for (const path of mounted)
      assert.isTrue(
        tree.some((file) => file.path.startsWith(path)),
        path
      )
  })

  it("names only services, volumes and configurations that it declares", () => {
    type Declared = { readonly [name: string]: unknown }
    const { services, volumes, configs } = Yaml.parse(compose.text) as {
      readonly services: {
        readonly [name: string]: {
          readonly depends_on?: Declared
          readonly volumes?: ReadonlyArray<string>
          readonly configs?: ReadonlyArray<{ readonly source: string }>
        }
      }
      readonly volumes: Declared
      readonly configs: Declared
    }
    for (const [name, service] of Object.entries(services)) {
      const mounted = (service.volumes ?? []).map((volume) => volume.split(":")[0]!)
      const named: ReadonlyArray<readonly [string, Declared]> = [
        ...Object.keys(service.depends_on ?? {}).map((other) => [other, services] as const),
        ...mounted.filter((volume) => !volume.startsWith(".")).map((volume) => [volume, volumes] as const),
        ...(service.configs ?? []).map(({ source }) => [source, configs] as const)
      ]
      for (const [other, declared] of named) assert.property(declared, other, name)
    }
  })

  it("with a missing service, health check, wait, user, package, signal or mount, or an open port, is found", () => {
    const text = `
services:
  usher:
    build:
      dockerfile_inline: |
        FROM node:24
        RUN npm ci --omit=optional
    depends_on:
      postgres:
        condition: service_started
    ports: ["4000:4000"]
    environment:
      DATABASE_URL: postgres://usher:usher@postgres/usher
      SMS_TOKEN: token
      SECRETS_KEY_FILE: /secrets/usher/key
  postgres:
    healthcheck:
      test:
        - CMD
        - a ? 0: 1
  database:
    image: postgres:17-bookworm
    healthcheck:
      test: pg_isready
  cache:
    image: redis:7-bookworm
    entrypoint: [sh, -c]
    command: ["echo save 60 1 | exec redis-server -"]
    healthcheck:
      test: redis-cli ping
`
    assert.deepStrictEqual(found(composeFindings({ path: "docker-compose.yml", text }, ["usher", "redis"])), [
      "docker-compose.yml:1 there is no service redis",
      "docker-compose.yml:3 usher runs as root",
      "docker-compose.yml:3 usher leaves out the program of esbuild",
      "docker-compose.yml:3 usher has no health check",
      "docker-compose.yml:3 usher does not wait for postgres",
      "docker-compose.yml:3 usher has a secret in DATABASE_URL",
      "docker-compose.yml:3 usher has a secret in SMS_TOKEN",
      "docker-compose.yml:3 usher opens 4000:4000 to the network",
      "docker-compose.yml:16 postgres has no image",
      "docker-compose.yml:16 postgres has a health check that is not text",
      "docker-compose.yml:21 database is healthy before it listens",
      "docker-compose.yml:21 database leaves a volume behind at each start",
      "docker-compose.yml:25 cache runs under a shell, which keeps its signals"
    ])
  })
})
