/**
 * `npm run lock`: completes package-lock.json after a dependency has changed, so that `npm ci` accepts it everywhere.
 *
 * A native tool names one optional package for each platform. A registry that mirrors only some platforms answers 404
 * for the others. `npm install` then silently omits them from the lock, and `npm ci` refuses that lock. This script
 * writes their entries from their parents: the exact version, and the platform in the name. It never downloads a
 * package for another platform. It removes registry hosts, so that any mirror works.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Lock, type LockedPackage, missingOptional } from "./rules/dependencies.ts"
import { root } from "./rules/Tree.ts"

const path = join(root, "package-lock.json")
const lock: Lock = JSON.parse(readFileSync(path, "utf8"))

const kept = Object.entries(lock.packages).map(([folder, locked]): [string, LockedPackage] => {
  const { resolved, ...rest } = locked
  return [folder, resolved?.includes("://") === true ? rest : locked]
})
const added = missingOptional(lock).map(({ name, version, parent }): [string, LockedPackage] => [
  `node_modules/${name}`,
  { version, ...platformOf(name), ...(parent.dev === true ? { dev: true } : {}), optional: true, ...programOf(name) }
])
const packages = Object.fromEntries([...kept, ...added].toSorted(([a], [b]) => a.localeCompare(b, "en")))

writeFileSync(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
process.stdout.write(`package-lock.json is complete: ${added.length} added.\n`)

/** Returns the platform in a name such as `@oxfmt/binding-linux-arm64-musl`. Throws if the name contains none. */
function platformOf(name: string): LockedPackage {
  const platform = /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(-.+)?$/
  const [, os, cpu, variant = ""] = platform.exec(name) ?? []
  if (os === undefined) throw new Error(`${name} names no platform: write its entry in package-lock.json by hand`)
  const libc = variant.includes("musl") ? ["musl"] : os === "linux" && variant.includes("gnu") ? ["glibc"] : undefined
  return { cpu: [cpu], os: [os], ...(libc === undefined ? {} : { libc }) }
}

/** Returns the `bin` entry of Node's own packages, which npm needs to put `node` on the path of the scripts. */
function programOf(name: string): { readonly bin?: object } {
  return /^node-(bin-)?(darwin|linux)-/.test(name) ? { bin: { node: "bin/node" } } : {}
}
