/**
 * R33: no unit of a stock is lost, doubled or sold twice, whenever a process is killed.
 *
 * Kills one server, and then one of three nodes, `kills` times each. With `drops` it also plays so many seeded drops in
 * memory, with kills between all steps.
 *
 *     npm run prove -- stock --kills 100 --drops 10000 --seed 1
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { stockProof } from "../e2e/proofs/StockProof.ts"
import { conclude, options } from "./Report.ts"

const { kills, nodes, drops, seed } = options({ kills: 100, nodes: 3, drops: 10_000, seed: 1 })

for (const count of new Set([1, nodes])) {
  const figures = await stockProof({
    kills,
    seed,
    nodes: count,
    onRound: (kill, { onHand, ordered, underway, violations }) =>
      console.log(`kill ${kill}: ${ordered} of ${onHand} sold, ${underway} under way, ${violations.length} violations`)
  })
  const { orders, cancelled, refused, corrections, unanswered } = figures.done
  conclude(
    `every unit is in one place, and none is sold twice, on ${count === 1 ? "one process" : `${count} nodes`}`,
    {
      kills: figures.kills,
      "of them with units under way": figures.killsUnderway,
      "orders written": orders,
      "orders cancelled": cancelled,
      "corrections by staff": corrections,
      "refused for want of units": refused,
      "requests without an answer": unanswered
    },
    figures.violations,
    figures.kills === kills && orders > kills
  )
}

if (drops > 0) {
  const vitest = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs")
  const test = "test/domain/stock/Drops.test.ts"
  const { status } = spawnSync(process.execPath, [vitest, "run", "--config", "test/vitest.config.ts", test], {
    stdio: "inherit",
    env: { ...process.env, STOCK_DROPS: `${drops}` }
  })
  if (status !== 0) process.exitCode = 1
}
