/** The condition that a row belongs to a tenant stands in one file. */
import type { Finding } from "./Finding.ts"
import { lineAt, type TextFile } from "./Tree.ts"

const tenancy = "src/store/records/Tenancy.ts"

/** Conditions on the organization of a row outside of `Tenancy.ts`. Migrations keep the text that they ran with. */
export function scatteredTenancy(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return files
    .filter(({ path }) => path !== tenancy && !path.startsWith("src/store/postgres/migrations/"))
    .flatMap((file) =>
      [...file.text.matchAll(/organization_id\s*=(?!=)/g)].map(({ index }) => ({
        path: file.path,
        line: lineAt(file, index),
        problem: "writes a condition on the tenant",
        fix: `Use a helper of ${tenancy}.`
      }))
    )
}
