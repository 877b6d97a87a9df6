/**
 * R33: no unit of a stock is lost, doubled or sold twice, whenever a process is killed.
 *
 * Kills one server, and then one of three nodes, `kills` times each, and lets a server kill itself between the two events
 * of a transfer, half as often. With `drops` it also plays so many seeded drops in memory, with kills between all steps.
 *
 *     npm run prove -- stock --kills 100 --drops 10000 --seed 1
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { stockProof, transferSteps } from "../e2e/proofs/StockProof.ts"
import { conclude, options } from "./Report.ts"

const { kills, nodes, drops, seed } = options({ kills: 100, nodes: 3, drops: 10_000, seed: 1 })

const where = [
  { count: 1, title: "one process", kills },
  { count: nodes, title: `${nodes} nodes`, kills },
  { count: 1, title: "one process, killed within transfers", kills: Math.ceil(kills / 2), steps: transferSteps }
]

for (const { count, title, ...round } of where) {
  const figures = await stockProof({
    ...round,
    seed,
    nodes: count,
    onRound: (kill, { onHand, ordered, underway, violations }) =>
      console.log(`kill ${kill}: ${ordered} of ${onHand} sold, ${underway} under way, ${violations.length} violations`)
  })
  const { orders, cancelled, refused, corrections, unanswered } = figures.done
  conclude(
    `every unit is in one place, and none is sold twice, on ${title}`,
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
    figures.kills === round.kills && orders > round.kills
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
