// Names the tests that failed, from Vitest's JSON reports, prints the last line of .ci/run, and ends with 0 if nothing failed:
//
//     node .ci/count.mjs CHECK_FAILED FOLDER RUN...
//
// FOLDER holds RUN.json, a report, and RUN.status, the run's exit code. A check that failed, a test file that could not be
// loaded or did not end, and a run that ended early each count as one failure. So does a skipped test, unless its title gives
// one of these reasons: npm brings neither a redis-server nor a proxy nor an earlier Postgres, and only root can run a
// server under another account.
import { readFileSync } from "node:fs"
import { join } from "node:path"

const [checkFailed, folder, ...runs] = process.argv.slice(2)

const read = (name) => {
  try {
    return readFileSync(join(folder, name), "utf8").trim()
  } catch {
    return undefined
  }
}

const files = runs.flatMap((run) => JSON.parse(read(`${run}.json`) || '{"testResults":[]}').testResults)
const tests = files.flatMap((file) => file.assertionResults)
const outcomes = tests.map((test) => test.status)
const reasons = ["no redis-server on the path", "no proxy on the path", "not root", "no earlier Postgres"]
const isUnexpectedlySkipped = ({ status, fullName }) =>
  status !== "passed" && status !== "failed" && !reasons.some((reason) => fullName.includes(`[skipped: ${reason}]`))
const count = (...statuses) => outcomes.filter((status) => statuses.includes(status)).length

const failures = [
  [checkFailed === "1" ? 1 : 0, "npm run check failed"],
  [
    files.filter((file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"))
      .length,
    "test files failed outside their tests"
  ],
  [count("failed"), "tests failed"],
  [tests.filter(isUnexpectedlySkipped).length, "tests were skipped that must run"]
]
if (failures[1][0] + failures[2][0] === 0) {
  for (const run of runs) {
    const status = read(`${run}.status`)
    if (status !== "0") failures.push([1, `npm run ${run} ended with code ${status}`])
  }
}

const passed = count("passed")
const failed = failures.reduce((sum, [number]) => sum + number, 0)
const skipped = outcomes.length - passed - count("failed")

for (const { status, fullName, failureMessages } of tests) {
  if (status === "failed") console.log(`failed: ${fullName}\n    ${failureMessages.join("\n").slice(0, 600)}`)
}
for (const { status, fullName } of tests) if (status === "pending") console.log(`did not end: ${fullName}`)
for (const [number, what] of failures) if (number > 0) console.log(`${number}: ${what}`)
if (passed === 0 && failed === 0) console.log("No test ran.")
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
