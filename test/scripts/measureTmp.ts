import { Stage } from "../e2e/proofs/RehearsalProof.ts"
const people = Number(process.argv[2] ?? 60)
const prof = process.argv[3] !== undefined
await using stage = await Stage.make(prof ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof/server" } : {})
const begun = performance.now()
const report = await stage.rehearse(people, 7, prof ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof/client" } : {})
console.log((performance.now() - begun) / 1000, "s", report.seconds)
console.log(JSON.stringify(report, undefined, 1))
if (prof) await stage.server.terminate()
