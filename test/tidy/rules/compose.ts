/** Static checks of docker-compose.yml. */
import * as Yaml from "effect/encoding/Yaml"
import type { Finding } from "./Finding.ts"
import { lineAt, type TextFile } from "./Tree.ts"

interface Service {
  readonly build?: { readonly dockerfile_inline?: string }
  readonly image?: string
  readonly healthcheck?: { readonly test?: unknown }
  readonly depends_on?: { readonly [service: string]: { readonly condition?: string } }
  readonly ports?: ReadonlyArray<string>
  readonly restart?: string
  readonly environment?: { readonly [variable: string]: string }
  readonly entrypoint?: ReadonlyArray<string>
  readonly command?: unknown
  readonly volumes?: ReadonlyArray<string>
  readonly tmpfs?: string
}

/** The image of Postgres declares a volume at this path. */
const postgresData = "/var/lib/postgresql/data"

/**
 * Finds services without a health check, dependencies without a wait, ports that are open to the network, missing users,
 * and what only a run shows: missing packages, signals that a shell keeps, and volumes that nothing uses.
 */
export function composeFindings(file: TextFile, expected: ReadonlyArray<string>): ReadonlyArray<Finding> {
  const { services } = Yaml.parse(file.text) as { readonly services: { readonly [name: string]: Service } }
  const finding = (name: string, problem: string, fix: string): Finding => {
    return {
      path: file.path,
      line: lineAt(file, Math.max(0, file.text.search(new RegExp(`^  ${name}:`, "m")))),
      problem,
      fix
    }
  }
  return [
    ...expected
      .filter((name) => services[name] === undefined)
      .map((name) => finding(name, `there is no service ${name}`, "Add it.")),
    ...Object.entries(services).flatMap(([name, service]) =>
      problemsOf(service).map(([problem, fix]) => finding(name, `${name} ${problem}`, fix))
    )
  ]
}

function problemsOf(service: Service): ReadonlyArray<readonly [problem: string, fix: string]> {
  const found: Array<readonly [string, string]> = []
  const dockerfile = service.build?.dockerfile_inline
  if (service.image === undefined && dockerfile === undefined) found.push(["has no image", "Name or build one."])
  if (dockerfile !== undefined && !/^USER (?!root)/m.test(dockerfile)) found.push(["runs as root", "Add USER node."])
  const endsByItself = service.restart === "no"
  found.push(...problemsAtRun(service, endsByItself))
  const test = service.healthcheck?.test
  if (test === undefined && endsByItself) return found
  if (test === undefined) found.push(["has no health check", "Add healthcheck.test."])
  else if (![test].flat().every((part) => typeof part === "string")) {
    found.push(["has a health check that is not text", "Quote what YAML takes for a mapping."])
  }
  for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
    const isExpected = condition === "service_healthy" || condition === "service_completed_successfully"
    if (!isExpected) found.push([`does not wait for ${other}`, "Use condition: service_healthy."])
  }
  for (const [variable, value] of Object.entries(service.environment ?? {})) {
    if (isSecretInFile(variable, value)) found.push([`has a secret in ${variable}`, "Generate it into a volume."])
  }
  for (const port of service.ports ?? []) {
    if (!port.startsWith("127.0.0.1:")) found.push([`opens ${port} to the network`, "Publish it on 127.0.0.1."])
  }
  return found
}

function problemsAtRun(
  service: Service,
  endsByItself: boolean
): ReadonlyArray<readonly [problem: string, fix: string]> {
  const found: Array<readonly [string, string]> = []
  if (/--(?:no|omit=)-?optional/.test(service.build?.dockerfile_inline ?? "")) {
    found.push(["leaves out the program of esbuild", "Install optional packages."])
  }
  const script = [service.command].flat().join("\n")
  if (service.entrypoint?.[0] === "sh" && !endsByItself && !/^exec [^|]+$/m.test(script)) {
    found.push(["runs under a shell, which keeps its signals", "Use exec."])
  }
  const probe = [service.healthcheck?.test].flat().join(" ")
  if (probe.includes("pg_isready") && !probe.includes("--host=")) {
    found.push(["is healthy before it listens", "Let pg_isready ask a --host."])
  }
  const mounted = [...(service.volumes ?? []), service.tmpfs].some((mount) => mount?.endsWith(postgresData))
  if (service.image?.startsWith("postgres:") === true && !mounted) {
    found.push(["leaves a volume behind at each start", `Mount something at ${postgresData}.`])
  }
  return found
}

/** True for a password or a key as text, also as the default of a variable. Files are fine. */
function isSecretInFile(variable: string, value: string): boolean {
  if (variable.endsWith("_FILE")) return false
  return /PASSWORD|SECRET|TOKEN|_KEY$/.test(variable) || /:\/\/[^/]*:[^/]*@/.test(value)
}
