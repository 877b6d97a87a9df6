/** `npm run docs:settings`: writes the table of settings into `src/settings/README.md`. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { markdownTable } from "../../src/settings/Settings.ts"
import { withSettingsTable } from "./rules/documents.ts"
import { root } from "./rules/Tree.ts"

const path = join(root, "src/settings/README.md")
writeFileSync(path, withSettingsTable(readFileSync(path, "utf8"), markdownTable()))
