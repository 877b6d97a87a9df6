/**
 * R13: Redis is flushed, suspended and killed while two servers share their limits through it.
 *
 *     npm run prove -- redis-loss --rounds 20 --seed 1
 */
import { canStart } from "../http/limits/redisFixture.ts"
import { entriesPerSecond, redisLossProof } from "../e2e/proofs/RedisLossProof.ts"
import { conclude, options } from "./Report.ts"

const { rounds, seed } = options({ rounds: 20, seed: 1 })
if (!canStart) throw new Error("this needs a redis-server on the path")

const figures = await redisLossProof({ rounds, seed })
const { shared, alone, mostOfOne } = figures

conclude(
  "losing Redis harms no result",
  {
    "losses of Redis": figures.losses,
    "entries accepted / refused": `${figures.entries} / ${figures.refused}`,
    "accepted a second, sharing": `${shared.least} to ${shared.most} in ${shared.seconds} s, of ${entriesPerSecond}`,
    "accepted a second, each alone": `${alone.least} to ${alone.most} in ${alone.seconds} s, of ${2 * entriesPerSecond}`,
    "most of one server in a second": mostOfOne,
    "acknowledged writes": figures.acknowledged,
    "lost writes": figures.lost
  },
  figures.violations,
  figures.lost === 0 &&
    mostOfOne <= entriesPerSecond &&
    shared.most <= entriesPerSecond &&
    alone.most > entriesPerSecond
)
