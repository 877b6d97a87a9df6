/**
 * Measures the cost of a position in the queue itself, without HTTP. Fills a queue with each given number of consumers,
 * removes a tenth of them, and reads views at random. Prints JSON.
 */
import { deciders } from "../../src/domain/mechanism/Mechanism.ts"
import { median } from "../report/Figures.ts"
import { consumerId } from "../setup/Tokens.ts"

const views = 200_000
const repetitions = 5
const queue = deciders.queue

function measure(waiting: number) {
  const at = Date.now()
  const consumerIds = Array.from({ length: waiting }, consumerId)
  const state = queue.initial()
  queue.evolve(state, {
    _tag: "Configured",
    at,
    by: "bench",
    configuration: {
      name: "bench",
      timeZone: "UTC",
      supportsGuest: true,
      admitRate: 0,
      recycleExpiredAdmissions: false,
      loyaltyBiasEnabled: false,
      loyaltyHeadStartSeconds: 60
    }
  })
  for (const id of consumerIds) queue.evolve(state, { _tag: "Entered", at, consumerId: id })
  for (let index = 0; index < waiting; index += 10) {
    queue.evolve(state, { _tag: "Left", at, consumerId: consumerIds[index]! })
  }
  const sampled = Array.from({ length: views }, () => consumerIds[Math.floor(Math.random() * waiting)]!)
  const spans = Array.from({ length: repetitions }, () => {
    let positions = 0
    const from = performance.now()
    for (const id of sampled) {
      const view = queue.view(state, id, at)
      if (view.status === "QUEUED") positions += view.position ?? 0
    }
    const microseconds = ((performance.now() - from) * 1000) / views
    if (positions === 0) throw new Error("No consumer has a position")
    return microseconds
  })
  return { waiting, microsecondsPerPosition: median(spans) }
}

console.log(JSON.stringify(process.argv.slice(2).map((length) => measure(Number(length)))))
