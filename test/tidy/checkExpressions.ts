/** `npm run check:expressions`: exits with 0 only if every regular expression in `src` takes linear time. */
import { slowExpressions } from "./rules/expressions.ts"
import { readTree, typescriptIn } from "./rules/Tree.ts"

const findings = slowExpressions(typescriptIn(readTree(), "src/"))
for (const { path, line, problem, fix } of findings) process.stdout.write(`${path}:${line}  ${problem}. ${fix}\n`)
process.exitCode = findings.length === 0 ? 0 : 1
