/**
 * S2: the contract holds under fuzzing. Every operation of both APIs receives requests derived from its declaration:
 * valid ones, ones with one broken constraint, and damaged ones.
 *
 *     npm run prove -- contract --requests 200 --seed 1
 */
import { Effect, Logger } from "effect"
import { proofs, services } from "../http/contract/contractProof.ts"
import { conclude, options } from "./Report.ts"

const { requests, seed } = options({ requests: 200, seed: 1 })
const { figures, operations } = proofs({ requests, seed })
const startedAt = performance.now()

const everything = Effect.forEach(operations, ({ name, prove }) =>
  Effect.gen(function* () {
    const before = figures.violations.length
    yield* prove
    console.log(`${name}: ${figures.violations.length - before} violations`)
  })
)
await Effect.runPromise(everything.pipe(Effect.provide(services), Effect.provide(Logger.layer([]))))

conclude(
  "the contract holds under fuzzing",
  {
    seed,
    operations: operations.length,
    "valid requests": `${figures.count("valid")} (${figures.statuses("valid")})`,
    "invalid requests": `${figures.count("invalid")} (${figures.statuses("invalid")})`,
    "mutated requests": `${figures.count("mutated")} (${figures.statuses("mutated")})`,
    "operations without input": figures.unbreakable.size,
    seconds: Math.round((performance.now() - startedAt) / 1_000)
  },
  figures.violations,
  figures.count("valid") === operations.length * requests && figures.count("mutated") === operations.length * requests
)
