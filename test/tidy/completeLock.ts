/**
 * `npm run lock`: completes package-lock.json after a dependency has changed, so that `npm ci` accepts it everywhere.
 *
 * A native tool names one optional package for each platform. A registry that mirrors only some platforms answers 404
 * for the others; `npm install` then leaves them out of the lock without a word, and `npm ci` refuses that lock. Their
 * entries are written here from what their parents say: the exact version, and the platform that the name spells.
 * A package for another platform is never downloaded. Registry hosts are taken out, so that any mirror serves.
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

/** The platform in a name such as `@oxfmt/binding-linux-arm64-musl`; throws on a name that spells none. */
function platformOf(name: string): LockedPackage {
  const platform = /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(-.+)?$/
  const [, os, cpu, variant = ""] = platform.exec(name) ?? []
  if (os === undefined) throw new Error(`${name} names no platform: write its entry in package-lock.json by hand`)
  const libc = variant.includes("musl") ? ["musl"] : os === "linux" && variant.includes("gnu") ? ["glibc"] : undefined
  return { cpu: [cpu], os: [os], ...(libc === undefined ? {} : { libc }) }
}

/** What npm has to know of Node's own packages to put `node` on the path of the scripts. */
function programOf(name: string): { readonly bin?: object } {
  return /^node-(bin-)?(darwin|linux)-/.test(name) ? { bin: { node: "bin/node" } } : {}
}
