/** Writes the vectors that every gate passes: `node test/client/gates/writeVectors.ts`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { vectorFile } from "./vectorFile.ts"

writeFileSync(join(import.meta.dirname, "../../../src/gates/vectors.json"), vectorFile)
