/**
 * Finds a Chromium and starts it: the one that `CHROMIUM_PATH` names, else on linux-x64 the one in the package
 * `@sparticuz/chromium`, else one of the system. The package has the same browser on every machine, without its windows,
 * which take much of the processor. It is unpacked once, with the libraries and the font that it needs, so it runs on a
 * machine without either, and without a network.
 */
import { type Browser, chromium } from "playwright-core"
import { constants, createReadStream, createWriteStream, existsSync } from "node:fs"
import { access, chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { createBrotliDecompress } from "node:zlib"
import { extract } from "tar-stream"

/** A Chromium, and the environment that it needs. */
interface Found {
  readonly executablePath: string
  readonly env?: Readonly<Record<string, string>>
}

const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url))
const packaged = join(modules, "@sparticuz/chromium")

/** Names of the system's browsers on the path. */
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
const macOs = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

/** Returns a Chromium; undefined if this machine has none. */
export const find = async (): Promise<Found | undefined> => {
  const named = process.env["CHROMIUM_PATH"]
  if (named !== undefined && named !== "") return { executablePath: named }
  if (process.platform === "linux" && process.arch === "x64" && existsSync(packaged)) return unpacked()
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  for (const path of [...folders.flatMap((folder) => names.map((name) => join(folder, name))), macOs]) {
    if (await isExecutable(path)) return { executablePath: path }
  }
  return undefined
}

/** Starts the browser. Only without a sandbox does it run as root, and where the system refuses user namespaces. */
export const launch = async ({ executablePath, env = {} }: Found): Promise<Browser> => {
  const start = (chromiumSandbox: boolean) =>
    chromium.launch({ executablePath, chromiumSandbox, env: { ...process.env, ...env } })
  if (process.getuid?.() === 0) return start(false)
  return start(true).catch(() => start(false))
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false
  )

/** Unpacks the package into a folder that a later run finds. Two runs at once do not disturb each other. */
const unpacked = async (): Promise<Found> => {
  const { version } = JSON.parse(await readFile(join(packaged, "package.json"), "utf8")) as { readonly version: string }
  const folder = join(modules, ".cache", `chromium-${version}`)
  const found = {
    executablePath: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") }
  }
  if (existsSync(folder)) return found
  const own = `${folder}-${process.pid}`
  await mkdir(own, { recursive: true })
  await Promise.all(["al2023.tar.br", "fonts.tar.br"].map((name) => unpack(join(packaged, "bin", name), own)))
  const binary = join(own, "chromium")
  await pipeline(
    createReadStream(join(packaged, "bin/chromium.br")),
    createBrotliDecompress(),
    createWriteStream(binary)
  )
  await chmod(binary, 0o755)
  // Without a font Chromium ends as soon as it draws a field.
  await writeFile(join(own, "fonts.conf"), fontsConf(folder))
  await rename(own, folder).catch(() => rm(own, { recursive: true, force: true }))
  return found
}

const unpack = async (archive: string, folder: string): Promise<void> => {
  const entries = extract()
  const reading = pipeline(createReadStream(archive), createBrotliDecompress(), entries)
  for await (const entry of entries) {
    if (entry.header.type === "file") {
      const path = join(folder, entry.header.name)
      await mkdir(dirname(path), { recursive: true })
      await pipeline(entry, createWriteStream(path))
    } else entry.resume()
  }
  await reading
}

/** The fonts of the package, and those of the system, which know more scripts. */
const fontsConf = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, "fonts")}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(folder, "fontcache")}</cachedir>
</fontconfig>
`
