// Ends with 0 if node_modules holds what package-lock.json names, and nothing else. npm writes what it installed beside it.
import { readFileSync } from "node:fs"

const packagesIn = (path) => JSON.parse(readFileSync(path, "utf8")).packages
const { "": _project, ...locked } = packagesIn("package-lock.json")
const installed = packagesIn("node_modules/.package-lock.json")

const isSame = (folder) => locked[folder]?.version === installed[folder]?.version
const isElsewhere = (folder) => locked[folder]?.optional === true && installed[folder] === undefined
const folders = [...Object.keys(locked), ...Object.keys(installed)]

process.exit(folders.every((folder) => isSame(folder) || isElsewhere(folder)) ? 0 : 1)
