// npm runs this after it has installed everything. It puts the Node that package-lock.json names on the path of the scripts:
// npm 11 does so itself, npm 10 removes the link again with those of the packages for other platforms, which have the same name.
// It fails if the scripts would have no Node that runs TypeScript.
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"

const nodeMajor = 24
const link = join("node_modules", ".bin", "node")

const { optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"))
const installed = Object.keys(optionalDependencies)
  .map((name) => join(name, "bin", "node"))
  .find((program) => existsSync(join("node_modules", program)))

// Where there are no symbolic links (Windows), npm 11 or a Node of that version is needed.
if (installed !== undefined && !existsSync(link)) symlinkSync(join("..", installed), link)

if (!existsSync(link) && Number.parseInt(process.versions.node, 10) < nodeMajor) {
  console.error(
    `Usher needs Node ${nodeMajor} or newer, and npm has installed none for ${process.platform} ${process.arch}. ` +
      `Run npm ci again; if that does not help, install Node ${nodeMajor} and try again.`
  )
  process.exit(1)
}
