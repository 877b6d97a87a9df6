/** Checks descriptions of APIs (OpenAPI) against Redocly's rules, so that tools and people can use them. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "./Tree.ts"

const linter = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"))
const config = join(root, ".ci/redocly.yaml")

/** Sends no data, and checks for no newer version. */
const offline = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" }

/** Checks each description, by its name, against the rules. `problems` lists every breach with its place. */
export function lint(descriptions: { readonly [name: string]: object }): {
  readonly isClean: boolean
  readonly problems: string
} {
  const folder = mkdtempSync(join(tmpdir(), "usher-descriptions-"))
  try {
    const files = Object.entries(descriptions).map(([name, description]) => {
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(description, null, 2))
      return `${name}.json`
    })
    const run = spawnSync(process.execPath, [linter, "lint", "--config", config, "--format", "stylish", ...files], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...offline }
    })
    return { isClean: run.status === 0, problems: `${run.stdout}${run.stderr}` }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
