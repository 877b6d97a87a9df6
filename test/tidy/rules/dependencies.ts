/** Installations are identical everywhere, from any registry. */
import type { Finding } from "./Finding.ts"

/** The parts of package.json that define what is installed. */
export interface Manifest {
  readonly dependencies: { readonly [name: string]: string }
  readonly devDependencies: { readonly [name: string]: string }
  readonly optionalDependencies: { readonly [name: string]: string }
  readonly allowScripts: { readonly [name: string]: boolean }
}

export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: { readonly [name: string]: string }
  readonly [field: string]: unknown
}

/** package-lock.json: each installed package by its folder. */
export interface Lock {
  readonly packages: { readonly [folder: string]: LockedPackage }
}

/** Finds versions in package.json that are not exact. */
export function looseVersions(manifest: Manifest): ReadonlyArray<Finding> {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  return versions
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    .map(([name, version]) => inManifest(`${name} is "${version}"`, "Write the one exact version."))
}

/**
 * Finds install scripts in the lock that package.json does not allow by name. A strict npm would refuse to install
 * them.
 */
export function unapprovedScripts(manifest: Manifest, lock: Lock): ReadonlyArray<Finding> {
  return Object.entries(lock.packages)
    .filter(
      ([folder, locked]) =>
        folder !== "" && locked.hasInstallScript === true && manifest.allowScripts[nameOf(folder)] !== true
    )
    .map(([folder]) => inManifest(`${nameOf(folder)} has an install script`, "Allow it by name in allowScripts."))
}

/** Finds packages in the lock that name a registry's host. */
export function namedHosts(lock: Lock): ReadonlyArray<Finding> {
  return Object.entries(lock.packages)
    .filter(([, locked]) => locked.resolved?.includes("://") === true)
    .map(([folder]) => inLock(`${folder} names the host it came from`))
}

/** Finds optional packages that the lock names and does not contain. `npm ci` would refuse the lock. */
export function missingOptional(lock: Lock) {
  return Object.entries(lock.packages).flatMap(([folder, locked]) =>
    Object.entries(locked.optionalDependencies ?? {})
      .filter(([name]) => !holds(lock, folder, name))
      .map(([name, version]) => ({ name, version, parent: locked }))
  )
}

/** Returns {@link missingOptional} as findings. */
export function incompleteLock(lock: Lock): ReadonlyArray<Finding> {
  return missingOptional(lock).map(({ name }) => inLock(`${name} is missing`))
}

/** True if the lock contains the package where Node would look for it, starting inside the folder. */
function holds(lock: Lock, folder: string, name: string): boolean {
  if (lock.packages[folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`] !== undefined)
    return true
  return folder !== "" && holds(lock, folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/"))), name)
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)
}

function inManifest(problem: string, fix: string): Finding {
  return { path: "package.json", line: 1, problem, fix }
}

function inLock(problem: string): Finding {
  return { path: "package-lock.json", line: 1, problem, fix: "Run npm run lock." }
}
