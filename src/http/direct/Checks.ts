/** The checks of a schema, for compiled codecs. */
import type { SchemaAST } from "effect"

/** Returns the function that runs all checks of the schema on a value; undefined if it has none. */
export function checksOf(ast: SchemaAST.AST): ((value: unknown) => boolean) | undefined {
  if (ast.checks === undefined) return undefined
  const filters = ast.checks.flatMap(filtersOf)
  return (value) => {
    for (const { run } of filters) if (run(value, ast, noOptions) !== undefined) return false
    return true
  }
}

const noOptions = {}

const filtersOf = (check: SchemaAST.Check<unknown>): ReadonlyArray<SchemaAST.Filter<unknown>> =>
  check._tag === "Filter" ? [check] : check.checks.flatMap(filtersOf)
